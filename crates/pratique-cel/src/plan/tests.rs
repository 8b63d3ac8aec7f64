//! Tables of expressions with what they give, and what they cost.

use std::fmt::Write;

use pratique_json as json;

use crate::arena::Arena;
use crate::ast::ExprId;
use crate::context::Context;
use crate::environment::Environment;
use crate::ops::format_value;
use crate::plan::{EvaluationObserver, Program};
use crate::types::Type;
use crate::value::{Evaluation, Value};

const CARGO: &str = r#"{
    "ship": "Aurora", "crew": 12, "tonnage": 3.5, "sunk": false, "flag": null,
    "holds": [{"grain": 4, "sealed": true}, {"grain": 7}],
    "ports": ["Ancona", "Bari", "Corfu"],
    "tags": {"a": 1, "b": 2},
    "weight": "4Gi", "dock": "10.1.2.3", "pier": "10.1.0.0/16", "chart": "https://sea.example/chart?at=1", "edition": "1.2.3"
}"#;

fn environment() -> Environment {
    Environment::kubernetes()
        .with_variable("cargo", Type::Dyn)
        .with_variable("absent", Type::Dyn)
}

fn with_program<T>(
    text: &str,
    limit: u64,
    evaluate: impl FnOnce(Evaluation<'_>, u64) -> T,
) -> Result<T, String> {
    let environment = environment();
    let program = environment.compile(text).map_err(|error| error.to_string())?;
    let cargo = json::parse(CARGO.as_bytes()).unwrap();
    let arena = Arena::new();
    let context = Context::new(&arena, limit);
    let mut activation = environment.activation();
    activation.set(environment.slot("cargo").unwrap(), Value::from_json(&cargo));
    let result = program.evaluate(&context, &activation);
    Ok(evaluate(result, context.cost()))
}

fn outcome(text: &str) -> String {
    let outcome = |result: Evaluation<'_>, _| {
        result.map_or_else(|fault| fault.to_string(), |value| format_value(&value))
    };
    with_program(text, u64::MAX, outcome).unwrap_or_else(|error| error)
}

/// Checks the value of an expression, or its error.
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text), expected, "{text}");
}

/// Checks what an expression costs.
fn check_cost(text: &str, expected: u64) {
    let cost = with_program(text, u64::MAX, |_, cost| cost);
    assert_eq!(cost, Ok(expected), "{text}");
}

#[test]
fn members() {
    check("cargo.ship", "Aurora");
    check("cargo.holds[1].grain", "7");
    check("cargo.holds[cargo.tags.a].grain", "7");
    check("cargo['sh' + 'ip']", "Aurora");
    check("cargo.cook", "no such key: cook");
    check("cargo.ship.name", "no such key: name");
    check("cargo.holds.first", "unsupported index type 'string' in list");
    check("cargo.ports[3]", "index out of bounds: 3");
    check("cargo.ports[dyn(1.0)]", "Bari");
    check(
        "cargo.ports[cargo.tonnage]",
        "unsupported index value 3.5 in list",
    );
    check("cargo.tags[cargo.flag]", "invalid qualifier type: types.Null");
    check(
        "cargo.tags[cargo.ports]",
        "invalid qualifier type: *types.baseList",
    );
    check(
        "[cargo.flag].map(f, cargo.tags[f])",
        "invalid qualifier type: types.Null",
    );
    check("{1: 'a'}[dyn(1u)]", "a");
    check("{1u: 'a'}[dyn(1)]", "a");
    check("absent", "no such attribute(s): absent");
}

#[test]
fn presence_and_optionals() {
    check("has(cargo.ship)", "true");
    check("has(cargo.cook)", "false");
    check("has(cargo.ship.name)", "false");
    check("has(cargo.cook.name)", "no such key: cook");
    // Keys are computed where there is nothing to look in, too, but not behind what is not there.
    check_cost("cargo.?ship[has(cargo.cook)]", 3);
    check_cost("cargo.?cook[has(cargo.cook)]", 1);
    check_cost("cargo.?ship.name.first", 2);
    check_cost("cargo.?tags.?a.orValue(0)", 3);
    check("cargo.?ship", "optional(Aurora)");
    check("cargo.?cook.name", "optional.none()");
    check("has(cargo.?cook.name)", "false");
    check(
        "cargo.?ship.orValue('none') + cargo.?cook.orValue('none')",
        "Auroranone",
    );
    check("cargo.?cook.or(cargo.?ship).value()", "Aurora");
    check("cargo.ports[?3].hasValue()", "false");
    check("[?cargo.?ship, ?cargo.?cook]", "[Aurora]");
    check("{?'s': cargo.?ship, ?'c': cargo.?cook}", "{s: Aurora}");
    check("cargo.?ship.optMap(s, s + '!')", "optional(Aurora!)");
    check("cargo.?cook.optMap(s, s + '!')", "optional.none()");
    check("cargo.?tags.optFlatMap(t, t.?b)", "optional(2)");
    check("optional.none().value()", "optional.none() dereference");
    check("optional.ofNonZeroValue(0)", "optional.none()");
    // A binding that is not used is not computed.
    check("optional.of(1).optMap(x, 2)", "optional(2)");
}

