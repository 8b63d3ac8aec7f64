//! Long operations on documents, which a caller can interrupt.

use std::cell::Cell;
use std::fmt::{self, Debug, Formatter};

/// Whether the result of an operation is still wanted.
pub trait Interruption {
    /// Whether the operation is to stop. Once it was `true` it stays so.
    fn is_set(&self) -> bool;
}

impl<F: Fn() -> bool> Interruption for F {
    fn is_set(&self) -> bool {
        self()
    }
}

/// An operation was interrupted by its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// The progress of operations on documents: after some tenths of a millisecond of work it asks the caller whether to go on.
///
/// One can serve many operations in a row. Once it was stopped it stays so.
///
/// ```
/// use pratique_json::{Interrupted, Progress, parse};
///
/// let value = parse(br#"{"a":[1,2]}"#)?;
/// assert_eq!(value.try_borrowed(&Progress::unwatched()).as_ref(), Ok(&value));
///
/// let progress = Progress::new(&|| true);
/// assert!(!progress.units(1_000_000));
/// assert_eq!(value.try_borrowed(&progress), Err(Interrupted));
/// # Ok::<(), pratique_json::Error>(())
/// ```
pub struct Progress<'i> {
    interruption: Option<&'i dyn Interruption>,
    /// The units of work until the next look at the interruption.
    left: Cell<usize>,
    stopped: Cell<bool>,
}

/// The units of work between two looks at the interruption.
const BETWEEN_LOOKS: usize = 100_000;

/// What visiting a value of a document counts for, in units.
const NODE: usize = 32;

impl<'i> Progress<'i> {
    /// The progress of operations that stop once `interruption` is set.
    pub fn new(interruption: &'i dyn Interruption) -> Self {
        Progress {
            interruption: Some(interruption),
            left: Cell::new(BETWEEN_LOOKS),
            stopped: Cell::new(false),
        }
    }

    /// The progress of operations that are never interrupted.
    pub const fn unwatched() -> Self {
        Progress {
            interruption: None,
            left: Cell::new(usize::MAX),
            stopped: Cell::new(false),
        }
    }

    /// Counts work and returns whether to continue. A unit is about a nanosecond.
    ///
    /// An operation that is not to go on may give anything; [`outcome`](Self::outcome) returns that it did not finish.
    #[inline]
    pub fn units(&self, units: usize) -> bool {
        match self.left.get().checked_sub(units) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => self.look(),
        }
    }

    /// Counts visited values of a document, and returns whether to continue, as [`units`](Self::units).
    #[inline]
    pub fn nodes(&self, count: usize) -> bool {
        self.units(count.saturating_mul(NODE))
    }

    /// Whether all operations so far were finished.
    ///
    /// # Errors
    /// One was stopped.
    #[inline]
    pub fn outcome(&self) -> Result<(), Interrupted> {
        if self.stopped.get() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&self) -> bool {
        let stops = self.stopped.get() || self.interruption.is_some_and(Interruption::is_set);
        self.stopped.set(stops);
        // A stopped operation looks again each time, so that it ends soon.
        self.left.set(if stops { 0 } else { BETWEEN_LOOKS });
        !stops
    }
}

impl Debug for Progress<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Progress")
            .field("watched", &self.interruption.is_some())
            .field("stopped", &self.stopped.get())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Value, parse};

    #[test]
    fn the_caller_is_asked_now_and_then() {
        let asked = Cell::new(0);
        let interruption = || {
            asked.set(asked.get() + 1);
            asked.get() > 2
        };
        let progress = Progress::new(&interruption);
        let done = (0..1_000_000).take_while(|_| progress.units(1)).count();
        assert!((2 * BETWEEN_LOOKS..4 * BETWEEN_LOOKS).contains(&done), "{done}");
        assert_eq!(asked.get(), 3);
        assert_eq!(progress.outcome(), Err(Interrupted));
        // It is not asked again.
        assert!(!progress.nodes(1) && asked.get() == 3);
    }

    #[test]
    fn unwatched_work_continues() {
        let progress = Progress::unwatched();
        assert!((0..100).all(|_| progress.units(usize::MAX)));
        assert_eq!(progress.outcome(), Ok(()));
    }

    /// However late it is interrupted.
    #[test]
    fn copies_of_large_documents_are_interrupted() {
        let members: Vec<String> = (0..20_000)
            .map(|at| format!(r#""k{at:05}":[{{"a":{at}}},"x",1.0]"#))
            .collect();
        let text = format!("{{{}}}", members.join(","));
        let value = parse(text.as_bytes()).unwrap();
        type Copy<'v> = (
            &'static str,
            &'v dyn Fn(&Progress<'_>) -> Result<Value<'v>, Interrupted>,
        );
        let copies: [Copy<'_>; 3] = [
            ("borrowed", &|progress| value.try_borrowed(progress)),
            ("owned", &|progress| value.try_owned(progress)),
            ("rewritten", &|progress| value.try_rewritten("", progress)),
        ];
        for (name, copy) in copies {
            let asked = Cell::new(0);
            let interrupted_at = |last: usize| {
                asked.set(0);
                let interruption = || {
                    asked.set(asked.get() + 1);
                    asked.get() > last
                };
                copy(&Progress::new(&interruption))
            };
            assert!(interrupted_at(usize::MAX).is_ok());
            let looks = asked.get();
            assert!(looks >= 20, "{name} looks {looks} times");
            for last in (0..looks).step_by(looks / 5) {
                assert_eq!(interrupted_at(last), Err(Interrupted), "{name} at look {last}");
                assert_eq!(asked.get(), last + 1, "{name} at look {last}");
            }
        }
    }
}
