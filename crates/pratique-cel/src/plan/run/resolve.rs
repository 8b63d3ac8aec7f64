//! Attributes: from a variable or value to a member of a member of it.

use super::logic::{first_stop, truth};
use super::{Local, Run};
use pratique_json as json;

use crate::error::Fault;
use crate::ops::{self, Lookup};
use crate::plan::node::{Attribute, Charge, Key, Node, NodeId, Root, Step};
use crate::plan::observe::Observer;
use crate::plan::quick::Plain;
use crate::value::{Evaluation, Map, Value, is_options};

/// What a path led to.
#[derive(Clone, Copy)]
struct Found<'a> {
    value: Value<'a>,
    /// Whether it was found in something: if it is an optional itself, a longer path does not look into it.
    is_member: bool,
}

impl<'a> Found<'a> {
    /// A value that was not found in another, or an optional for what was.
    fn whole(value: Value<'a>) -> Self {
        Found {
            value,
            is_member: false,
        }
    }
}

impl<'a, O: Observer> Run<'_, 'a, O> {
    #[inline]
    pub(super) fn attribute(&mut self, attribute: &'a Attribute) -> Evaluation<'a> {
        if let Some(value) = self.known(attribute) {
            self.context.charge_ones(attribute.cost())?;
            return Ok(value);
        }
        if let Some((found, cost)) = self.known_optional(attribute) {
            self.context.charge_ones(cost)?;
            let found = found.map(|value| self.context.arena.value(value));
            return Ok(Value::Optional(found));
        }
        self.attribute_of(attribute)
    }

    /// What is in the optional that a path through objects of the input leads to, and what that costs.
    pub(super) fn known_optional(&self, attribute: &'a Attribute) -> Option<(Option<Value<'a>>, u64)> {
        if attribute.charge != Charge::One {
            return None;
        }
        let root = self.root(attribute)?;
        let (found, steps) = optional_member(input(root)?, &attribute.path)?;
        Some((found.map(|member| seen(root, &attribute.path, member)), steps + 1))
    }

    /// The value of an attribute that is a path through objects of the input, as most are.
    #[inline]
    fn known(&self, attribute: &'a Attribute) -> Option<Value<'a>> {
        let root = self.root(attribute)?;
        if attribute.path.is_empty() {
            return match root {
                Value::Struct(value) if value.unknown().is_some() => None,
                value => Some(*value),
            };
        }
        let object = input(root)?;
        if attribute.presence {
            return presence(object, &attribute.path).map(Value::Bool);
        }
        Some(seen(root, &attribute.path, member(object, &attribute.path)?))
    }

    /// What an operand is and costs, where that takes no evaluation.
    #[inline(always)]
    pub(super) fn plain(&self, id: NodeId) -> Option<(Plain<'a>, u64)> {
        match self.program.node(id) {
            _ if O::ACTIVE => None,
            Node::Constant(constant) => Some((Plain::of_constant(constant)?, 0)),
            Node::Attribute(attribute) => {
                let root = self.root(attribute)?;
                let plain = match attribute.path.is_empty() {
                    true => Plain::of_value(root)?,
                    false if attribute.presence => return None,
                    false => Plain::of_json(member(input(root)?, &attribute.path)?)?,
                };
                Some((plain, attribute.cost()))
            }
            _ => None,
        }
    }

    /// The truth value of an attribute.
    #[inline]
    pub(super) fn truth_of(&mut self, attribute: &'a Attribute) -> Result<bool, Fault> {
        if attribute.presence
            && let Some(present) = self
                .root(attribute)
                .and_then(|root| presence(input(root)?, &attribute.path))
        {
            self.context.charge_ones(attribute.cost())?;
            return Ok(present);
        }
        truth(self.attribute(attribute))
    }

    /// The value that an attribute starts from, where it is there already.
    #[inline]
    fn root(&self, attribute: &'a Attribute) -> Option<&Value<'a>> {
        match &attribute.root {
            Root::Variable { slot, .. } => self.activation.value(*slot),
            Root::Local(local) => match self.locals.get(*local as usize)? {
                Local::Value(value) => Some(value),
                Local::Pending(_) | Local::Failed(_) => None,
            },
            Root::Node(_) => None,
        }
    }

    /// Any attribute, step by step.
    fn attribute_of(&mut self, attribute: &'a Attribute) -> Evaluation<'a> {
        let result = self.resolve(attribute).map(|found| found.value);
        match (attribute.charge, result) {
            (Charge::One, Ok(value)) => {
                self.context.charge(1)?;
                whole(value)
            }
            // A key may be what is no value, and is an error of its own then.
            (Charge::Inner, result) => result,
            (Charge::Presence | Charge::Refund, Ok(Value::Optional(value))) => {
                self.settle(attribute.charge)?;
                Ok(Value::Bool(value.is_some()))
            }
            (_, Err(stop)) if stop.is_stop() => Err(stop),
            (charge, result) => {
                self.settle(charge)?;
                result.and_then(whole)
            }
        }
    }

    fn settle(&mut self, charge: Charge) -> Result<(), Fault> {
        match charge {
            Charge::One => self.context.charge(1),
            Charge::Refund => self.context.refund(1),
            Charge::Presence | Charge::Free | Charge::Inner => Ok(()),
        }
    }

    fn resolve(&mut self, attribute: &'a Attribute) -> Result<Found<'a>, Fault> {
        let root = self.start(attribute)?;
        if let Value::Optional(inner) = root.value
            && !root.is_member
        {
            return match inner {
                Some(inner) => self
                    .optional_path(*inner, &attribute.path, true)
                    .map(Found::whole),
                None => Ok(root),
            };
        }
        let mut value = root.value;
        let mut path = attribute.path.as_slice();
        while let [step, rest @ ..] = path {
            if step.optional {
                return self.optional_path(value, path, false).map(Found::whole);
            }
            value = if attribute.presence && rest.is_empty() {
                self.presence(value, step)?
            } else {
                self.required(value, step)?
            };
            path = rest;
        }
        let is_member = root.is_member || !attribute.path.is_empty();
        Ok(Found { value, is_member })
    }

    /// What a path starts from.
    #[inline]
    fn start(&mut self, attribute: &'a Attribute) -> Result<Found<'a>, Fault> {
        match &attribute.root {
            Root::Variable { slot, name } => match self.activation.get(*slot) {
                Some(value) => Ok(Found::whole(value)),
                None => Err(Fault::error(format!("no such attribute(s): {name}"))),
            },
            Root::Local(local) => self.local(*local).map(Found::whole),
            Root::Node(node) => self.branch(*node),
        }
    }

    /// What a node gives as the start of a path: that of a conditional goes on where the path of its branch ends.
    fn branch(&mut self, id: NodeId) -> Result<Found<'a>, Fault> {
        let result = match self.program.node(id) {
            Node::Conditional { condition, yes, no } => self
                .truth(*condition)
                .and_then(|holds| self.branch(if holds { *yes } else { *no })),
            Node::Attribute(attribute) if matches!(attribute.charge, Charge::Inner) => {
                self.resolve(attribute)
            }
            _ => return self.evaluate(id).map(Found::whole),
        };
        if O::ACTIVE {
            let value = result.clone().map(|found| found.value);
            self.observer.observe(self.program.origin(id), &value);
        }
        result
    }

    /// A member that has to be there.
    #[inline]
    fn required(&mut self, object: Value<'a>, step: &'a Step) -> Evaluation<'a> {
        if let Some(value) = plain_member(&object, step) {
            self.context.charge(1)?;
            return Ok(value);
        }
        self.required_of(object, step)
    }

    /// A member of anything that has to be there.
    fn required_of(&mut self, object: Value<'a>, step: &'a Step) -> Evaluation<'a> {
        let (name, declared) = match &step.key {
            Key::Name(name) => (name, false),
            Key::Declared(name) => (name, true),
            key => return self.required_at(object, key),
        };
        let found =
            ops::sound(object).and_then(|object| ops::member_str(self.context, object, name, declared));
        self.context.charge(1)?;
        match found? {
            Lookup::Found(value) => Ok(value),
            missing => missing.or_missing(self.context, &Value::String(name)),
        }
    }

    /// A member that has to be there, by a key that is no plain name.
    fn required_at(&mut self, object: Value<'a>, key: &'a Key) -> Evaluation<'a> {
        let found = self.key(key).and_then(|key| {
            let found = ops::member(self.context, ops::sound(object)?, &key)?;
            found.or_missing(self.context, &key)
        });
        if let Some(stop) = first_stop([&found]) {
            return Err(stop);
        }
        self.context.charge(1)?;
        found
    }

    /// Whether a member is there.
    #[inline]
    fn presence(&mut self, object: Value<'a>, step: &'a Step) -> Evaluation<'a> {
        if plain_member(&object, step).is_some() {
            self.context.charge(1)?;
            return Ok(Value::Bool(true));
        }
        self.presence_of(object, step)
    }

    /// Whether a member of anything is there.
    fn presence_of(&mut self, object: Value<'a>, step: &'a Step) -> Evaluation<'a> {
        let present = match (&step.key, object) {
            (Key::Declared(name), Value::Struct(value)) => value.has(self.context, name),
            (Key::Name(name), Value::Struct(value)) if value.is_indexable() => value.has(self.context, name),
            (Key::Name(name) | Key::Declared(name), object) => ops::sound(object)
                .and_then(|object| ops::member_str(self.context, object, name, false))
                .map(|found| found.found().is_some()),
            // The parser makes has() of names only.
            _ => Ok(false),
        };
        self.context.charge(1)?;
        present.map(Value::Bool)
    }

    /// The rest of a path of which a step before or the first is optional; `started` where one before is.
    fn optional_path(&mut self, mut value: Value<'a>, path: &'a [Step], started: bool) -> Evaluation<'a> {
        debug_assert!(started || path.first().is_some_and(|step| step.optional));
        for step in path {
            match self.optional_step(value, step)? {
                Some(member) => {
                    self.context.charge(1)?;
                    value = member;
                }
                None => return Ok(Value::Optional(None)),
            }
        }
        Ok(Value::Optional(Some(self.context.arena.value(value))))
    }

    fn optional_step(&mut self, object: Value<'a>, step: &'a Step) -> Result<Option<Value<'a>>, Fault> {
        match (&step.key, object) {
            (Key::Name(name) | Key::Declared(name), Value::Struct(value)) if value.is_indexable() => {
                match value.has(self.context, name)? {
                    true => value.get(self.context, name),
                    false => Ok(None),
                }
            }
            (Key::Name(name) | Key::Declared(name), object) => {
                ops::member_str(self.context, ops::sound(object)?, name, false).map(Lookup::found)
            }
            (key, object) => {
                let key = self.key(key)?;
                ops::member(self.context, ops::sound(object)?, &key).map(Lookup::found)
            }
        }
    }

    fn key(&mut self, key: &'a Key) -> Evaluation<'a> {
        match key {
            Key::Declared(name) | Key::Name(name) => Ok(Value::String(name)),
            Key::Constant(constant) => Ok(constant.value()),
            Key::Computed(node) | Key::Input(node) => match known_whole(self.evaluate(*node)?)? {
                key @ (Value::String(_)
                | Value::Int(_)
                | Value::Uint(_)
                | Value::Bool(_)
                | Value::Double(_)) => Ok(key),
                // An input that is not there is not even null.
                Value::Null if matches!(key, Key::Input(_)) => Err(invalid_key("<nil>")),
                other => Err(invalid_key(ops::go_type(&other))),
            },
        }
    }
}