#[test]
fn logic_absorbs_errors() {
    check("cargo.cook == 1 || true", "true");
    check("true || cargo.cook == 1", "true");
    check("cargo.cook == 1 && false", "false");
    check("cargo.cook && cargo.mate", "no such key: cook");
    check("cargo.crew || false", "no such overload");
    check("cargo.crew > 1 ? 'many' : cargo.cook", "many");
    check("cargo.crew ? 1 : 2", "no such overload");
    check("(1 / 0 == 1 || cargo.cook) && false", "false");
}

#[test]
fn equality() {
    check("cargo.crew == 12.0", "true");
    check("cargo.flag == cargo", "false");
    check("quantity('1') == quantity('1.0')", "true");
    check("dyn(quantity('1')) == dyn('1')", "no such overload");
    check("dyn(quantity('1')) != dyn('1')", "true");
    check("[dyn(quantity('1'))] == [dyn('1')]", "true");
    check(
        "[dyn(quantity('1'))] + [dyn(1)] == [dyn('1'), dyn(1)]",
        "no such overload",
    );
    check("type(cargo.crew) == int", "true");
}

#[test]
fn calls_choose_by_arguments() {
    check("cargo.ports.size() + size(cargo.ship)", "9");
    check("cargo.crew.size()", "no such overload: size");
    check("cargo.crew + 'x'", "no such overload");
    check("cargo.sunk + 1", "no such overload: _+_");
    check("cargo.crew < 'x'", "no such overload");
    check("cargo.flag < 1", "no such overload: _<_");
    check("int(cargo.flag)", "no such overload: int(null_type)");
    check("cargo.ship.startsWith('Au') && !cargo.ship.matches('^B')", "true");
    check("cargo.crew.startsWith('Au')", "no such overload");
    check(
        "dyn(cargo.?ship).matches('^A') && dyn(int).matches('^int$')",
        "true",
    );
    check(
        "dyn(cargo.?ship).matches(cargo.ship)",
        "no such overload: matches",
    );
    check("cargo.cook + cargo.mate", "no such key: cook");
    check(
        "cargo.tags.flatten()",
        "no such overload: map(dyn, dyn).flatten()",
    );
}

#[test]
fn membership() {
    check("cargo.ship in ['Aurora', 'Borea']", "true");
    check("cargo.crew in [12.0]", "true");
    check("cargo.crew in ['12']", "false");
    check("cargo.cook in []", "false");
    check("'a' in cargo.tags", "true");
    check("1 in cargo.tags", "false");
    check(
        "dyn(b'a') in [dyn('a')]",
        "internal error: runtime error: hash of unhashable type types.Bytes",
    );
    check("'a' in cargo.crew", "no such overload");
    // A key that is an optional is found by its identity, which reading a variable keeps.
    check("[optional.of(1)].exists(o, o in {o: 2})", "true");
    check("optional.of(1) in {optional.of(1): 2}", "false");
}

#[test]
fn quantifiers() {
    check("cargo.holds.all(h, h.grain > 3)", "true");
    check("cargo.holds.all(h, h.sealed)", "no such key: sealed");
    check("cargo.holds.all(h, h.sealed && false)", "false");
    check("cargo.holds.exists(h, h.sealed)", "true");
    check(
        "cargo.holds.exists(h, h.grain > 9 || h.sealed && h.grain > 4)",
        "no such key: sealed",
    );
    check("cargo.ports.exists_one(p, p == 'Bari')", "true");
    check("cargo.holds.exists_one(h, h.sealed)", "no such key: sealed");
    check("cargo.tags.all(k, k < 'c')", "true");
    check("cargo.tags.all(k, v, v < 3)", "true");
    check("cargo.ports.exists(i, p, i == 2 && p == 'Corfu')", "true");
    check(
        "cargo.crew.all(x, true)",
        "got 'types.Int', expected iterable type",
    );
    check(
        "cargo.crew.all(k, v, true)",
        "unsupported comprehension range type: types.Int",
    );
    check("cargo.holds.all(h, h.grain)", "no such overload");
}

