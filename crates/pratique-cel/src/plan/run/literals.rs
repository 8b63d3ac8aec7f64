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
        match self.elements(elements) {
            Ok(list) => self.context.charge(LIST_COST).map(|()| list),
            Err(fault) => Err(self.fail_literal(LIST_COST, fault)),
        }
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
        match self.entries(entries) {
            Ok(map) => self.context.charge(MAP_COST).map(|()| map),
            Err(fault) => Err(self.fail_literal(MAP_COST, fault)),
        }
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
        let fields = match self.fields(literal) {
            Ok(fields) => fields,
            Err(fault) => return Err(self.fail_literal(STRUCT_COST, fault)),
        };
        let result = literal
            .provider
            .construct(self.context, &literal.type_name, &fields);
        if let Some(stop) = first_stop([&result]) {
            return Err(stop);
        }
        self.context.charge(STRUCT_COST)?;
        result
    }

    fn fields(&mut self, literal: &'a StructLiteral) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        let mut fields: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(literal.fields.len());
        for (name, field) in &literal.fields {
            let value = self.optional_value(field.value, field.optional, || name.to_string())?;
            fields.retain(|(other, _)| **other != **name);
            fields.extend(value.map(|value| (&**name, value)));
        }
        Ok(fields)
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

    /// The error of a literal of which a part is one. It costs the same as the literal, unless errors end what they are a part of.
    #[cold]
    fn fail_literal(&self, cost: u64, fault: Fault) -> Fault {
        if fault.is_stop() || self.ends_calls_at_errors() {
            return fault;
        }
        self.context.charge(cost).err().unwrap_or(fault)
    }
}
