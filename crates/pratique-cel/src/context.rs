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
}

impl<'a> Context<'a> {
    /// A context that stops an evaluation once it has cost more than `limit`.
    pub fn new(arena: &'a Arena, limit: u64) -> Self {
        Context {
            arena,
            cost: Cell::new(0),
            limit,
            interrupt: None,
        }
    }

    /// Stops the evaluation soon after `interrupt` is set.
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

    /// An error when the caller asked the evaluation to stop.
    pub fn check_interrupt(&self) -> Result<(), Fault> {
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