#[test]
fn lists_and_maps_from_others() {
    check("cargo.ports.map(p, p + '!')", "[Ancona!, Bari!, Corfu!]");
    check("cargo.ports.filter(p, p.contains('B'))", "[Bari]");
    check("cargo.holds.map(h, h.grain > 4, h.grain)", "[7]");
    check("cargo.holds.map(h, h.sealed)", "no such key: sealed");
    check(
        "[2, 3, 1].map(x, 1 / (x - 1) == 1, cargo.cook)",
        "division by zero",
    );
    check("cargo.tags.transformMap(k, v, v * 10)", "{a: 10, b: 20}");
    check(
        "cargo.ports.transformList(i, p, i > 0, string(i) + p)",
        "[1Bari, 2Corfu]",
    );
    check("cargo.tags.transformMapEntry(k, v, {v: k})", "{1: a, 2: b}");
    check(
        "cargo.tags.transformMapEntry(k, v, {'x': k})",
        "insert failed: key x already exists",
    );
    check("[1, 2].map(x, [3, 4].map(y, x * y))", "[[3, 4], [6, 8]]");
    check(
        "cargo.?tags.optMap(t, [1].map(x, t.map(k, k)))",
        "optional([[a, b]])",
    );
}

#[test]
fn constants_are_computed_before() {
    check("int('9') + 1", "10");
    check(
        "true || int('nine') == 9",
        "program instantiation failed: type conversion error from 'string' to 'int'",
    );
    check(
        "'a'.find('[')",
        "program instantiation failed: error parsing regexp: missing closing ]: `[`",
    );
    check(
        "{'a': 1}[dyn(null)]",
        "program instantiation failed: invalid qualifier type: types.Null",
    );
    check("true || 1 / 0 == 1", "true");
    check("{'a': 1, 'a': 2}", "{a: 2}");
    check(
        "{b'a': 1}",
        "internal error: runtime error: hash of unhashable type types.Bytes",
    );
}

#[test]
fn what_is_made_of_a_constant_is_what_a_call_makes() {
    for (function, text, field) in [
        ("quantity", "4Gi", "weight"),
        ("ip", "10.1.2.3", "dock"),
        ("cidr", "10.1.0.0/16", "pier"),
        ("url", "https://sea.example/chart?at=1", "chart"),
        ("semver", "1.2.3", "edition"),
    ] {
        let made = format!("{function}('{text}')");
        let called = format!("{function}(cargo.{field})");
        check(&format!("{made} == {called} && {called} == {made}"), "true");
        let cost = |text: &str| with_program(text, u64::MAX, |_, cost| cost).unwrap();
        // The field costs two.
        assert_eq!(cost(&made) + 2, cost(&called), "{made}");
        let print_program = |text: &str| format!("{:?}", environment().compile(text).unwrap());
        assert!(print_program(&made).contains("Made {"), "{made}");
        assert!(!print_program(&called).contains("Made {"), "{called}");
        check(
            &format!("{function}('?')"),
            &outcome(&format!("{function}('?' + cargo.ship.substring(0, 0))")),
        );
    }
}

#[test]
fn steps_cost_one_each() {
    check_cost("cargo", 1);
    check_cost("cargo.ship", 2);
    check_cost("cargo.holds[0].grain", 4);
    check_cost("cargo.ports[cargo.tags.a]", 5);
    check_cost("has(cargo.ship)", 1);
    check_cost("has(cargo.tags.a)", 2);
    check_cost("cargo.?cook.name", 1);
    check_cost("cargo.?tags.b", 3);
    check_cost("cargo.sunk ? cargo.ship : cargo.tags.a", 4);
    check_cost("(cargo.sunk ? cargo : cargo.tags).a", 4);
    check_cost("has((cargo.sunk ? cargo : cargo.tags).a)", 3);
    check_cost("[cargo][0].ship", 14);
}

#[test]
fn calls_cost_what_they_look_at() {
    check_cost("cargo.ship == 'Aurora'", 3);
    check_cost("cargo.ship == ''", 2);
    check_cost("cargo.ports == []", 2);
    check_cost("cargo.ship + '0123456789'", 4);
    check_cost("cargo.ship.contains('ror')", 3);
    check_cost("cargo.ship.matches('^[A-Z]')", 4);
    check_cost("cargo.ship in cargo.ports", 5);
    check_cost("cargo.ship in ['Aurora']", 2);
    check_cost("cargo.crew > 1", 3);
    check_cost("[cargo.crew, cargo.ship]", 14);
    check_cost("[1, 2]", 0);
    check_cost("{'a': cargo.crew}", 32);
    check_cost("dyn(1) == int('1')", 1);
}

#[test]
fn absorbed_errors_cost_what_was_tried() {
    // Both operands of a binary operator are evaluated and it is charged; a call of many arguments ends at the first error.
    check_cost("cargo.cook + cargo.crew == 1 || true", 6);
    check_cost("cargo.cook.substring(cargo.crew, 2) == '' || true", 2);
    check_cost("cargo.cook.matches('a') || true", 2);
    check_cost("cargo.cook.matches(cargo.ship) || true", 6);
    check_cost("[cargo.cook, cargo.crew] == [] || true", 12);
}

