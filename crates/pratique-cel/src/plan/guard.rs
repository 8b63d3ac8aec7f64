//! Run-time checks of the types of arguments.

use std::sync::Arc;

use crate::types::Type;
use crate::value::Value;

/// The type that an argument has to have.
#[derive(Clone, Debug)]
pub(super) enum Guard {
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    Type,
    Optional,
    /// A list. Only its first element is checked.
    List(Box<Guard>),
    /// A map. Only its first entry is checked.
    Map(Box<Guard>, Box<Guard>),
    /// A structured or abstract type.
    Named(Arc<str>),
    /// Null, or another type.
    Nullable(Box<Guard>),
}

impl Guard {
    /// The guards of parameters, one each.
    pub(super) fn each(params: &[Type]) -> Box<[Guard]> {
        params.iter().map(Guard::of).collect()
    }

    /// The guards of parameters; none if every argument is accepted.
    pub(super) fn all(params: &[Type]) -> Box<[Guard]> {
        let guards = Guard::each(params);
        if guards.iter().all(|guard| matches!(guard, Guard::Any)) {
            return Box::default();
        }
        guards
    }

    fn of(param: &Type) -> Guard {
        match param {
            Type::Dyn | Type::Error | Type::Any | Type::Param(_) | Type::Free(_) => Guard::Any,
            Type::Null => Guard::Null,
            Type::Bool => Guard::Bool,
            Type::Int => Guard::Int,
            Type::Uint => Guard::Uint,
            Type::Double => Guard::Double,
            Type::String => Guard::String,
            Type::Bytes => Guard::Bytes,
            Type::Timestamp => Guard::Timestamp,
            Type::Duration => Guard::Duration,
            Type::Type(_) => Guard::Type,
            Type::List(element) => Guard::List(Box::new(Guard::of(element))),
            Type::Map(key, value) => Guard::Map(Box::new(Guard::of(key)), Box::new(Guard::of(value))),
            Type::Wrapper(inner) => Guard::Nullable(Box::new(Guard::of(inner))),
            optional if optional.optional_value().is_some() => Guard::Optional,
            Type::Struct(name) | Type::Opaque(name, _) => Guard::Named(name.clone()),
        }
    }

    /// Whether an argument has the type.
    pub(super) fn accepts(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Guard::Any, _)
            | (Guard::Null, Value::Null)
            | (Guard::Bool, Value::Bool(_))
            | (Guard::Int, Value::Int(_))
            | (Guard::Uint, Value::Uint(_))
            | (Guard::Double, Value::Double(_))
            | (Guard::String, Value::String(_))
            | (Guard::Bytes, Value::Bytes(_))
            | (Guard::Timestamp, Value::Timestamp(_))
            | (Guard::Duration, Value::Duration(_))
            | (Guard::Type, Value::Type(_))
            | (Guard::Optional, Value::Optional(_))
            | (Guard::Nullable(_), Value::Null) => true,
            (Guard::List(element), Value::List(list)) => {
                list.get(0).is_none_or(|first| element.accepts(&first))
            }
            (Guard::Map(key, value), Value::Map(map)) => map
                .entry(0)
                .is_none_or(|(first, of_first)| key.accepts(&first) && value.accepts(&of_first)),
            (Guard::Named(name), value) => value.type_name() == &**name,
            (Guard::Nullable(inner), value) => inner.accepts(value),
            _ => false,
        }
    }
}

/// Whether arguments pass their guards. Arguments without a guard pass.
pub(super) fn accept_all(guards: &[Guard], arguments: &[Value<'_>]) -> bool {
    guards
        .iter()
        .zip(arguments)
        .all(|(guard, argument)| guard.accepts(argument))
}
