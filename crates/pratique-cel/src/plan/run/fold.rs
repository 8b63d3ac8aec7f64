//! Comprehensions, run natively and charged as the reference's step-by-step fold.
//!
//! The reference keeps an accumulator, reads it anew for each condition and step, and pays 1 for each reading and
//! each call. It goes on after errors: only what quantifiers absorb is lost, all else ends up in the accumulator.

use super::Run;
use super::literals::{Entries, leading};
use super::logic::first_stop;
use super::range::Range;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::{Fold, LocalIndex, NodeId, Shape};
use crate::plan::observe::Observer;
use crate::value::{Evaluation, List, Map, Value};

/// One reading of the accumulator.
const READ: u64 = 1;
/// One call of an operator.
const CALL: u64 = 1;

impl<'a, O: Observer> Run<'_, 'a, O> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Evaluation<'a> {
        let range = self.range(fold)?;
        match &fold.shape {
            Shape::All(predicate) => self.quantifier(fold, &range, *predicate, false),
            Shape::Exists(predicate) => self.quantifier(fold, &range, *predicate, true),
            Shape::ExistsOne(predicate) => self.exists_one(fold, &range, *predicate),
            Shape::List {
                filter,
                element,
                list_cost,
            } => self.gather(fold, &range, *filter, *element, *list_cost),
            Shape::Map { filter, value } => self.transform_map(fold, &range, *filter, *value),
            Shape::Entries { filter, value } => self.transform_entries(fold, &range, *filter, *value),
            Shape::Steps { .. } => self.steps(fold, &range),
        }
    }

    /// `all` and `exists`: they end at the first answer that is `decisive`.
    fn quantifier(
        &mut self,
        fold: &'a Fold,
        range: &Range<'a>,
        predicate: NodeId,
        decisive: bool,
    ) -> Evaluation<'a> {
        // exists() negates the accumulator before it looks at it.
        let condition = READ + CALL + if decisive { CALL } else { 0 };
        let mut fault = None;
        let mut decided = false;
        for round in 0..range.len() {
            if decided {
                self.context.charge_ones(condition)?;
                break;
            }
            self.context.charge_ones(condition + READ)?;
            self.bind_round(fold, range, round);
            match self.truth(predicate) {
                Ok(answer) => decided = answer == decisive,
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(first) => {
                    fault.get_or_insert(first);
                }
            }
            self.context.check_interrupt()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) if !decided => Err(fault),
            _ => Ok(Value::Bool(decided == decisive)),
        }
    }

    fn exists_one(&mut self, fold: &'a Fold, range: &Range<'a>, predicate: NodeId) -> Evaluation<'a> {
        let mut count = Ok(0_u64);
        for round in 0..range.len() {
            self.bind_round(fold, range, round);
            match self.truth(predicate) {
                Ok(true) => {
                    self.context.charge_ones(READ + CALL)?;
                    count = count.map(|count| count + 1);
                }
                Ok(false) => {}
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(last) => count = Err(last),
            }
            self.context.check_interrupt()?;
        }
        self.context.charge_ones(READ + CALL)?;
        count.map(|count| Value::Bool(count == 1))
    }

    /// `map`, `filter`, `transformList`.
    fn gather(
        &mut self,
        fold: &'a Fold,
        range: &Range<'a>,
        filter: Option<NodeId>,
        element: NodeId,
        list_cost: u64,
    ) -> Evaluation<'a> {
        let room = self.context.arena.filled(self.most(range), Value::Null);
        let mut places = room.iter_mut();
        let mut fault = None;
        for round in 0..range.len() {
            self.bind_round(fold, range, round);
            if self.passes(filter, &mut fault)? {
                self.context.charge(READ)?;
                let value = self.evaluate(element);
                if let Some(stop) = first_stop([&value]) {
                    return Err(stop);
                }
                self.context.charge(list_cost)?;
                self.context.charge(CALL)?;
                match value {
                    Ok(value) => {
                        if let Some(place) = places.next() {
                            *place = value;
                        }
                    }
                    Err(first) => {
                        fault.get_or_insert(first);
                    }
                }
            }
            self.context.check_interrupt()?;
        }
        self.context.charge(READ)?;
        let unused = places.len();
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Value::List(List::Values(leading(room, unused)))),
        }
    }

    /// How many elements a list or map of a range can get: each costs 1 at least.
    fn most(&self, range: &Range<'a>) -> usize {
        let affordable = usize::try_from(self.context.remaining()).unwrap_or(usize::MAX);
        range.len().min(affordable)
    }

    /// Whether this round adds something. An error of the filter takes the place of what was gathered, and of an
    /// error before.
    #[inline]
    fn passes(&mut self, filter: Option<NodeId>, fault: &mut Option<Fault>) -> Result<bool, Fault> {
        let Some(filter) = filter else {
            return Ok(true);
        };
        match self.truth(filter) {
            Ok(passes) => Ok(passes),
            Err(stop) if stop.is_stop() => Err(stop),
            Err(last) => {
                *fault = Some(last);
                Ok(false)
            }
        }
    }

    fn transform_map(
        &mut self,
        fold: &'a Fold,
        range: &Range<'a>,
        filter: Option<NodeId>,
        value: NodeId,
    ) -> Evaluation<'a> {
        let mut entries = Entries::new(self, self.most(range));
        let mut fault = None;
        for round in 0..range.len() {
            self.bind_round(fold, range, round);
            let (key, _) = range.entry(round);
            if self.passes(filter, &mut fault)? {
                self.context.charge(READ)?;
                // Of a call of three arguments the reference evaluates none after an error.
                if fault.is_none() {
                    self.context.charge(READ)?;
                    let value = self.evaluate(value);
                    if let Some(stop) = first_stop([&value]) {
                        return Err(stop);
                    }
                    self.context.charge(CALL)?;
                    let known = range.has_distinct_keys();
                    fault = value.and_then(|value| entries.add(key, value, known)).err();
                }
            }
            self.context.check_interrupt()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Value::Map(Map::Entries(entries.done()))),
        }
    }

    fn transform_entries(
        &mut self,
        fold: &'a Fold,
        range: &Range<'a>,
        filter: Option<NodeId>,
        value: NodeId,
    ) -> Evaluation<'a> {
        let mut entries: Vec<(Value<'a>, Value<'a>)> = Vec::new();
        let mut fault = None;
        for round in 0..range.len() {
            self.bind_round(fold, range, round);
            if self.passes(filter, &mut fault)? {
                self.context.charge(READ)?;
                let added = self.evaluate(value);
                if let Some(stop) = first_stop([&added]) {
                    return Err(stop);
                }
                self.context.charge(CALL)?;
                if fault.is_none() {
                    fault = added.and_then(|added| extend(&mut entries, &added)).err();
                }
            }
            self.context.check_interrupt()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Value::Map(Map::Entries(self.context.arena.slice(&entries)))),
        }
    }

    /// A comprehension that is none of the macros'.
    fn steps(&mut self, fold: &'a Fold, range: &Range<'a>) -> Evaluation<'a> {
        let Shape::Steps {
            accumulator,
            init,
            condition,
            step,
            result,
        } = fold.shape
        else {
            return Ok(Value::Null);
        };
        self.postpone(accumulator, init);
        for round in 0..range.len() {
            self.bind_round(fold, range, round);
            if !self.step(accumulator, condition, step)? {
                break;
            }
            self.context.check_interrupt()?;
        }
        self.evaluate(result)
    }

    /// Takes a step unless the condition is plainly false.
    fn step(&mut self, accumulator: LocalIndex, condition: NodeId, step: NodeId) -> Result<bool, Fault> {
        let condition = self.evaluate(condition);
        if let Some(stop) = first_stop([&condition]) {
            return Err(stop);
        }
        if matches!(condition, Ok(Value::Bool(false))) {
            return Ok(false);
        }
        let next = self.evaluate(step);
        if let Some(stop) = first_stop([&next]) {
            return Err(stop);
        }
        self.bind_result(accumulator, next);
        Ok(true)
    }
}

impl<'a> Entries<'a> {
    /// Adds an entry; an error where there is one for its key, unless keys are known to differ.
    fn add(&mut self, key: Value<'a>, value: Value<'a>, known: bool) -> Result<(), Fault> {
        ops::check_hash(&key)?;
        if !known && ops::find_key(&Map::Entries(self.entries()), &key).is_some() {
            return Err(duplicate(&key));
        }
        self.push(key, value);
        Ok(())
    }
}

fn extend<'a>(entries: &mut Vec<(Value<'a>, Value<'a>)>, added: &Value<'a>) -> Result<(), Fault> {
    let Value::Map(added) = added else {
        let name = added.type_name();
        return Err(Fault::error(format!(
            "no such overload: cel.@mapInsert(map, {name})"
        )));
    };
    for (key, value) in added.iter() {
        if ops::find_key(&Map::Entries(entries), &key).is_some() {
            return Err(duplicate(&key));
        }
        entries.push((key, value));
    }
    Ok(())
}

#[cold]
fn duplicate(key: &Value<'_>) -> Fault {
    Fault::error(format!("insert failed: key {} already exists", ops::shown(key)))
}