#[test]
fn comprehensions_cost_as_the_fold_they_stand_for() {
    check_cost("[].all(x, true)", 1);
    check_cost("[1, 2].all(x, true)", 7);
    check_cost("[1, 2].all(x, false)", 6);
    check_cost("[1, 2].exists(x, false)", 9);
    check_cost("[1, 2].exists_one(x, true)", 6);
    check_cost("[1, 2].map(x, x)", 27);
    check_cost("[1, 2].map(x, 1)", 5);
    check_cost("[1, 2].filter(x, x > 1)", 18);
    check_cost("{'a': 1}.transformMap(k, v, v)", 5);
    check_cost("{'a': 1}.transformMapEntry(k, v, {k: v})", 35);
    check_cost("[1, 2].map(x, cargo.cook) == [] || true", 29);
}

/// Intrinsics cost the same for attributes and for computed operands.
#[test]
fn intrinsics_cost_the_same_for_computed_operands() {
    for (plain, computed, cost) in [
        ("!cargo.sunk", "!(true ? cargo.sunk : false)", 3),
        (
            "cargo.ship == 'Aurora'",
            "(true ? cargo.ship : '') == 'Aurora'",
            3,
        ),
        (
            "cargo.ship.startsWith('Au')",
            "(true ? cargo.ship : '').startsWith('Au')",
            3,
        ),
        (
            "cargo.ship.endsWith('u')",
            "(true ? cargo.ship : '').endsWith('u')",
            3,
        ),
        (
            "cargo.ship.contains('ror')",
            "(true ? cargo.ship : '').contains('ror')",
            3,
        ),
        (
            "cargo.ship.matches('^A.*a$')",
            "(true ? cargo.ship : '').matches('^A.*a$')",
            4,
        ),
        ("cargo.crew >= 12", "(true ? cargo.crew : 0) >= 12", 3),
        ("'a' in cargo.tags", "'a' in (true ? cargo.tags : {})", 3),
        ("!cargo.none", "!(true ? cargo.none : false)", 3),
        (
            "cargo.none.startsWith('a')",
            "(true ? cargo.none : '').startsWith('a')",
            3,
        ),
    ] {
        assert_eq!(outcome(plain), outcome(computed), "{plain}");
        check_cost(plain, cost);
        // The branch of a conditional is not charged for itself.
        check_cost(computed, cost - 1);
    }
}

#[test]
fn programs_know_what_they_read() {
    let environment = environment();
    let program = environment
        .compile("[1].exists(absent, absent == cargo.crew)")
        .unwrap();
    let reads = ["cargo", "absent"].map(|name| program.reads(environment.slot(name).unwrap()));
    assert_eq!(reads, [true, false]);
}

#[test]
fn evaluation_ends_at_the_limit() {
    let at = |text: &str, limit: u64| {
        let outcome = |result: Evaluation<'_>, cost| {
            (
                result.map_or_else(|fault| fault.to_string(), |value| format_value(&value)),
                cost,
            )
        };
        with_program(text, limit, outcome).unwrap()
    };
    let stopped = "operation cancelled: actual cost limit exceeded".to_owned();
    assert_eq!(at("cargo.crew == 12", 3), ("true".to_owned(), 3));
    assert_eq!(at("cargo.crew == 12", 2), (stopped.clone(), 3));
    assert_eq!(at("cargo.crew == 12 || true", 1), (stopped.clone(), 2));
    assert_eq!(at("[1, 2, 3].all(x, true)", 4), (stopped.clone(), 5));
    assert_eq!(at("[1, 2, 3].exists(x, cargo.cook)", 5), (stopped, 6));
}

#[test]
fn observers_see_each_expression() {
    #[derive(Default)]
    struct Notes(String);
    impl EvaluationObserver for Notes {
        fn observe(&mut self, _: ExprId, value: &Evaluation<'_>) {
            let text = value.as_ref().map_or_else(ToString::to_string, format_value);
            let _ = write!(self.0, "{text}; ");
        }
    }
    let environment = environment();
    let program = environment.compile("[1, 2].all(x, x < 2)").unwrap();
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let mut notes = Notes::default();
    let result = program.evaluate_observed(&context, &environment.activation(), &mut notes);
    assert_eq!(result.map(|value| format_value(&value)), Ok("false".to_owned()));
    assert_eq!(notes.0, "[1, 2]; 1; 2; true; 2; 2; false; false; ");
}

#[test]
fn programs_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
}

#[test]
fn deep_expressions_fit_a_small_stack() {
    let nested = (0..60).fold("cargo.crew".to_owned(), |inner, _| {
        format!("[{inner}].map(x, x)[0]")
    });
    let outcome = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || outcome(&nested))
        .unwrap()
        .join();
    let text = outcome.unwrap();
    assert!(text == "12" || text.contains("recursion"), "{text}");
}
