//! Literals of lists, maps and structs.

use super::PlanEvaluator;
use super::logic::first_stop;
use crate::arena::ArenaVec;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::{LIST_COST, ListElement, NodeId, PlannedEntry, StructLiteral};
use crate::plan::observe::EvaluationObserver;
use crate::value::{Evaluation, List, Map, Value};

const MAP_COST: u64 = 30;
const STRUCT_COST: u64 = 40;

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    pub(super) fn list(&mut self, elements: &'a [ListElement]) -> Evaluation<'a> {
        let result = self.elements(elements);
        self.charge_literal(LIST_COST, &result)?;
        result
    }

    fn elements(&mut self, elements: &'a [ListElement]) -> Evaluation<'a> {
        let mut values = self.context.arena.list(elements.len());
        for element in elements {
            let value = self.evaluate(element.value)?;
            let value = match (element.optional, value) {
                (false, value) => value,
                (true, Value::Optional(None)) => continue,
                (true, Value::Optional(Some(value))) => *value,
                (true, other) => {
                    let value_text = ops::format_value(&other);
                    let message = format!(
                        "cannot initialize optional list element from non-optional value {value_text}"
                    );
                    return Err(Fault::error(message));
                }
            };
            values.push(value);
        }
        Ok(Value::List(List::Values(values.into_bump_slice())))
    }

    pub(super) fn map(&mut self, entries: &'a [PlannedEntry]) -> Evaluation<'a> {
        let result = self.entries(entries);
        self.charge_literal(MAP_COST, &result)?;
        result
    }

    fn entries(&mut self, entries: &'a [PlannedEntry]) -> Evaluation<'a> {
        let mut made: ArenaVec<'a, (Value<'a>, Value<'a>)> = self.context.arena.list(entries.len());
        for entry in entries {
            let key = self.evaluate(entry.key)?;
            let value = self.optional_value(entry.value, entry.optional, || ops::format_value(&key))?;
            let at = |made: &[(Value<'a>, Value<'a>)]| {
                let mut entries = made.iter();
                entries.position(|(other, _)| ops::is_same_key(other, &key))
            };
            match value {
                Some(value) => {
                    ops::check_hash(&key)?;
                    // Of values for one key the last stays.
                    match at(&made).and_then(|at| made.get_mut(at)) {
                        Some(entry) => *entry = (key, value),
                        None => made.push((key, value)),
                    }
                }
                None => match ops::unhashable(&key) {
                    Some(of) => return Err(Fault::internal(format!("hash of unhashable type: {of}"))),
                    None => at(&made).into_iter().for_each(|at| {
                        made.remove(at);
                    }),
                },
            }
        }
        Ok(Value::Map(Map::Entries(made.into_bump_slice())))
    }

    pub(super) fn struct_literal(&mut self, literal: &'a StructLiteral) -> Evaluation<'a> {
        let result = self.construct(literal);
        self.charge_literal(STRUCT_COST, &result)?;
        result
    }

    fn construct(&mut self, literal: &'a StructLiteral) -> Evaluation<'a> {
        let mut fields: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(literal.fields.len());
        for (name, field) in &literal.fields {
            let value = self.optional_value(field.value, field.optional, || name.to_string())?;
            fields.retain(|(other, _)| **other != **name);
            fields.extend(value.map(|value| (&**name, value)));
        }
        literal
            .provider
            .construct(self.context, &literal.type_name, &fields)
    }

    /// The value of an entry; `None` if it is optional and absent.
    fn optional_value(
        &mut self,
        value: NodeId,
        optional: bool,
        name: impl FnOnce() -> String,
    ) -> Result<Option<Value<'a>>, Fault> {
        match self.evaluate(value)? {
            value if !optional => Ok(Some(value)),
            Value::Optional(value) => Ok(value.copied()),
            other => {
                let (name, value_text) = (name(), ops::format_value(&other));
                let message =
                    format!("cannot initialize optional entry '{name}' from non-optional value {value_text}");
                Err(Fault::error(message))
            }
        }
    }

    /// Charges a literal, which costs the same if a part of it is an error.
    fn charge_literal(&mut self, cost: u64, result: &Evaluation<'a>) -> Result<(), Fault> {
        match first_stop([result]) {
            Some(stop) => Err(stop),
            None => self.context.charge(cost),
        }
    }
}
