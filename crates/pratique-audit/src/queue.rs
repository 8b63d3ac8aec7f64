//! The queue of lines for the writer, bounded in number and size. Lines that are being serialised count as well.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The bounds of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct LineQueue {
    limits: QueueLimits,
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    lines: VecDeque<Vec<u8>>,
    /// The size of queued lines, lines that are being serialised, and lines that the writer has taken.
    bytes: usize,
    /// The number of lines that the writer has taken and not released.
    taken: u64,
    closed: bool,
    reopen: bool,
    finished: bool,
}

/// A line that is being serialised. It reserves space in the queue as it grows, and releases it when dropped.
#[derive(Debug)]
pub(crate) struct PendingLine<'q> {
    queue: &'q LineQueue,
    text: Vec<u8>,
    reserved: usize,
}

/// The minimum reservation of a line, in bytes.
const MIN_RESERVATION: usize = 1 << 10;

/// The next work of the writer.
#[derive(Debug)]
pub(crate) struct WriterBatch {
    /// Complete lines with line feeds; may be empty.
    pub(crate) text: Vec<u8>,
    /// Whether to reopen the file first.
    pub(crate) reopen: bool,
    /// Whether the queue is closed.
    pub(crate) closed: bool,
}

impl LineQueue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        LineQueue {
            limits,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The maximum size of all lines, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.limits.bytes
    }

    /// An empty line.
    pub(crate) fn line(&self) -> PendingLine<'_> {
        PendingLine {
            queue: self,
            text: Vec::new(),
            reserved: 0,
        }
    }

    /// Reserves bytes, unless the queue is full or closed, or the writer has finished.
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

    /// Waits for a batch of at most about `size` bytes, or another request.
    pub(crate) fn next_batch(&self, size: usize) -> WriterBatch {
        let idle = |state: &mut QueueState| state.lines.is_empty() && !state.closed && !state.reopen;
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
        // Lines are concatenated without the lock. A long line is alone, and not copied.
        drop(state);
        let text = match lines.len() {
            1 => lines.pop().unwrap_or_default(),
            _ => lines.concat(),
        };
        WriterBatch { text, reopen, closed }
    }

    /// Releases the bytes of lines that are written or dropped.
    pub(crate) fn release(&self, bytes: usize) {
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.taken = 0;
    }

    /// Waits until the timeout or until the queue is closed. Returns whether it is closed.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let open = |state: &mut QueueState| !state.closed;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, open)
            .unwrap_or_else(PoisonError::into_inner);
        state.closed
    }

    /// Requests the writer to reopen the file.
    pub(crate) fn reopen(&self) {
        self.lock().reopen = true;
        self.changed.notify_all();
    }

    /// Closes the queue for further lines.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Closes and clears the queue. Returns the number of dropped lines.
    pub(crate) fn abandon(&self) -> usize {
        let mut state = self.lock();
        state.closed = true;
        std::mem::take(&mut state.lines).len()
    }

    /// Marks the writer as finished. Returns the number of lines that a writer that panicked left.
    pub(crate) fn finish(&self) -> u64 {
        let mut state = self.lock();
        state.finished = true;
        let left = std::mem::take(&mut state.lines).len() as u64 + std::mem::take(&mut state.taken);
        drop(state);
        self.changed.notify_all();
        left
    }

    /// Whether the writer finished although the queue was not closed.
    pub(crate) fn is_abandoned(&self) -> bool {
        let state = self.lock();
        state.finished && !state.closed
    }

    /// Waits until the writer has finished or `until`. Returns the number of lines that are left.
    pub(crate) fn wait(&self, until: Instant) -> usize {
        let time = until.saturating_duration_since(Instant::now());
        let busy = |state: &mut QueueState| !state.finished;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, busy)
            .unwrap_or_else(PoisonError::into_inner);
        state.lines.len()
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingLine<'_> {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Queues the line. Returns whether there was space for it.
    pub(crate) fn push(mut self) -> bool {
        if io::Write::write(&mut self, b"\n").is_err() {
            return false;
        }
        let mut text = std::mem::take(&mut self.text);
        if text.capacity() - text.len() > MIN_RESERVATION {
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

    /// Extends the reservation to `length` bytes: doubles it, to reserve rarely, or takes just the length.
    fn reserve(&mut self, length: usize) -> bool {
        let Some(missing) = length.checked_sub(self.reserved).filter(|missing| *missing > 0) else {
            return true;
        };
        let doubled = missing.max(self.reserved).max(MIN_RESERVATION);
        let reserved = [doubled, missing]
            .into_iter()
            .find(|bytes| self.queue.reserve(*bytes));
        let Some(reserved) = reserved else {
            return false;
        };
        self.reserved += reserved;
        self.text.reserve_exact(self.reserved - self.text.len());
        true
    }
}

impl io::Write for PendingLine<'_> {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.reserve(self.text.len().saturating_add(more.len())) {
            self.text.write(more)
        } else {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PendingLine<'_> {
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

    fn line<'q>(queue: &'q LineQueue, length: usize) -> Option<PendingLine<'q>> {
        let mut line = queue.line();
        line.write_all(&vec![b'x'; length]).is_ok().then_some(line)
    }

    #[test]
    fn lines_that_are_being_serialised_count() {
        let queue = LineQueue::new(QueueLimits {
            lines: 10,
            bytes: 10_000,
        });
        let first = line(&queue, 6_000).unwrap();
        assert!(line(&queue, 6_000).is_none(), "it is not completed");
        let second = line(&queue, 3_000).unwrap();
        assert!(second.push());
        drop(first);
        let third = line(&queue, 6_000).unwrap();
        assert!(third.push());
        assert!(line(&queue, 1_000).is_none());
        let batch = queue.next_batch(1 << 20);
        assert_eq!(batch.text.len(), 9_002);
        queue.release(batch.text.len());
        assert_eq!(queue.lock().bytes, 0, "everything is released");
        let mut long = line(&queue, 9_999).unwrap();
        assert!(long.write_all(b"x").is_ok() && !long.push(), "with its line feed");
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn a_long_line_is_written_alone() {
        let queue = LineQueue::new(QueueLimits {
            lines: 10,
            bytes: 1 << 20,
        });
        for length in [10, 20, 5_000, 30] {
            assert!(line(&queue, length).unwrap().push());
        }
        let taken: Vec<usize> = (0..3).map(|_| queue.next_batch(100).text.len()).collect();
        assert_eq!(taken, [32, 5_001, 31]);
    }
}
