//! The limit of an evaluation's cost: where it is, and that nothing absorbs having passed it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use pratique_cel::function::Function;
use pratique_cel::{Arena, Context, Environment, FaultKind, Interrupt, Stop, Type, Value, json};

/// What an expression gives with a limit, and what it cost until then.
fn evaluate(text: &str, limit: u64) -> (Result<String, FaultKind>, u64) {
    let environment = Environment::kubernetes().with_variable("numbers", Type::list(Type::Int));
    let program = environment.compile(text).expect(text);
    let numbers = json::parse(b"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]").expect("a list");
    let arena = Arena::new();
    let context = Context::new(&arena, limit);
    let mut activation = environment.activation();
    activation.set(
        environment.slot("numbers").expect("declared"),
        Value::from_json(&numbers),
    );
    let result = program.evaluate(&context, &activation);
    let shown = result
        .map(|value| format!("{value:?}"))
        .map_err(|fault| fault.kind().clone());
    (shown, context.cost())
}

const PASSED: FaultKind = FaultKind::Stopped(Stop::CostLimit);

#[test]
fn the_limit_itself_may_be_reached() {
    for text in [
        "numbers.all(n, n > 0)",
        "numbers.map(n, n * n)",
        "'abc'.matches('a+b') && numbers.size() == 10",
        "numbers.sum() + numbers.max()",
    ] {
        let (whole, cost) = evaluate(text, u64::MAX);
        assert!(whole.is_ok(), "{text}: {whole:?}");
        assert_eq!(evaluate(text, cost), (whole, cost), "{text}");
        assert_eq!(evaluate(text, cost - 1).0, Err(PASSED), "{text}");
        assert_eq!(evaluate(text, 0).0, Err(PASSED), "{text}");
    }
}

#[test]
fn nothing_absorbs_having_passed_it() {
    for text in [
        "numbers.all(n, n > 0) || true",
        "true == numbers.all(n, n > 0) || true",
        "!(numbers.all(n, n > 0) && false)",
        "numbers.exists(n, numbers.all(m, m != n)) || true",
        "[1].exists(x, numbers.all(n, n > 0) && false) ? 1 : 2",
        "optional.of(numbers.map(n, n)).optMap(l, true).orValue(true)",
        "[true].all(x, numbers.all(n, n > 0) || x)",
    ] {
        assert!(evaluate(text, 1_000).0.is_ok(), "{text}");
        assert_eq!(evaluate(text, 15).0, Err(PASSED), "{text}");
    }
}

#[test]
fn what_is_not_evaluated_is_not_charged() {
    assert_eq!(
        evaluate("true || numbers.all(n, n > 0)", 0).0,
        Ok("Bool(true)".to_owned())
    );
    assert_eq!(
        evaluate("false && numbers.all(n, n > 0)", 0).0,
        Ok("Bool(false)".to_owned())
    );
    assert_eq!(evaluate("true ? 1 : numbers.sum()", 0).0, Ok("Int(1)".to_owned()));
}

#[test]
fn it_ends_as_the_reference_says() {
    let environment = Environment::standard();
    let program = environment.compile("[1, 2].map(x, x + 1)").expect("compiles");
    let arena = Arena::new();
    let result = program.evaluate(&Context::new(&arena, 5), &environment.activation());
    let text = result.map(|_| ()).map_err(|fault| fault.to_string());
    assert_eq!(
        text,
        Err("operation cancelled: actual cost limit exceeded".to_owned())
    );
}

#[test]
fn several_evaluations_may_share_one_budget() {
    let environment = Environment::standard();
    let program = environment.compile("[1, 2, 3].map(x, x + 1)").expect("compiles");
    let arena = Arena::new();
    let context = Context::new(&arena, 100);
    let activation = environment.activation();
    let mut done = 0;
    while program.evaluate(&context, &activation).is_ok() {
        done += 1;
    }
    let (alone, of_one) = {
        let context = Context::new(&arena, u64::MAX);
        (program.evaluate(&context, &activation).is_ok(), context.cost())
    };
    assert!(alone);
    assert_eq!(done, 100 / of_one);
}

#[test]
fn own_functions_are_charged_by_their_costs() {
    let dear = Function::new("dear")
        .global("dear_int", &[Type::Int], Type::Int, |_, given| Ok(given[0]))
        .costing(|_, _| 500);
    let cheap = Function::new("cheap").global("cheap_int", &[Type::Int], Type::Int, |_, given| Ok(given[0]));
    let environment = Environment::standard().with_function(dear).with_function(cheap);
    let cost = |text: &str| {
        let program = environment.compile(text).expect(text);
        let arena = Arena::new();
        let context = Context::new(&arena, 1_000);
        let ended = program.evaluate(&context, &environment.activation());
        (ended.is_ok(), context.cost())
    };
    assert_eq!(cost("cheap(1)"), (true, 1));
    assert_eq!(cost("dear(1)"), (true, 500));
    assert_eq!(cost("dear(1) + cheap(2)"), (true, 502));
    assert_eq!(cost("dear(1) + dear(2)"), (false, 1_001));
}

#[test]
fn an_interrupt_stops_an_evaluation() {
    let environment = Environment::kubernetes();
    let program = environment
        .compile("lists.range(10000).all(x, x >= 0) || true")
        .expect("compiles");
    let (arena, interrupt) = (Arena::new(), Interrupt::new());
    let run = || {
        let context = Context::new(&arena, 1_000_000).with_interrupt(&interrupt);
        let result = program.evaluate(&context, &environment.activation());
        result.map(|_| ()).map_err(|fault| fault.kind().clone())
    };
    assert_eq!(run(), Ok(()));
    interrupt.set();
    assert_eq!(run(), Err(FaultKind::Stopped(Stop::Interrupted)));
}
