//! Literals of lists, maps and structs.

use super::Run;
use super::logic::first_stop;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::{Element, Entry, NodeId, StructLiteral};
use crate::plan::observe::Observer;
use crate::value::{Evaluation, List, Map, Value};

const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;
const STRUCT_COST: u64 = 40;

impl<'a, O: Observer> Run<'_, 'a, O> {
    pub(super) fn list(&mut self, elements: &'a [Element]) -> Evaluation<'a> {
        let result = self.elements(elements);
        self.charge_literal(LIST_COST, &result)?;
        result
    }

    fn elements(&mut self, elements: &'a [Element]) -> Evaluation<'a> {
        let room = self.context.arena.filled(elements.len(), Value::Null);
        let mut places = room.iter_mut();
        for element in elements {
            let value = self.evaluate(element.value)?;
            let value = match (element.optional, value) {
                (false, value) => value,
                (true, Value::Optional(None)) => continue,
                (true, Value::Optional(Some(value))) => *value,
                (true, other) => {
                    let shown = ops::shown(&other);
                    let message =
                        format!("cannot initialize optional list element from non-optional value {shown}");
                    return Err(Fault::error(message));
                }
            };
            if let Some(place) = places.next() {
                *place = value;
            }
        }
        let unused = places.len();
        Ok(Value::List(List::Values(leading(room, unused))))
    }

    pub(super) fn map(&mut self, entries: &'a [Entry]) -> Evaluation<'a> {
        let result = self.entries(entries);
        self.charge_literal(MAP_COST, &result)?;
        result
    }

    fn entries(&mut self, entries: &'a [Entry]) -> Evaluation<'a> {
        let mut made = Entries::new(self, entries.len());
        for entry in entries {
            let key = self.evaluate(entry.key)?;
            let value = self.optional_value(entry.value, entry.optional, || ops::shown(&key))?;
            match value {
                Some(value) => {
                    ops::check_hash(&key)?;
                    made.insert(key, value);
                }
                None => match ops::unhashable(&key) {
                    Some(of) => return Err(Fault::internal(format!("hash of unhashable type: {of}"))),
                    None => made.remove(&key),
                },
            }
        }
        Ok(Value::Map(Map::Entries(made.done())))
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
            fields.retain(|(own, _)| **own != **name);
            fields.extend(value.map(|value| (&**name, value)));
        }
        literal
            .provider
            .construct(self.context, &literal.type_name, &fields)
    }

    /// The value of an entry; `None` where it is optional and not there.
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
                let (name, shown) = (name(), ops::shown(&other));
                let message =
                    format!("cannot initialize optional entry '{name}' from non-optional value {shown}");
                Err(Fault::error(message))
            }
        }
    }

    /// Literals cost the same where a part of them is an error.
    fn charge_literal(&mut self, cost: u64, result: &Evaluation<'a>) -> Result<(), Fault> {
        match first_stop([result]) {
            Some(stop) => Err(stop),
            None => self.context.charge(cost),
        }
    }
}

/// The values of a room without so many unused places at its end.
fn leading<T>(room: &[T], unused: usize) -> &[T] {
    room.get(..room.len().saturating_sub(unused)).unwrap_or(room)
}

/// The entries of a map that is being made, in memory that is large enough from the start.
struct Entries<'a> {
    room: &'a mut [(Value<'a>, Value<'a>)],
    len: usize,
}

impl<'a> Entries<'a> {
    fn new<O>(run: &Run<'_, 'a, O>, capacity: usize) -> Self {
        let room = run.context.arena.filled(capacity, (Value::Null, Value::Null));
        Entries { room, len: 0 }
    }

    /// Sets the value of a key; of values for one key the last stays.
    fn insert(&mut self, key: Value<'a>, value: Value<'a>) {
        match self.position(&key) {
            Some(at) => self.put(at, (key, value)),
            None => self.push(key, value),
        }
    }

    fn push(&mut self, key: Value<'a>, value: Value<'a>) {
        self.put(self.len, (key, value));
        self.len += 1;
    }

    fn put(&mut self, at: usize, entry: (Value<'a>, Value<'a>)) {
        if let Some(place) = self.room.get_mut(at) {
            *place = entry;
        }
    }

    fn remove(&mut self, key: &Value<'a>) {
        if let Some(at) = self.position(key)
            && let Some(rest) = self.room.get_mut(at..self.len)
        {
            rest.rotate_left(1);
            self.len -= 1;
        }
    }

    fn position(&self, key: &Value<'a>) -> Option<usize> {
        let mut entries = self.entries().iter();
        entries.position(|(own, _)| ops::is_same_key(own, key))
    }

    /// The entries so far.
    fn entries(&self) -> &[(Value<'a>, Value<'a>)] {
        self.room.get(..self.len).unwrap_or(&[])
    }

    fn done(self) -> &'a [(Value<'a>, Value<'a>)] {
        let unused = self.room.len() - self.len;
        leading(self.room, unused)
    }
}
