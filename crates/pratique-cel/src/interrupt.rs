//! Interruption of evaluations by their callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Stops evaluations at a deadline, or when another thread [sets](Self::set) it.
///
/// Clones share a flag: setting one sets all. Evaluations with an interrupt that is set end as
/// [`Stop::Interrupted`](crate::Stop::Interrupted) within a few milliseconds.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use pratique_cel::Interrupt;
///
/// let interrupt = Interrupt::new().with_deadline(Instant::now() + Duration::from_secs(10));
/// let other = interrupt.clone();
/// assert!(!interrupt.is_set());
/// std::thread::spawn(move || other.set()).join().map_err(|_| "a panic")?;
/// assert!(interrupt.is_set());
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
}

impl Interrupt {
    /// An interrupt that can be [set](Self::set).
    pub fn new() -> Self {
        Interrupt {
            flag: Some(Arc::default()),
            deadline: None,
        }
    }

    /// An interrupt that is never set; the default.
    pub const fn never() -> Self {
        Interrupt {
            flag: None,
            deadline: None,
        }
    }

    /// An interrupt that is set from a deadline on. [`set`](Self::set) has no effect on it.
    pub const fn at(deadline: Instant) -> Self {
        Interrupt {
            flag: None,
            deadline: Some(deadline),
        }
    }

    /// Adds a deadline. The earlier of two deadlines counts.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        let deadline = self
            .deadline
            .map_or(deadline, |existing_deadline| existing_deadline.min(deadline));
        Interrupt {
            deadline: Some(deadline),
            ..self
        }
    }

    /// The deadline from which on it is set.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Sets it and all its clones for good. Without effect on [`never`](Self::never) and [`at`](Self::at).
    pub fn set(&self) {
        if let Some(flag) = &self.flag {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is set or its deadline has passed. With a deadline this reads the clock.
    pub fn is_set(&self) -> bool {
        self.flag
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }
}

impl pratique_json::Interruption for Interrupt {
    fn is_set(&self) -> bool {
        Interrupt::is_set(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn copies_share_the_flag() {
        let interrupt = Interrupt::new();
        let copy = interrupt
            .clone()
            .with_deadline(Instant::now() + Duration::from_secs(3600));
        assert!(!interrupt.is_set() && !copy.is_set());
        copy.set();
        assert!(interrupt.is_set() && copy.is_set());
    }

    #[test]
    fn the_earlier_deadline_counts() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        assert!(!Interrupt::at(later).is_set());
        assert!(Interrupt::at(now).with_deadline(later).is_set());
        assert!(Interrupt::at(later).with_deadline(now).is_set());
        assert!(!Interrupt::never().is_set());
        Interrupt::at(later).set();
        assert!(!Interrupt::at(later).is_set());
    }
}
