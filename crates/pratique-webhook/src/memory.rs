//! What calls of webhooks hold in memory: reviews on their way, answers, what is made of them.
//!
//! The reference bounds none of it. Here it is part of what the request may hold, as what expressions hold is, and past
//! that the request is refused whatever failure policies say: a webhook that answers too much must not let it in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pratique_cel::{HeldMemory, MemoryLimit, OutOfMemory};
use pratique_json::Counts;

use crate::caller::{CallError, CallErrorKind};

/// What the calls of a phase hold together. A copy is the same.
#[derive(Clone, Debug)]
pub(crate) struct PhaseMemory(Arc<Mutex<HeldMemory>>);

/// What one call holds, or what is made of its answer: given back when dropped.
#[derive(Debug)]
pub struct CallMemory {
    phase: PhaseMemory,
    bytes: AtomicUsize,
}

impl PhaseMemory {
    /// For one phase of a request.
    pub(crate) fn new(limit: &MemoryLimit) -> Self {
        PhaseMemory(Arc::new(Mutex::new(HeldMemory::new(limit))))
    }

    /// A part of it, of nothing yet.
    pub(crate) fn part(&self) -> CallMemory {
        CallMemory {
            phase: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HeldMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallMemory {
    /// For a call apart from others.
    pub fn new(limit: &MemoryLimit) -> Self {
        PhaseMemory::new(limit).part()
    }

    /// Holds so many bytes more: those of an answer that is read, for as long as the call takes.
    ///
    /// # Errors
    /// There is no memory for them. A [`Caller`](crate::Caller) gives up and hands the error on.
    pub fn grow(&self, bytes: usize) -> Result<(), CallError> {
        self.hold(bytes).map_err(|error| CallError {
            message: format!("failed to call webhook: {error}"),
            kind: CallErrorKind::OutOfMemory(error),
        })
    }

    pub(crate) fn hold(&self, bytes: usize) -> Result<(), OutOfMemory> {
        self.phase.lock().grow(bytes)?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Holds at least so many bytes.
    pub(crate) fn hold_at_least(&self, bytes: usize) -> Result<(), OutOfMemory> {
        self.hold(bytes.saturating_sub(self.bytes()))
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Within the usual limit, and no budget that it shares: for calls apart from requests.
impl Default for CallMemory {
    fn default() -> Self {
        CallMemory::new(&MemoryLimit::default())
    }
}

impl Drop for CallMemory {
    fn drop(&mut self) {
        self.phase.lock().shrink(self.bytes());
    }
}

/// What reading an answer takes besides its bytes: its values, and copies of its texts.
pub(crate) fn of_answer(answer: &[u8]) -> usize {
    let counts = Counts::of(answer);
    counts.parsed_bytes().saturating_add(counts.bytes)
}

/// What reading a patch takes: its values as they are parsed and as operations, and what the audit log is told of it.
pub(crate) fn of_patch(patch: &[u8]) -> usize {
    let counts = Counts::of(patch);
    let values = counts.parsed_bytes().saturating_mul(2);
    values.saturating_add(counts.bytes.saturating_mul(3))
}
