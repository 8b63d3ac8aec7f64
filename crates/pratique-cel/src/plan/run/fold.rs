//! Comprehensions, evaluated natively and charged as the reference's fold.
//!
//! The reference keeps an accumulator, reads it for each condition and step, and charges 1 for each read and each call. It
//! continues after errors, which quantifiers may absorb, and which otherwise end up in the accumulator.
//!
//! Upstream: github.com/google/cel-go, interpreter/interpretable.go, evalFold

use super::PlanEvaluator;
use super::logic::first_stop;
use super::range::FoldRange;
use crate::context::Context;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::{FoldKind, LocalIndex, NodeId, PlannedFold};
use crate::plan::observe::EvaluationObserver;
use crate::value::{Evaluation, List, Map, Value};

/// The cost of reading the accumulator.
const READ: u64 = 1;
/// The cost of a call of an operator.
const CALL: u64 = 1;

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    pub(super) fn fold(&mut self, fold: &'a PlannedFold) -> Evaluation<'a> {
        let range = self.range(fold)?;
        match &fold.shape {
            FoldKind::All(predicate) => self.quantifier(fold, &range, *predicate, false),
            FoldKind::Exists(predicate) => self.quantifier(fold, &range, *predicate, true),
            FoldKind::ExistsOne(predicate) => self.exists_one(fold, &range, *predicate),
            FoldKind::List {
                filter,
                element,
                list_cost,
            } => self.collect_list(fold, &range, *filter, *element, *list_cost),
            FoldKind::Map {
                filter,
                value,
                by_key,
            } => self.transform_map(fold, &range, *filter, *value, *by_key),
            FoldKind::Generic { .. } => self.generic(fold, &range),
        }
    }

    /// `all` and `exists`, which end at the first result that is `decisive`.
    fn quantifier(
        &mut self,
        fold: &'a PlannedFold,
        range: &FoldRange<'a>,
        predicate: NodeId,
        decisive: bool,
    ) -> Evaluation<'a> {
        // The condition of exists() negates the accumulator.
        let condition = READ + CALL + if decisive { CALL } else { 0 };
        let mut fault = None;
        let mut decided = false;
        for iteration in 0..range.len() {
            if decided {
                self.context.charge_ones(condition)?;
                break;
            }
            self.context.charge_ones(condition + READ)?;
            self.bind_iteration(fold, range, iteration);
            match self.truth(predicate) {
                Ok(answer) => decided = answer == decisive,
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(first) => {
                    self.context.work(first.size())?;
                    fault.get_or_insert(first);
                }
            }
            self.context.iteration()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) if !decided => Err(fault),
            _ => Ok(Value::Bool(decided == decisive)),
        }
    }

    fn exists_one(
        &mut self,
        fold: &'a PlannedFold,
        range: &FoldRange<'a>,
        predicate: NodeId,
    ) -> Evaluation<'a> {
        let mut count = Ok(0_u64);
        for iteration in 0..range.len() {
            self.bind_iteration(fold, range, iteration);
            match self.truth(predicate) {
                Ok(true) => {
                    let adds = count.is_ok() || !self.ends_calls_at_errors();
                    self.context.charge_ones(READ + if adds { CALL } else { 0 })?;
                    count = count.map(|count| count + 1);
                }
                Ok(false) => {}
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(last) => {
                    self.context.work(last.size())?;
                    count = Err(last);
                }
            }
            self.context.iteration()?;
        }
        self.context.charge_ones(READ + CALL)?;
        count.map(|count| Value::Bool(count == 1))
    }

    /// `map`, `filter`, `transformList`.
    fn collect_list(
        &mut self,
        fold: &'a PlannedFold,
        range: &FoldRange<'a>,
        filter: Option<NodeId>,
        element: NodeId,
        list_cost: u64,
    ) -> Evaluation<'a> {
        let mut elements = self.context.arena.list(self.capacity(range, filter, list_cost));
        let mut fault = None;
        for iteration in 0..range.len() {
            self.bind_iteration(fold, range, iteration);
            if self.passes(filter, &mut fault)? {
                self.context.charge(READ)?;
                if fault.is_none() || !self.ends_calls_at_errors() {
                    match self.evaluate(element) {
                        Ok(value) => {
                            self.charge_appending(list_cost)?;
                            elements.push(value);
                        }
                        Err(first) => self.fail_element(first, list_cost, &mut fault)?,
                    }
                }
            }
            self.context.iteration()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Value::List(List::Values(elements.into_bump_slice()))),
        }
    }

    /// Charges the list of one element that the reference appends, and the call that does.
    fn charge_appending(&self, list_cost: u64) -> Result<(), Fault> {
        self.context.charge(list_cost)?;
        self.context.charge(CALL)
    }

    /// Keeps the first error of elements.
    #[cold]
    fn fail_element(&self, first: Fault, list_cost: u64, fault: &mut Option<Fault>) -> Result<(), Fault> {
        if first.is_stop() {
            return Err(first);
        }
        if !self.ends_calls_at_errors() {
            self.charge_appending(list_cost)?;
        }
        self.context.work(first.size())?;
        fault.get_or_insert(first);
        Ok(())
    }

    /// The initial capacity for elements: the length of the range, unless a filter may pass few of them or the cost limit is
    /// reached before.
    fn capacity(&self, range: &FoldRange<'a>, filter: Option<NodeId>, list_cost: u64) -> usize {
        const FILTERED: usize = 16;
        let affordable = (self.context.remaining() / (READ + CALL + list_cost)).saturating_add(1);
        let most = usize::try_from(affordable).unwrap_or(usize::MAX);
        range.len().min(if filter.is_some() {
            FILTERED.min(most)
        } else {
            most
        })
    }

    /// Whether the filter passes in this iteration. An error of the filter replaces the result and previous errors.
    #[inline]
    fn passes(&mut self, filter: Option<NodeId>, fault: &mut Option<Fault>) -> Result<bool, Fault> {
        let Some(filter) = filter else {
            return Ok(true);
        };
        match self.truth(filter) {
            Ok(passes) => Ok(passes),
            Err(stop) if stop.is_stop() => Err(stop),
            Err(last) => {
                self.context.work(last.size())?;
                *fault = Some(last);
                Ok(false)
            }
        }
    }

    /// Collects a map: each value is that of the iteration's key, or where there are none, a map of entries to add.
    fn transform_map(
        &mut self,
        fold: &'a PlannedFold,
        range: &FoldRange<'a>,
        filter: Option<NodeId>,
        value: NodeId,
        by_key: bool,
    ) -> Evaluation<'a> {
        let mut entries: Vec<MapEntry<'a>> = Vec::new();
        let mut fault = None;
        for iteration in 0..range.len() {
            self.bind_iteration(fold, range, iteration);
            let (key, _) = range.entry(iteration);
            if self.passes(filter, &mut fault)? {
                self.context.charge(READ)?;
                // The reference evaluates no argument of a call of three after an error, and of a call of two where errors end calls.
                if fault.is_none() || !(by_key || self.ends_calls_at_errors()) {
                    if by_key {
                        self.context.charge(READ)?;
                    }
                    let value = self.evaluate(value);
                    if let Some(stop) = first_stop([&value]) {
                        return Err(stop);
                    }
                    if value.is_ok() || !self.ends_calls_at_errors() {
                        self.context.charge(CALL)?;
                    }
                    if fault.is_none() {
                        let added = value.and_then(|value| {
                            if by_key {
                                ops::check_hash(&key)?;
                                let distinct = range.has_distinct_keys();
                                add(self.context, &mut entries, (key, value), distinct)
                            } else {
                                extend(self.context, &mut entries, &value)
                            }
                        });
                        fault = match added {
                            Err(stop) if stop.is_interruption() => return Err(stop),
                            added => added.err(),
                        };
                    }
                }
            }
            self.context.iteration()?;
        }
        self.context.charge(READ)?;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Value::Map(Map::Entries(self.context.arena.slice(&entries)))),
        }
    }

    /// A comprehension that is not the expansion of a macro.
    fn generic(&mut self, fold: &'a PlannedFold, range: &FoldRange<'a>) -> Evaluation<'a> {
        let FoldKind::Generic {
            accumulator,
            init,
            condition,
            step,
            result,
        } = fold.shape
        else {
            return Ok(Value::Null);
        };
        self.bind_lazily(accumulator, init);
        for iteration in 0..range.len() {
            self.bind_iteration(fold, range, iteration);
            if !self.step(accumulator, condition, step)? {
                break;
            }
            self.context.iteration()?;
        }
        self.evaluate(result)
    }

    /// Takes a step unless the condition is false. Returns whether it did.
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

