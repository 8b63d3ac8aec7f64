//! Tables of expressions with their types, or the faults they have.

use std::sync::Arc;

use crate::environment::Environment;
use crate::environment::StructType;
use crate::types::Type;

fn environment() -> Environment {
    let port = StructType::new(
        "harbour.Port",
        &[
            ("name", Type::String),
            ("depths", Type::map(Type::String, Type::Double)),
            ("berths", Type::list(Type::named("harbour.Berth"))),
        ],
    );
    let berth = StructType::new("harbour.Berth", &[("number", Type::Int), ("ship", Type::Dyn)]);
    Environment::kubernetes()
        .with_types(Arc::new(port))
        .with_types(Arc::new(berth))
        .with_variable("port", Type::named("harbour.Port"))
        .with_variable("port.master", Type::String)
        .with_variable("cargo", Type::Dyn)
}

fn outcome(text: &str) -> String {
    let environment = environment();
    match environment
        .parse(text)
        .and_then(|ast| environment.check_types(ast))
    {
        Ok(checked) => checked.result_type().full_name(),
        Err(error) => error.to_string(),
    }
}

/// Checks the type of an expression.
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text), expected, "{text}");
}

/// Checks the faults of an expression: for each the column, counted from 1, and the message.
fn faults(text: &str, expected: &[(usize, &str)]) {
    let shown: Vec<_> = expected
        .iter()
        .map(|(column, message)| {
            let caret = ".".repeat(column - 1) + "^";
            format!("ERROR: <input>:1:{column}: {message}\n | {text}\n | {caret}")
        })
        .collect();
    check(text, &shown.join("\n"));
}

/// A leading dot means a name outside of comprehensions, so what a macro writes with its variable does not find it.
#[test]
fn dotted_variables_of_macros() {
    check("[1].all(.x, true)", "bool");
    check("{1: 2}.transformList(.x, .y, true)", "list(bool)");
    faults(
        "[1].filter(.x, true)",
        &[(13, "undeclared reference to '.x' (in container '')")],
    );
    faults(
        "{1: 2}.transformMap(.x, y, 1)",
        &[(20, "undeclared reference to '.x' (in container '')")],
    );
}

#[test]
fn literals() {
    check("[1, 2]", "list(int)");
    check("[]", "list(dyn)");
    check("[[], [1u]]", "list(list(uint))");
    check("{'a': [], 'b': ['c']}", "map(string, list(string))");
    check("{}", "map(dyn, dyn)");
    check("[?optional.of(1), 2]", "list(int)");
    check("{?'a': cargo.?b, 'c': cargo}", "map(string, dyn)");
    check("harbour.Berth{number: 3, ship: 'a'}", "harbour.Berth");
    check("google.protobuf.Int64Value{value: 1}", "wrapper(int)");
    check("google.protobuf.Int64Value{} + 1", "int");
    faults("[1, 'a']", &[(5, "expected type 'int' but found 'string'")]);
    faults(
        "[null, port]",
        &[(8, "expected type 'null' but found 'harbour.Port'")],
    );
    faults("[cargo, 'a']", &[(9, "expected type 'dyn' but found 'string'")]);
    faults(
        "{1: 2, 'a': 2u}",
        &[
            (8, "expected type 'int' but found 'string'"),
            (13, "expected type 'int' but found 'uint'"),
        ],
    );
    faults(
        "[?1]",
        &[(3, "expected type 'optional_type(int)' but found 'int'")],
    );
    faults("harbour.Berth{depth: 1}", &[(20, "undefined field 'depth'")]);
    faults(
        "harbour.Berth{number: 'a'}",
        &[(
            21,
            "expected type of field 'number' is 'int' but provided type is 'string'",
        )],
    );
    faults(
        "harbour.Quay{}",
        &[(13, "undeclared reference to 'harbour.Quay' (in container '')")],
    );
    faults("string{}", &[(7, "'string' is not a message type")]);
}

#[test]
fn names() {
    check("port", "harbour.Port");
    check("port.name", "string");
    check("port.master", "string");
    check("port.master.size()", "int");
    check(".port.master", "string");
    check("[port].map(port, port.name)", "list(string)");
    check("[1].map(cargo, .cargo)", "list(dyn)");
    check("int", "type(int)");
    check("list", "type(list(dyn))");
    check("type(1) == int", "bool");
    check("google.protobuf.Duration", "type(google.protobuf.Duration)");
    check("google.protobuf.NullValue.NULL_VALUE", "int");
    check("harbour.Berth", "type(harbour.Berth)");
    faults(
        "cargoes",
        &[(1, "undeclared reference to 'cargoes' (in container '')")],
    );
    faults(
        "harbour.Quay",
        &[(1, "undeclared reference to 'harbour' (in container '')")],
    );
    faults(
        "[port].map(port, port.master)",
        &[(22, "undefined field 'master'")],
    );
    faults(
        "none().a(b)",
        &[
            (5, "undeclared reference to 'none' (in container '')"),
            (9, "undeclared reference to 'a' (in container '')"),
            (10, "undeclared reference to 'b' (in container '')"),
        ],
    );
}

#[test]
fn fields() {
    check("port.berths[0].ship.flag", "dyn");
    check("port.depths.north", "double");
    check("port.?depths[?'north']", "optional_type(double)");
    check("cargo.?a.b", "optional_type(dyn)");
    check("has(port.name)", "bool");
    check("has(cargo.a.b)", "bool");
    faults("port.flag", &[(5, "undefined field 'flag'")]);
    faults("has(port.flag)", &[(4, "undefined field 'flag'")]);
    faults(
        "port.name.size",
        &[(10, "type 'string' does not support field selection")],
    );
    faults(
        "[].a",
        &[(3, "type 'list(_var0)' does not support field selection")],
    );
}

