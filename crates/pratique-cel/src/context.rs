//! One evaluation's memory, meter and stop button.

use std::cell::Cell;

use crate::arena::Arena;
use crate::error::{Fault, Stop};
use crate::interrupt::Interrupt;

/// What an evaluation works with besides its variables: made for each evaluation, cheap.
#[derive(Debug)]
pub struct Context<'a> {
    /// Where temporaries live.
    pub arena: &'a Arena,
    cost: Cell<u64>,
    limit: u64,
    interrupt: Option<&'a Interrupt>,
    /// How much may be done before it is looked whether to go on.
    slice: Cell<u64>,
}

/// How many units of work are done before it is looked whether to go on: some tenths of a millisecond.
const SLICE: u64 = 100_000;

/// What a round of a comprehension counts for, in units of work.
const ROUND: u64 = 100;

/// Up to here, in bytes, what is made is accounted for afterwards.
const SMALL: usize = 16 << 10;

impl<'a> Context<'a> {
    /// A context that stops an evaluation once it has cost more than `limit`.
    pub fn new(arena: &'a Arena, limit: u64) -> Self {
        Context {
            arena,
            cost: Cell::new(0),
            limit,
            interrupt: None,
            slice: Cell::new(SLICE),
        }
    }

    /// Stops the evaluation within milliseconds after `interrupt` is set.
    pub fn with_interrupt(self, interrupt: &'a Interrupt) -> Self {
        Context {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// The cost so far, in the reference's units.
    pub fn cost(&self) -> u64 {
        self.cost.get()
    }

    /// Adds to the cost; past the limit the evaluation stops.
    #[inline]
    pub fn charge(&self, cost: u64) -> Result<(), Fault> {
        let total = self.cost.get().saturating_add(cost);
        self.cost.set(total);
        if total > self.limit {
            Err(over_limit())
        } else {
            Ok(())
        }
    }

    /// Adds so many times 1 to the cost; past the limit the evaluation stops with no more than 1 beyond it.
    #[inline]
    pub(crate) fn charge_ones(&self, count: u64) -> Result<(), Fault> {
        let total = self.cost.get().saturating_add(count);
        if total > self.limit {
            return self.run_out();
        }
        self.cost.set(total);
        Ok(())
    }

    /// The first 1 beyond the limit is the last that is counted.
    #[cold]
    fn run_out(&self) -> Result<(), Fault> {
        let beyond = self.limit.saturating_add(1);
        self.cost.set(self.cost.get().max(beyond));
        Err(over_limit())
    }

    /// How much more it may cost.
    pub(crate) fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.cost.get())
    }

    /// Takes from the cost what the reference gives back; below nothing the cost is without limit, as its counter wraps.
    pub(crate) fn refund(&self, cost: u64) -> Result<(), Fault> {
        self.cost.set(self.cost.get().wrapping_sub(cost));
        self.charge(0)
    }

    /// Accounts for work, however little it costs: a unit is what a byte takes to be read, about a nanosecond. Each time
    /// some tenths of a millisecond have been spent this [checks](Self::check) whether to go on.
    ///
    /// Functions that take longer than a millisecond call it while they are at it. What evaluating an expression and
    /// calling a function with large arguments takes is accounted for already.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), Fault> {
        match self.slice.get().checked_sub(units) {
            Some(left) => {
                self.slice.set(left);
                Ok(())
            }
            None => self.look_up(),
        }
    }

    /// A round of a comprehension.
    #[inline]
    pub(crate) fn round(&self) -> Result<(), Fault> {
        self.work(ROUND)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self) -> Result<(), Fault> {
        self.slice.set(SLICE);
        self.check()
    }

    /// Whether to go on, seen at once.
    ///
    /// # Errors
    /// The evaluation was interrupted, or holds too much memory.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_interrupt()?;
        self.arena.check(0)
    }

    /// Asks for memory before something large is made in it: so many bytes, which may be held twice while it is made.
    ///
    /// # Errors
    /// They would be too many: [`Stop::MemoryLimit`] or [`Stop::MemoryBudget`].
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        match bytes {
            0..SMALL => Ok(()),
            large => self.arena.check(large.saturating_mul(2)),
        }
    }

    /// An error when the caller asked the evaluation to stop.
    fn check_interrupt(&self) -> Result<(), Fault> {
        match self.interrupt {
            Some(interrupt) if interrupt.is_set() => Err(Fault::stop(Stop::Interrupted)),
            _ => Ok(()),
        }
    }
}

#[cold]
fn over_limit() -> Fault {
    Fault::stop(Stop::CostLimit)
}