/// A value, unless it stands for an error, or is known in part only.
#[inline]
fn whole(value: Value<'_>) -> Evaluation<'_> {
    ops::sound(known_whole(value)?)
}

/// A value, unless it is known in part only. It may stand for an error: as a key that is another one.
#[inline]
fn known_whole(value: Value<'_>) -> Evaluation<'_> {
    match value {
        Value::Struct(own) | Value::Optional(Some(&Value::Struct(own))) => match own.unknown() {
            Some(unknown) => Err(Fault::unknown(unknown)),
            None => Ok(value),
        },
        value => Ok(value),
    }
}

/// An object of the input.
#[inline]
fn input<'a>(value: &Value<'a>) -> Option<&'a json::Object<'a>> {
    match value {
        Value::Map(Map::Json(object) | Map::Typed(object)) => Some(object),
        _ => None,
    }
}

/// A member of an input, as expressions see it through this.
#[inline]
fn seen<'a>(root: &Value<'a>, path: &[Step], member: &'a json::Value<'a>) -> Value<'a> {
    match root {
        Value::Map(Map::Typed(object)) if !leads_into_options(object, path) => Value::from_typed_json(member),
        _ => Value::from_json(member),
    }
}

/// The member at the end of a path through objects; `None` where it is not there, and where the path is of another kind.
fn member<'a>(object: &'a json::Object<'a>, path: &[Step]) -> Option<&'a json::Value<'a>> {
    let (last, way) = path.split_last()?;
    last.find(by(object, way)?)?
}

