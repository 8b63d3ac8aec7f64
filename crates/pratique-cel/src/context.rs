//! The memory, cost and limits of an evaluation.

use std::cell::Cell;

use pratique_json::Object;

use crate::arena::Arena;
use crate::error::{Fault, Stop};
use crate::interrupt::Interrupt;
use crate::object_types::ObjectTypes;

/// The state of an evaluation besides its variables. Each evaluation has a new one, which is cheap to make.
#[derive(Debug)]
pub struct Context<'a> {
    /// Holds temporary values.
    pub arena: &'a Arena,
    cost: Cell<u64>,
    limit: u64,
    interrupt: Option<&'a Interrupt>,
    types: Option<&'a dyn ObjectTypes>,
    /// The work that is left before the limits are checked.
    until_check: Cell<u64>,
}

/// The units of work between checks of the limits: some tenths of a millisecond.
const CHECK_INTERVAL: u64 = 100_000;

/// The work of an iteration of a comprehension.
const ITERATION: u64 = 100;

/// Allocations of fewer bytes are accounted for afterwards.
const SMALL: usize = 16 << 10;

impl<'a> Context<'a> {
    /// A context that stops an evaluation once it has cost more than `limit`.
    pub fn new(arena: &'a Arena, limit: u64) -> Self {
        Context {
            arena,
            cost: Cell::new(0),
            limit,
            interrupt: None,
            types: None,
            until_check: Cell::new(CHECK_INTERVAL),
        }
    }

    /// Stops the evaluation within milliseconds after `interrupt` is set.
    pub fn with_interrupt(self, interrupt: &'a Interrupt) -> Self {
        Context {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// Compares typed objects by their types as well.
    pub fn with_types(self, types: &'a dyn ObjectTypes) -> Self {
        Context {
            types: Some(types),
            ..self
        }
    }

    /// Whether two typed objects with the same members are of the same type.
    pub(crate) fn are_of_one_type(&self, left: &Object<'_>, right: &Object<'_>) -> Result<bool, Fault> {
        match self.types {
            Some(types) => types.are_of_one_type(left, right, &mut |units| self.work(units)),
            None => Ok(true),
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

    /// Adds to the cost one by one: past the limit the evaluation stops with a cost of 1 more than it.
    #[inline]
    pub(crate) fn charge_ones(&self, count: u64) -> Result<(), Fault> {
        let total = self.cost.get().saturating_add(count);
        if total > self.limit {
            return self.exceed_limit();
        }
        self.cost.set(total);
        Ok(())
    }

    /// The cost is that of the first unit beyond the limit.
    #[cold]
    fn exceed_limit(&self) -> Result<(), Fault> {
        let beyond = self.limit.saturating_add(1);
        self.cost.set(self.cost.get().max(beyond));
        Err(over_limit())
    }

    /// The cost that is left below the limit.
    pub(crate) fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.cost.get())
    }

    /// Subtracts from the cost. Below 0 it wraps around, as the reference's counter does, and the limit is exceeded.
    pub(crate) fn refund(&self, cost: u64) -> Result<(), Fault> {
        self.cost.set(self.cost.get().wrapping_sub(cost));
        self.charge(0)
    }

    /// Accounts for work, which is independent of the cost: a unit is about a nanosecond, in which a byte is read. After some
    /// tenths of a millisecond this [checks](Self::check_limits) the limits.
    ///
    /// Functions that take longer than a millisecond call it repeatedly. The evaluation of expressions and calls of functions with
    /// large arguments are accounted for already.
    ///
    /// # Errors
    /// As [`check_limits`](Self::check_limits).
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), Fault> {
        match self.until_check.get().checked_sub(units) {
            Some(left) => {
                self.until_check.set(left);
                Ok(())
            }
            None => self.refill(),
        }
    }

    /// Accounts for an iteration of a comprehension.
    #[inline]
    pub(crate) fn iteration(&self) -> Result<(), Fault> {
        self.work(ITERATION)
    }

    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<(), Fault> {
        self.until_check.set(CHECK_INTERVAL);
        self.check_limits()
    }

    /// Checks the limits at once.
    ///
    /// # Errors
    /// The evaluation is interrupted, or holds too much memory.
    pub fn check_limits(&self) -> Result<(), Fault> {
        self.check_interrupt()?;
        self.arena.check_room(0)
    }

    /// Checks the memory limit before an allocation of so many bytes, which may be held twice for a while.
    ///
    /// # Errors
    /// They would be too many: [`Stop::MemoryLimit`] or [`Stop::MemoryBudget`].
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        match bytes {
            0..SMALL => Ok(()),
            large => self.arena.check_room(large.saturating_mul(2)),
        }
    }

    /// An error if the caller has interrupted the evaluation.
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
