//! The memory of calls of webhooks: of reviews, of answers, and of the values decoded from them.
//!
//! The reference has no bound on it. Here it counts towards the memory of the request, as that of expressions does. Past the
//! limit the request is refused whatever the failure policies: an answer that is too large must not allow a request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pratique_cel::{HeldMemory, MemoryLimit, OutOfMemory};
use pratique_json::Counts;

use crate::caller::{CallError, CallErrorKind};

/// The memory of the calls of a phase together. Copies share it.
#[derive(Clone, Debug)]
pub(crate) struct PhaseMemory(Arc<Mutex<HeldMemory>>);

/// The memory of one call, or of the values decoded from its answer: released when dropped.
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

    /// A part of it, still empty.
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
    /// The memory of a single call.
    pub fn new(limit: &MemoryLimit) -> Self {
        PhaseMemory::new(limit).part()
    }

    /// Reserves more bytes for the duration of the call, for an answer that is being read.
    ///
    /// # Errors
    /// There is no memory for them. A [`Caller`](crate::Caller) returns the error.
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

/// Memory within the default limit, and without a shared budget: for calls outside of requests.
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

/// The memory that decoding an answer takes besides its bytes: for its values, and copies of its strings.
pub(crate) fn of_answer(answer: &[u8]) -> usize {
    let counts = Counts::count(answer);
    counts.parsed_bytes().saturating_add(counts.bytes)
}

/// The memory that decoding a patch takes: for its parsed values, its operations, and its audit annotation.
pub(crate) fn of_patch(patch: &[u8]) -> usize {
    let counts = Counts::count(patch);
    let values = counts.parsed_bytes().saturating_mul(2);
    values.saturating_add(counts.bytes.saturating_mul(3))
}
