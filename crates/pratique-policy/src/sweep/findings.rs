//! What a sweep has found out about a request.

use pratique_cel::Value;

use super::{Role, Sweep};
use crate::memo::{Frame, Key, Known, is_open};
use crate::outcome::Unfinished;

/// What the expressions of a sweep gave.
#[derive(Debug)]
pub(crate) struct Findings<'s> {
    sweep: &'s Sweep,
    /// What match conditions saw, and what all others saw.
    frames: [Frame; 2],
    /// By the places of the expressions.
    held: Vec<Held>,
    /// What is not simply true.
    others: Vec<Known<'s>>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    truth: Truth,
    cost: u64,
    /// Which of the variables that it names it read.
    reads: u64,
}

/// What came of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It was not evaluated.
    Unknown,
    True,
    /// Anything else, by its place among these.
    Other(u32),
}

impl<'s> Findings<'s> {
    /// Nothing yet.
    pub(super) fn new(sweep: &'s Sweep, frames: [Frame; 2]) -> Self {
        const UNKNOWN: Held = Held {
            truth: Truth::Unknown,
            cost: 0,
            reads: 0,
        };
        Findings {
            sweep,
            frames,
            held: vec![UNKNOWN; sweep.expressions.len()],
            others: Vec::new(),
        }
    }

    /// What came of the expression at a place.
    pub(super) fn truth(&self, place: u32) -> Truth {
        let held = self.held.get(place as usize);
        held.map_or(Truth::Unknown, |held| held.truth)
    }

    /// What the expression at a place cost.
    pub(super) fn cost(&self, place: u32) -> u64 {
        self.held.get(place as usize).map_or(0, |held| held.cost)
    }

    /// Whether one of the others is false.
    pub(super) fn is_false(&self, other: u32) -> bool {
        let known = self.others.get(other as usize);
        known.is_some_and(|known| matches!(known.evaluation, Ok(Value::Bool(false))))
    }

    /// Adds what an expression gave. One that depends on what was not given stays as it is: its policies tell.
    pub(super) fn add(&mut self, place: u32, known: Known<'s>) -> Result<Truth, Unfinished> {
        let Known { cost, reads, .. } = known;
        let fault = known.evaluation.as_ref().err();
        if let Some(unfinished) = fault.and_then(Unfinished::from_fault) {
            return Err(unfinished);
        }
        if known.evaluation.as_ref().is_err_and(is_open) {
            return Ok(Truth::Unknown);
        }
        let truth = match known.evaluation {
            Ok(Value::Bool(true)) => Truth::True,
            _ => {
                self.others.push(known);
                Truth::Other(self.others.len() as u32 - 1)
            }
        };
        if let Some(held) = self.held.get_mut(place as usize) {
            *held = Held { truth, cost, reads };
        }
        Ok(truth)
    }

    /// What an expression gave; `None` for one that the sweep has not evaluated, or that sees something else.
    pub(crate) fn get(&self, key: Key) -> Option<Known<'s>> {
        let [conditions, others] = self.frames;
        let found = |role, frame| {
            let place = *self.sweep.places.get(&(key.closed(), role))? as usize;
            let swept = self.sweep.expressions.get(place)?;
            let seen = key.is_seen_as(frame, swept.closed.sees());
            let held = self.held.get(place)?;
            (seen && held.truth != Truth::Unknown).then_some(held)
        };
        let held = found(Role::Other, others).or_else(|| found(Role::Condition, conditions))?;
        match held.truth {
            Truth::Unknown => None,
            Truth::True => Some(Known {
                evaluation: Ok(Value::Bool(true)),
                cost: held.cost,
                reads: held.reads,
            }),
            Truth::Other(at) => self.others.get(at as usize).cloned(),
        }
    }
}
