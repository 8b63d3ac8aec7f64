//! Lines on their way to the writer, bounded in number and size, those that are being made included.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Of the lines above, of those that are being made, and of those that the writer has not got rid of.
    bytes: usize,
    /// How many lines the writer has taken, and not got rid of.
    taken: u64,
    closed: bool,
    reopen: bool,
    finished: bool,
}

/// A line that is being made. It takes room in the queue as it grows, and gives that back if it is dropped.
#[derive(Debug)]
pub(crate) struct Line<'q> {
    queue: &'q Queue,
    text: Vec<u8>,
    reserved: usize,
}

/// The least that a line takes at once.
const LEAST: usize = 1 << 10;

/// What the writer is to do.
#[derive(Debug)]
pub(crate) struct Work {
    /// Whole lines, each with its line feed; empty if there are none.
    pub(crate) text: Vec<u8>,
    /// Begin a new file first.
    pub(crate) reopen: bool,
    /// Nothing more will come.
    pub(crate) closed: bool,
}

impl Queue {
    pub(crate) fn new(limits: Limits) -> Self {
        Queue {
            limits,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// How many bytes all lines may have.
    pub(crate) fn bytes(&self) -> usize {
        self.limits.bytes
    }

    /// A line of nothing yet.
    pub(crate) fn line(&self) -> Line<'_> {
        Line {
            queue: self,
            text: Vec::new(),
            reserved: 0,
        }
    }

    /// Makes room for so many bytes, unless the queue is full or closed, or there is no writer any more.
    fn reserve(&self, bytes: usize) -> bool {
        let mut state = self.lock();
        let sum = state.bytes.saturating_add(bytes);
        let is_full = state.lines.len() >= self.limits.lines || sum > self.limits.bytes;
        if state.closed || state.finished || is_full {
            return false;
        }
        state.bytes = sum;
        true
    }

    /// Waits for something to do: lines of about the given size at most.
    pub(crate) fn work(&self, size: usize) -> Work {
        let idle = |state: &mut State| state.lines.is_empty() && !state.closed && !state.reopen;
        let mut state = self
            .changed
            .wait_while(self.lock(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut lines, mut length) = (Vec::new(), 0);
        while let Some(line) = state
            .lines
            .pop_front_if(|line| length == 0 || length + line.len() <= size)
        {
            length += line.len();
            lines.push(line);
            state.taken += 1;
        }
        let (reopen, closed) = (std::mem::take(&mut state.reopen), state.closed);
        // Others record events meanwhile. A long line is alone, and not copied.
        drop(state);
        let text = match lines.len() {
            1 => lines.pop().unwrap_or_default(),
            _ => lines.concat(),
        };
        Work { text, reopen, closed }
    }

    /// The writer has got rid of so much.
    pub(crate) fn release(&self, bytes: usize) {
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.taken = 0;
    }

    /// Waits, but not after closing. Tells whether the queue is closed.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let open = |state: &mut State| !state.closed;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, open)
            .unwrap_or_else(PoisonError::into_inner);
        state.closed
    }

    /// The writer is to begin a new file.
    pub(crate) fn reopen(&self) {
        self.lock().reopen = true;
        self.changed.notify_all();
    }

    /// Takes nothing in any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Takes nothing in any more and forgets what is there. Tells how many lines that were.
    pub(crate) fn abandon(&self) -> usize {
        let mut state = self.lock();
        state.closed = true;
        std::mem::take(&mut state.lines).len()
    }

    /// The writer is done. Tells how many lines it left, which only one that panicked does.
    pub(crate) fn finish(&self) -> u64 {
        let mut state = self.lock();
        state.finished = true;
        let left = std::mem::take(&mut state.lines).len() as u64 + std::mem::take(&mut state.taken);
        drop(state);
        self.changed.notify_all();
        left
    }

    /// Whether the writer ended although the queue was not closed.
    pub(crate) fn is_abandoned(&self) -> bool {
        let state = self.lock();
        state.finished && !state.closed
    }

    /// Waits for the writer to be done, but no longer than until then. Tells how many lines it left if it is not.
    pub(crate) fn wait(&self, until: Instant) -> usize {
        let time = until.saturating_duration_since(Instant::now());
        let busy = |state: &mut State| !state.finished;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, busy)
            .unwrap_or_else(PoisonError::into_inner);
        state.lines.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line<'_> {
    /// Hands the line to the writer. Tells whether there was room for it.
    pub(crate) fn push(mut self) -> bool {
        if io::Write::write(&mut self, b"\n").is_err() {
            return false;
        }
        let mut text = std::mem::take(&mut self.text);
        if text.capacity() - text.len() > LEAST {
            text.shrink_to_fit();
        }
        let mut state = self.queue.lock();
        if state.closed || state.finished || state.lines.len() >= self.queue.limits.lines {
            return false;
        }
        let surplus = self.reserved.saturating_sub(text.len());
        self.reserved = 0;
        state.bytes = state.bytes.saturating_sub(surplus);
        state.lines.push_back(text);
        drop(state);
        self.queue.changed.notify_all();
        true
    }

    /// Sees to it that it may have so many bytes: twice as many as before, so that it is seldom asked, or just these.
    fn reserve(&mut self, length: usize) -> bool {
        let Some(missing) = length.checked_sub(self.reserved).filter(|missing| *missing > 0) else {
            return true;
        };
        let ample = missing.max(self.reserved).max(LEAST);
        let taken = [ample, missing]
            .into_iter()
            .find(|bytes| self.queue.reserve(*bytes));
        let Some(taken) = taken else {
            return false;
        };
        self.reserved += taken;
        self.text.reserve_exact(self.reserved - self.text.len());
        true
    }
}

impl io::Write for Line<'_> {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        match self.reserve(self.text.len().saturating_add(more.len())) {
            true => self.text.write(more),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if self.reserved > 0 {
            let mut state = self.queue.lock();
            state.bytes = state.bytes.saturating_sub(self.reserved);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn line<'q>(queue: &'q Queue, length: usize) -> Option<Line<'q>> {
        let mut line = queue.line();
        line.write_all(&vec![b'x'; length]).is_ok().then_some(line)
    }

    #[test]
    fn lines_that_are_being_made_take_room() {
        let queue = Queue::new(Limits {
            lines: 10,
            bytes: 10_000,
        });
        let first = line(&queue, 6_000).unwrap();
        assert!(line(&queue, 6_000).is_none(), "it is not made to its end");
        let second = line(&queue, 3_000).unwrap();
        assert!(second.push());
        drop(first);
        let third = line(&queue, 6_000).unwrap();
        assert!(third.push());
        assert!(line(&queue, 1_000).is_none());
        let work = queue.work(1 << 20);
        assert_eq!(work.text.len(), 9_002);
        queue.release(work.text.len());
        assert_eq!(queue.lock().bytes, 0, "all of it is given back");
        let mut long = line(&queue, 9_999).unwrap();
        assert!(long.write_all(b"x").is_ok() && !long.push(), "with its line feed");
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn a_long_line_is_written_alone() {
        let queue = Queue::new(Limits {
            lines: 10,
            bytes: 1 << 20,
        });
        for length in [10, 20, 5_000, 30] {
            assert!(line(&queue, length).unwrap().push());
        }
        let taken: Vec<usize> = (0..3).map(|_| queue.work(100).text.len()).collect();
        assert_eq!(taken, [32, 5_001, 31]);
    }
}