/// Whether the first step of a path finds options, which only requests have.
#[inline]
fn leads_into_options(object: &json::Object<'_>, path: &[Step]) -> bool {
    let [
        Step {
            key: Key::Name(name) | Key::Declared(name),
            ..
        },
        ..,
    ] = path
    else {
        return false;
    };
    **name == *"options"
        && object
            .get(name)
            .and_then(json::Value::as_object)
            .is_some_and(|member| is_options(name, member))
}

/// Whether the last step of a path finds a member; `None` where one before does not, and where the path is of another kind.
fn presence<'a>(object: &'a json::Object<'a>, path: &[Step]) -> Option<bool> {
    let (last, way) = path.split_last()?;
    last.find(by(object, way)?).map(|found| found.is_some())
}

/// What is in the optional at the end of a path through objects, and how many steps find a member; `None` where no step
/// is optional, where one before the first that is finds nothing, and where the path is of another kind.
fn optional_member<'a>(
    object: &'a json::Object<'a>,
    path: &[Step],
) -> Option<(Option<&'a json::Value<'a>>, u64)> {
    let first = path.iter().position(|step| step.optional)?;
    let (way, rest) = path.split_at_checked(first)?;
    // Other keys may have to be computed, even where there is nothing to look in.
    if !rest
        .iter()
        .all(|step| matches!(step.key, Key::Name(_) | Key::Declared(_)))
    {
        return None;
    }
    let mut object = by(object, way)?;
    let mut steps = way.len() as u64;
    let (last, between) = rest.split_last()?;
    for step in between {
        match step.find_optional(object)? {
            Some(json::Value::Object(member)) => object = member,
            Some(json::Value::Array(_)) => return None,
            // There is nothing in a scalar.
            Some(_) => return Some((None, steps + 1)),
            None => return Some((None, steps)),
        }
        steps += 1;
    }
    let found = last.find_optional(object)?;
    Some((found, steps + u64::from(found.is_some())))
}

#[inline]
fn by<'a>(object: &'a json::Object<'a>, way: &[Step]) -> Option<&'a json::Object<'a>> {
    way.iter()
        .try_fold(object, |object, step| step.find(object)??.as_object())
}

/// The member of an object of the input by its name: what most steps are.
#[inline]
fn plain_member<'a>(object: &Value<'a>, step: &Step) -> Option<Value<'a>> {
    match (object, &step.key) {
        (Value::Map(Map::Json(object)), Key::Name(name) | Key::Declared(name)) => {
            object.get(name).map(Value::from_json)
        }
        (Value::Map(Map::Typed(object)), Key::Name(name) | Key::Declared(name)) => object
            .get(name)
            .map(|value| Value::from_typed_member(name, value)),
        _ => None,
    }
}

#[cold]
fn invalid_key(of: &str) -> Fault {
    Fault::error(format!("invalid qualifier type: {of}"))
}