/// An entry of a map.
type MapEntry<'a> = (Value<'a>, Value<'a>);

/// Adds an entry; an error if there is one for its key. Keys that are `distinct` are not compared.
fn add<'a>(
    context: &Context<'a>,
    entries: &mut Vec<MapEntry<'a>>,
    (key, value): MapEntry<'a>,
    distinct: bool,
) -> Result<(), Fault> {
    if !distinct {
        let map = Map::Entries(entries);
        context.work(ops::cost_of_search(&map))?;
        if ops::find_key(&map, &key).is_some() {
            return Err(duplicate(&key));
        }
    }
    entries.push((key, value));
    Ok(())
}

fn extend<'a>(
    context: &Context<'a>,
    entries: &mut Vec<MapEntry<'a>>,
    added: &Value<'a>,
) -> Result<(), Fault> {
    let Value::Map(added) = added else {
        let name = added.type_name();
        return Err(Fault::error(format!(
            "no such overload: cel.@mapInsert(map, {name})"
        )));
    };
    for (key, value) in added.iter() {
        add(context, entries, (key, value), false)?;
    }
    Ok(())
}

#[cold]
fn duplicate(key: &Value<'_>) -> Fault {
    Fault::error(format!(
        "insert failed: key {} already exists",
        ops::format_value(key)
    ))
}
