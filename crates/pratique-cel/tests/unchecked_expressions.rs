//! Expressions whose types nobody checked: what has no meaning is an error where it is evaluated.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop where it fails"
)]

use pratique_cel::{Arena, Context, Environment, Type, Value, library};

fn check(text: &str, expected: &str) {
    let environment = Environment::standard()
        .with_library(library::optionals())
        .with_variable("count", Type::Int)
        .with_variable("name", Type::String);
    let ast = environment.parse(text).expect(text);
    let program = environment.plan(&environment.check_loosely(ast)).expect(text);
    let arena = Arena::new();
    let mut activation = environment.activation();
    activation.set(environment.slot("count").expect("declared"), Value::Int(3));
    activation.set(environment.slot("name").expect("declared"), Value::String("abc"));
    let result = program.evaluate(&Context::new(&arena, 1_000), &activation);
    let found = result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"));
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_is_well_typed_is_as_ever() {
    check("count + 1", "Int(4)");
    check("[count].exists(c, c > 2) && name.startsWith('a')", "Bool(true)");
    check("[1, 'a'].size() == 2 ? {'k': name}.k : ''", "String(\"abc\")");
}

#[test]
fn what_does_not_fit_is_an_error_of_the_evaluation() {
    check("count + name", "no such overload");
    check("name.startsWith(count)", "no such overload");
    check("count.field", "no such key: field");
    check("name ? 1 : 2", "no such overload");
    check("count && name", "no such overload");
    check("1.all(x, x)", "got 'types.Int', expected iterable type");
    check("name[0]", "no such key: 0");
}

#[test]
fn what_is_not_declared_has_no_value() {
    check("nothing", "no such attribute(s): nothing");
    check("nothing.at.all", "no such attribute(s): nothing");
    check("nothing(1)", "no such overload: nothing");
    check("count.nothing()", "no such overload: nothing");
}

#[test]
fn errors_are_absorbed_as_ever() {
    check("true || count + name == 2", "Bool(true)");
    check("nothing(1) || true", "Bool(true)");
    check("nothing && false", "Bool(false)");
    check("count == 3 ? 1 : nothing", "Int(1)");
}
