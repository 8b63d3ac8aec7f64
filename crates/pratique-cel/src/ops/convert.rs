//! Conversions between types: `int(x)`, `string(x)` and their like, one function for each target.
//!
//! The overloads say which types a conversion takes; others are the same error here.

use pratique_gotext::strconv::{general_form, parse_bool, parse_float, parse_int, parse_uint};

use crate::context::Context;
use crate::error::Fault;
use crate::time::{Duration, Timestamp};
use crate::value::{Evaluation, Value};

/// `bool(x)`
pub(crate) fn to_bool<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match one(arguments) {
        Value::String(text) => parse_bool(text).map(Value::Bool).map_err(|_| from_text("bool")),
        same @ Value::Bool(_) => Ok(same),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `int(x)`
pub(crate) fn to_int<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let overflow = || Fault::error("integer overflow");
    Ok(Value::Int(match one(arguments) {
        Value::Int(number) => number,
        Value::Uint(number) => i64::try_from(number).map_err(|_| overflow())?,
        // In the reference the bounds themselves are out of range, and so is NaN.
        Value::Double(number) if number > i64::MIN as f64 && number < i64::MAX as f64 => number as i64,
        Value::Double(_) => return Err(overflow()),
        Value::String(text) => parse_int(text).map_err(|_| from_text("int"))?,
        Value::Duration(duration) => duration.nanos(),
        Value::Timestamp(timestamp) => timestamp.seconds(),
        _ => return Err(Fault::no_such_overload()),
    }))
}

/// `uint(x)`
pub(crate) fn to_uint<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let overflow = || Fault::error("unsigned integer overflow");
    Ok(Value::Uint(match one(arguments) {
        Value::Uint(number) => number,
        Value::Int(number) => u64::try_from(number).map_err(|_| overflow())?,
        Value::Double(number) if number >= 0.0 && number < u64::MAX as f64 => number as u64,
        Value::Double(_) => return Err(overflow()),
        Value::String(text) => parse_uint(text).map_err(|_| from_text("uint"))?,
        _ => return Err(Fault::no_such_overload()),
    }))
}

/// `double(x)`
pub(crate) fn to_double<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Double(match one(arguments) {
        Value::Double(number) => number,
        Value::Int(number) => number as f64,
        Value::Uint(number) => number as f64,
        Value::String(text) => parse_float(text).map_err(|_| from_text("double"))?,
        _ => return Err(Fault::no_such_overload()),
    }))
}

/// `string(x)`
pub(crate) fn to_string<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let owned = |text: String| Ok(Value::String(context.arena.str(&text)));
    match one(arguments) {
        same @ Value::String(_) => Ok(same),
        Value::Bool(value) => Ok(Value::String(if value { "true" } else { "false" })),
        Value::Int(number) => owned(number.to_string()),
        Value::Uint(number) => owned(number.to_string()),
        Value::Double(number) => owned(general_form(number)),
        Value::Bytes(bytes) => std::str::from_utf8(bytes)
            .map(Value::String)
            .map_err(|_| Fault::error("invalid UTF-8 in bytes, cannot convert to string")),
        Value::Duration(duration) => owned(duration.to_string()),
        Value::Timestamp(timestamp) => owned(timestamp.to_string()),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `bytes(x)`
pub(crate) fn to_bytes<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match one(arguments) {
        Value::String(text) => Ok(Value::Bytes(text.as_bytes())),
        same @ Value::Bytes(_) => Ok(same),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `duration(x)`
pub(crate) fn to_duration<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match one(arguments) {
        Value::String(text) => Duration::parse(text)
            .map(Value::Duration)
            .map_err(|_| from_text("google.protobuf.Duration")),
        same @ Value::Duration(_) => Ok(same),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `timestamp(x)`
pub(crate) fn to_timestamp<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match one(arguments) {
        Value::String(text) => Timestamp::parse(text)
            .map(Value::Timestamp)
            .map_err(Fault::from_display),
        Value::Int(seconds) => Timestamp::from_seconds(seconds)
            .map(Value::Timestamp)
            .map_err(Fault::from_display),
        same @ Value::Timestamp(_) => Ok(same),
        _ => Err(Fault::no_such_overload()),
    }
}

/// `dyn(x)`
pub(crate) fn to_dyn<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(one(arguments))
}

/// `type(x)`
pub(crate) fn to_type<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match one(arguments) {
        Value::Struct(value) => Ok(Value::Type(value.runtime_type())),
        other => Ok(Value::Type(other.type_name())),
    }
}

fn one<'a>(arguments: &[Value<'a>]) -> Value<'a> {
    arguments.first().copied().unwrap_or(Value::Null)
}

fn from_text(target: &str) -> Fault {
    Fault::error(format!("type conversion error from 'string' to '{target}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::ops::format_value;

    #[test]
    fn conversions() {
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let check = |convert: crate::function::CallFn, from: Value<'_>, expected: &str| {
            let text = convert(&context, &[from])
                .map_or_else(|fault| fault.to_string(), |value| format_value(&value));
            assert_eq!(text, expected, "{from:?}");
        };
        check(to_int, Value::Double(1.9), "1");
        check(to_int, Value::Double(f64::NAN), "integer overflow");
        check(
            to_int,
            Value::Double(-9_223_372_036_854_775_808.0),
            "integer overflow",
        );
        check(to_int, Value::Uint(u64::MAX), "integer overflow");
        check(
            to_int,
            Value::String("x"),
            "type conversion error from 'string' to 'int'",
        );
        check(to_uint, Value::Int(-1), "unsigned integer overflow");
        check(to_uint, Value::Double(-0.5), "unsigned integer overflow");
        check(to_double, Value::String("0x1p-2"), "0.25");
        check(to_string, Value::Double(1e6), "1e+06");
        check(
            to_string,
            Value::Bytes(b"\xff"),
            "invalid UTF-8 in bytes, cannot convert to string",
        );
        check(to_bool, Value::String("t"), "true");
        check(
            to_bool,
            Value::String("TrUe"),
            "type conversion error from 'string' to 'bool'",
        );
        check(to_bytes, Value::String("a"), "[97]");
        check(to_type, Value::Null, "null_type");
    }
}
