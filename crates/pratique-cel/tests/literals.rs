//! Literals that can only be wrong are refused where literals are checked, and are values or errors elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use pratique_cel::{Arena, Context, Environment, Type};

/// The column and message of each fault; the fault of a plan has no column.
fn faults(environment: &Environment, text: &str) -> Vec<String> {
    match environment.compile(text) {
        Ok(_) => Vec::new(),
        Err(error) => error
            .to_string()
            .lines()
            .filter(|line| !line.starts_with(" |"))
            .map(|line| line.replace("ERROR: <input>:1:", ""))
            .collect(),
    }
}

fn strict() -> Environment {
    Environment::kubernetes()
        .with_variable("any", Type::Dyn)
        .with_variable("name", Type::String)
        .with_variable("maybe", Type::optional(Type::Int))
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(faults(&strict(), text), expected, "{text}");
}

#[test]
fn durations() {
    check("duration('1h30m') > duration('0.5s')", &[]);
    check("duration('-1.5h')", &[]);
    check("duration(name)", &[]);
    check("duration('1 h')", &["10: invalid duration argument"]);
    check("duration('')", &["10: invalid duration argument"]);
    check("duration('1d')", &["10: invalid duration argument"]);
    check(
        "true || duration('x') > duration('y')",
        &["18: invalid duration argument", "34: invalid duration argument"],
    );
}

#[test]
fn timestamps() {
    check("timestamp('2024-02-29T23:59:59Z')", &[]);
    check("timestamp('2024-02-29T23:59:59.123+02:00')", &[]);
    check("timestamp(name)", &[]);
    check(
        "timestamp('2024-02-30T00:00:00Z')",
        &["11: invalid timestamp argument"],
    );
    check("timestamp('2024-02-29')", &["11: invalid timestamp argument"]);
    check("[1].map(x, timestamp('x'))", &["22: invalid timestamp argument"]);
}

#[test]
fn patterns() {
    check("name.matches('^a{2,3}$')", &[]);
    check("name.matches(name)", &[]);
    check("name.matches('(')", &["14: invalid matches argument"]);
    check("name.matches('a**')", &["14: invalid matches argument"]);
    check("name.matches('a{1001}')", &["14: invalid matches argument"]);
    // The functions of Kubernetes find out when the pattern is compiled, still before any evaluation.
    check(
        "name.find('[')",
        &["program instantiation failed: error parsing regexp: missing closing ]: `[`"],
    );
}

#[test]
fn lists_and_maps_of_one_type() {
    check("[1, 2] + []", &[]);
    check("{'a': 1, 'b': 2}", &[]);
    check("[any, any.x]", &[]);
    check("[?maybe, 1]", &[]);
    check("'%s %d'.format(['a', 1])", &[]);
    check("[1, 'a']", &["5: expected type 'int' but found 'string'"]);
    check("[1, 2.0]", &["5: expected type 'int' but found 'double'"]);
    check("[name, any]", &["8: expected type 'string' but found 'dyn'"]);
    check(
        "{'a': 1, 'b': 'c'}",
        &["15: expected type 'int' but found 'string'"],
    );
    check("{'a': 1, 2: 3}", &["10: expected type 'string' but found 'int'"]);
    check(
        "[[1], ['a']]",
        &["7: expected type 'list(int)' but found 'list(string)'"],
    );
    check("[name, ?maybe]", &["9: expected type 'string' but found 'int'"]);
}

#[test]
fn formats() {
    check("'%d of %s'.format([1, name])", &[]);
    check(
        "'%d'.format([name])",
        &["14: error during formatting: decimal clause can only be used on integers, was given string"],
    );
    check("'%s %s'.format([name])", &["15: index 1 out of range"]);
    check(
        "'%s'.format([name, name])",
        &["12: too many arguments supplied to string.format (expected 1, got 2)"],
    );
}

#[test]
fn conversions_of_constants() {
    check("int('12') + int(1.5)", &[]);
    check("int(name)", &[]);
    let refused = "program instantiation failed: type conversion error from 'string' to 'int'";
    check("true || int('x') == 1", &[refused]);
}

#[test]
fn without_the_checks_they_are_errors_of_the_evaluation() {
    let environment = Environment::standard().with_variable("name", Type::String);
    for (text, expected) in [
        ("size([1, 'a'])", "Int(2)"),
        ("{'a': 1, 2: 'b'}[2]", "String(\"b\")"),
        ("true || int('x') == 1", "Bool(true)"),
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
        ("true || duration('x') == duration('y')", "Bool(true)"),
        ("true || 'a'.matches('(')", "Bool(true)"),
        ("[1][dyn(b'a')]", "invalid qualifier type: types.Bytes"),
    ] {
        let program = environment.compile(text).expect(text);
        let arena = Arena::new();
        let result = program.evaluate(&Context::new(&arena, 1_000), &environment.activation());
        let found = result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"));
        assert_eq!(found, expected, "{text}");
    }
}