#[test]
fn overloads() {
    check("1 + 2", "int");
    check("[1] + []", "list(int)");
    check("cargo + 1", "int");
    check("cargo.a + cargo.b", "dyn");
    check("cargo[0]", "dyn");
    check("1 < 1.5", "bool");
    check("port == null", "bool");
    check("null == timestamp('2024-01-01T00:00:00Z')", "bool");
    check("true ? [] : [1]", "list(int)");
    check("optional.none().orValue('a')", "string");
    check("optional.of([1]).value()[0]", "int");
    check("dyn(1) == 'a'", "bool");
    check("'a' in port.depths", "bool");
    faults(
        "1 + 1.0",
        &[(
            3,
            "found no matching overload for '_+_' applied to '(int, double)'",
        )],
    );
    faults(
        "'a'.size(1)",
        &[(
            9,
            "found no matching overload for 'size' applied to 'string.(int)'",
        )],
    );
    faults(
        "size()",
        &[(5, "found no matching overload for 'size' applied to '()'")],
    );
    faults(
        "1 == 'a'",
        &[(
            3,
            "found no matching overload for '_==_' applied to '(int, string)'",
        )],
    );
    faults(
        "[[]] + {}",
        &[(
            6,
            "found no matching overload for '_+_' applied to '(list(list(dyn)), map(dyn, dyn))'",
        )],
    );
    faults(
        "1 && 'a'",
        &[
            (1, "expected type 'bool' but found 'int'"),
            (6, "expected type 'bool' but found 'string'"),
        ],
    );
}

#[test]
fn comprehensions() {
    check("port.berths.all(b, b.number > 0)", "bool");
    check("port.berths.map(b, b.ship != null, b.number)", "list(int)");
    check("port.depths.filter(d, d != '')", "list(string)");
    check("cargo.exists(c, c.a)", "bool");
    check("[].map(x, [x])", "list(list(dyn))");
    check("[1].all(i, v, i == v)", "bool");
    check("[].map(x, x + dyn(1))", "list(bytes)");
    check("[1].transformMap(i, v, {v: i})", "map(int, map(int, int))");
    check("cargo.?a.optMap(a, a + 1)", "optional_type(int)");
    check("[1].all(x, [[x]].all(x, x.all(x, x > 0)))", "bool");
    faults(
        "port.all(x, x)",
        &[(
            1,
            "expression of type 'harbour.Port' cannot be range of a comprehension (must be list, map, or dynamic)",
        )],
    );
    faults(
        "[1].all(x, x + 'a' == 'b')",
        &[(
            14,
            "found no matching overload for '_+_' applied to '(int, string)'",
        )],
    );
}

#[test]
fn literals_that_are_no_values() {
    check("duration('1h')", "google.protobuf.Duration");
    check("cargo.matches('[a-z]+')", "bool");
    check("'%s %d'.format(['a', 1])", "string");
    check("'%s'.format([['a', {1: port.depths}]])", "string");
    check("cargo.format([1, 'a'])", "string");
    faults(
        "'%d'.format(['a'])",
        &[(
            14,
            "error during formatting: decimal clause can only be used on integers, was given string",
        )],
    );
    faults("'%d'.format([])", &[(12, "index 0 out of range")]);
    faults("'%'.format([])", &[(11, "unexpected end of string")]);
    faults(
        "'%d'.format([1, 2])",
        &[(
            12,
            "too many arguments supplied to string.format (expected 1, got 2)",
        )],
    );
    faults("duration('1 hour')", &[(10, "invalid duration argument")]);
    faults("timestamp('tomorrow')", &[(11, "invalid timestamp argument")]);
    faults("timestamp(999999999999)", &[(11, "invalid timestamp argument")]);
    faults("'a'.matches('(')", &[(13, "invalid matches argument")]);
}

#[test]
fn only_a_hundred_faults_are_shown() {
    let names: Vec<_> = (0..120).map(|index| format!("x{index}")).collect();
    let text = outcome(&format!("[{}]", names.join(",")));
    assert_eq!(text.matches("ERROR").count(), 100);
    assert!(text.ends_with("\n20 more errors were truncated"));
}

#[test]
fn types_may_be_large_but_not_boundless() {
    let doubled: String = (0..12).map(|_| ".map(x, {x: x})").collect();
    assert!(outcome(&format!("[1]{doubled}.size()")) == "int");
    let doubled: String = (0..80).map(|_| ".map(x, {x: x})").collect();
    assert!(outcome(&format!("[1]{doubled}.size()")).contains("the types of the expression are too large"));
    assert!(outcome(&format!("[1]{doubled} + 'a'")).len() < 100_000);
}

#[test]
fn the_deepest_trees_fit_a_small_stack() {
    let nested = |open: &str, close: &str, depth| format!("{}[]{}", open.repeat(depth), close.repeat(depth));
    let run = move || {
        for (open, close) in [
            ("[1].map(x, true, ", ")"),
            ("optional.of(1).optMap(x, ", ")"),
            ("[", "]"),
        ] {
            for depth in [40, 120, 240, 5_000] {
                outcome(&nested(open, close, depth));
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    assert!(thread.unwrap().join().is_ok());
}
