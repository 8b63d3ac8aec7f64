//! Lines on their way to the writer, bounded in number and size.

use std::collections::VecDeque;
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
    /// Of the lines above, and of those that the writer has not got rid of.
    bytes: usize,
    /// How many lines the writer has taken, and not got rid of.
    taken: u64,
    closed: bool,
    reopen: bool,
    finished: bool,
}

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

    /// Takes a line in, unless the queue is full or closed, or there is no writer any more.
    pub(crate) fn push(&self, mut line: Vec<u8>) -> bool {
        line.push(b'\n');
        let mut state = self.lock();
        let bytes = state.bytes.saturating_add(line.len());
        if state.closed
            || state.finished
            || state.lines.len() >= self.limits.lines
            || bytes > self.limits.bytes
        {
            return false;
        }
        state.bytes = bytes;
        state.lines.push_back(line);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Waits for something to do: lines of about the given size at most.
    pub(crate) fn work(&self, size: usize) -> Work {
        let idle = |state: &mut State| state.lines.is_empty() && !state.closed && !state.reopen;
        let mut state = self
            .changed
            .wait_while(self.lock(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        let mut text = Vec::new();
        while text.len() < size
            && let Some(line) = state.lines.pop_front()
        {
            text.extend_from_slice(&line);
            state.taken += 1;
        }
        Work {
            text,
            reopen: std::mem::take(&mut state.reopen),
            closed: state.closed,
        }
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
