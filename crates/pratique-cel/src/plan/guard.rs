//! Run-time checks of the types of arguments.

use std::sync::Arc;

use crate::types::Type;
use crate::value::Value;

/// The types that arguments have to have; none if every argument is accepted.
pub(super) fn guards(params: &Arc<[Type]>) -> Arc<[Type]> {
    if params.iter().all(is_any) {
        Arc::default()
    } else {
        params.clone()
    }
}

/// Whether arguments have their types. Arguments without a guard pass.
pub(super) fn accept_all(guards: &[Type], arguments: &[Value<'_>]) -> bool {
    guards
        .iter()
        .zip(arguments)
        .all(|(of, argument)| accepts(of, argument))
}

fn is_any(of: &Type) -> bool {
    matches!(
        of,
        Type::Dyn | Type::Error | Type::Any | Type::Param(_) | Type::Free(_)
    )
}

/// Whether a value has a type. Of lists and maps, only the first element or entry is checked.
fn accepts(of: &Type, value: &Value<'_>) -> bool {
    match (of, value) {
        (Type::Null, Value::Null)
        | (Type::Bool, Value::Bool(_))
        | (Type::Int, Value::Int(_))
        | (Type::Uint, Value::Uint(_))
        | (Type::Double, Value::Double(_))
        | (Type::String, Value::String(_))
        | (Type::Bytes, Value::Bytes(_))
        | (Type::Timestamp, Value::Timestamp(_))
        | (Type::Duration, Value::Duration(_))
        | (Type::Type(_), Value::Type(_))
        | (Type::Wrapper(_), Value::Null) => true,
        (Type::List(element), Value::List(list)) => list.get(0).is_none_or(|first| accepts(element, &first)),
        (Type::Map(key, value), Value::Map(map)) => map
            .entry(0)
            .is_none_or(|(first, of_first)| accepts(key, &first) && accepts(value, &of_first)),
        (Type::Wrapper(inner), value) => accepts(inner, value),
        (Type::Struct(name) | Type::Opaque(name, _), value) => value.type_name() == &**name,
        (of, _) => is_any(of),
    }
}
