//! The limits of a request.

use std::time::{Duration, Instant};

use pratique_policy::{Interrupt, MemoryLimit};

/// The bounds of the work for one request. The default adds none to those of the engines.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use pratique::policy::Interrupt;
/// use pratique::Limits;
///
/// // A deadline, or the time until it, is enough where nothing else can end the wait for an answer.
/// let limits = Limits::from(Instant::now() + Duration::from_secs(10));
/// assert!(!limits.interrupt.is_set());
/// assert!(Limits::from(Duration::ZERO).interrupt.is_set());
///
/// // An interrupt can also be set from elsewhere, for example when the client has gone.
/// let interrupt = Interrupt::new().with_deadline(Instant::now() + Duration::from_secs(10));
/// let limits = Limits::from(interrupt.clone());
/// interrupt.set();
/// assert!(limits.interrupt.is_set());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Ends all work once it is set, evaluations included. Where its deadline has passed, the request is answered as an
    /// API server's that timed out: 504. Otherwise it gets no answer: [`UnfinishedEvaluation::Interrupted`](crate::UnfinishedEvaluation).
    pub interrupt: Interrupt,
    /// The memory limit of expressions, for each phase and each thread that takes part in it, and of calls of webhooks
    /// (their reviews, answers and patches), for each phase. A request that needs more is refused whatever the failure
    /// policies: with 413 where it exceeds the limit of one request, with 429 where the budget that requests share is
    /// used up.
    pub memory: MemoryLimit,
}

impl Limits {
    /// Sets the limit of memory.
    pub fn with_memory(self, memory: MemoryLimit) -> Self {
        Limits { memory, ..self }
    }
}

impl From<Interrupt> for Limits {
    fn from(interrupt: Interrupt) -> Self {
        Limits {
            interrupt,
            memory: MemoryLimit::default(),
        }
    }
}

impl From<Instant> for Limits {
    fn from(deadline: Instant) -> Self {
        Interrupt::at(deadline).into()
    }
}

/// A deadline after this time from now on. One that no clock reaches is none.
impl From<Duration> for Limits {
    fn from(time: Duration) -> Self {
        Instant::now().checked_add(time).into()
    }
}

impl From<Option<Instant>> for Limits {
    fn from(deadline: Option<Instant>) -> Self {
        deadline.map_or_else(Interrupt::never, Interrupt::at).into()
    }
}
