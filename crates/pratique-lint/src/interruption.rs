//! What ends a run of lints before they are through.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says when lints are to end because something else is to be done first, as [`LintMemory`](crate::LintMemory) uses it. Of a policy
/// whose lints did not end by themselves, nothing is reported.
#[derive(Clone, Default)]
pub struct LintInterruption {
    is_due: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Whether something has ended early: it stays so, whatever is due later.
    has_come: Arc<AtomicBool>,
}

impl LintInterruption {
    /// An interruption as soon as a function says so. It is asked before each lint, and for each object that is tried.
    pub fn new(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        LintInterruption {
            is_due: Some(Arc::new(is_due)),
            has_come: Arc::default(),
        }
    }

    /// The same for another run.
    pub(crate) fn renewed(&self) -> Self {
        LintInterruption {
            is_due: self.is_due.clone(),
            has_come: Arc::default(),
        }
    }

    /// Whether to end.
    pub(crate) fn has_come(&self) -> bool {
        if !self.has_come.load(Ordering::Relaxed) && self.is_due.as_ref().is_some_and(|is_due| is_due()) {
            self.has_come.store(true, Ordering::Relaxed);
        }
        self.has_come.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for LintInterruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LintInterruption")
            .field("has_come", &self.has_come)
            .finish_non_exhaustive()
    }
}
