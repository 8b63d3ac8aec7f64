//! Tests of the clauses over values.

use super::*;
use crate::arena::Arena;
use crate::time::{Duration, Timestamp};
use crate::value::{List, Map};

fn format(text: &str, arguments: &[Value<'_>]) -> Result<String, String> {
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let arguments = [Value::String(text), Value::List(List::Values(arguments))];
    match call(&context, &arguments) {
        Ok(Value::String(text)) => Ok(text.to_owned()),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.to_string()),
    }
}

fn check(text: &str, arguments: &[Value<'_>], expected: &str) {
    let formatted = format(text, arguments).unwrap_or_else(|error| format!("error: {error}"));
    assert_eq!(formatted, expected, "{text}");
}

fn list(elements: &[Value<'static>]) -> Value<'static> {
    Value::List(List::Values(elements.to_vec().leak()))
}

fn map(entries: &[(Value<'static>, Value<'static>)]) -> Value<'static> {
    Value::Map(Map::Entries(entries.to_vec().leak()))
}

fn timestamp(text: &str) -> Value<'static> {
    Value::Timestamp(Timestamp::parse(text).unwrap())
}

fn duration(text: &str) -> Value<'static> {
    Value::Duration(Duration::parse(text).unwrap())
}

#[test]
fn clauses() {
    check("no clause, 100%%", &[], "no clause, 100%");
    check(
        "%s %s %s",
        &[Value::String("a\"é"), Value::Bytes("é".as_bytes()), Value::Null],
        "a\"é é null",
    );
    check(
        "%s %s %s",
        &[Value::Double(1e6), Value::Bool(true), Value::Type("int")],
        "1e+06 true int",
    );
    check(
        "%s",
        &[timestamp("2023-01-01T00:00:00+02:00")],
        "2023-01-01T00:00:00+02:00",
    );
    check(
        "%d %d",
        &[Value::Int(-7), Value::Uint(u64::MAX)],
        "-7 18446744073709551615",
    );
    check(
        "%.3f|%f",
        &[Value::Double(1_234.567_8), Value::String("-Infinity")],
        "1,234.568|-∞",
    );
    check(
        "%e|%.9e",
        &[Value::Double(1_234.567_8), Value::String("NaN")],
        "1.234568×10⁰³|      NaN",
    );
    check(
        "%b %b %b",
        &[Value::Int(-5), Value::Bool(true), Value::Uint(5)],
        "-101 1 101",
    );
    check(
        "%x %X %x %X",
        &[
            Value::Int(-255),
            Value::Uint(255),
            Value::String("é"),
            Value::Bytes(&[10, 255]),
        ],
        "-ff FF c3a9 0AFF",
    );
    check(
        "%o %.5s",
        &[Value::Int(-9), Value::String("precision is for numbers")],
        "-11 precision is for numbers",
    );
}

#[test]
fn members_look_like_literals() {
    let members = list(&[
        Value::Int(1),
        Value::Uint(2),
        Value::Double(1.0 / 3.0),
        Value::Double(f64::INFINITY),
        Value::String("a\"\n"),
        Value::Bytes(b"x"),
        Value::Null,
        Value::Bool(false),
        Value::Type("list"),
        list(&[]),
    ]);
    check(
        "%s",
        &[members],
        r#"[1, 2, 0.333333, "+Inf", "a\"\n", b"x", null, false, list, []]"#,
    );
    let members = list(&[timestamp("2023-01-01T00:00:00Z"), duration("90m")]);
    check(
        "%s",
        &[members],
        r#"[timestamp("2023-01-01T00:00:00Z"), duration("5400s")]"#,
    );
    let entries = map(&[
        (Value::String("b"), Value::Int(1)),
        (Value::Int(10), Value::String("x")),
        (Value::Bool(true), map(&[])),
        (Value::Int(9), Value::Double(2.0)),
    ]);
    check("%s", &[entries], r#"{"b":1, 10:"x", 9:2.000000, true:{}}"#);
}

#[test]
fn errors() {
    check("%s %s", &[Value::Null], "error: index 1 out of range");
    check("%", &[], "error: index 0 out of range");
    check("100%", &[Value::Null], "error: unexpected end of string");
    check(
        "%q",
        &[Value::Null],
        "error: could not parse formatting clause: unrecognized formatting clause \"q\"",
    );
    check(
        "%é",
        &[Value::Null],
        "error: could not parse formatting clause: unrecognized formatting clause \"Ã\"",
    );
    check(
        "%.",
        &[Value::Null],
        "error: could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
    );
    check(
        "%.x",
        &[Value::Null],
        "error: could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
    );
    check(
        "%d",
        &[Value::Double(1.0)],
        "error: error during formatting: decimal clause can only be used on integers, was given double",
    );
    check(
        "%f",
        &[Value::String("1")],
        "error: error during formatting: fixed-point clause can only be used on doubles, was given string",
    );
    check(
        "%x",
        &[list(&[])],
        "error: error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given list",
    );
    check(
        "%s",
        &[Value::Optional(None)],
        "error: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type",
    );
    check(
        "%s",
        &[list(&[Value::Optional(None)])],
        "error: error during formatting: no formatting function for optional_type",
    );
    check(
        "%s",
        &[map(&[(Value::Double(1.0), Value::Null)])],
        "error: error during formatting: no formatting function for map key of type double",
    );
    check(
        "%s",
        &[Value::Bytes(&[255])],
        "error: error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string",
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let mut nested = list(&[]);
    for _ in 0..900 {
        nested = list(&[nested]);
    }
    assert!(format("%s", &[nested]).is_err());
}
