//! What is true of all expressions and all data.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod choices;
mod typed_expressions;
mod world;

use std::sync::OnceLock;

use pratique_cel::cost::Range;
use pratique_cel::estimate::{Sizes, UnknownSizes, estimate};
use pratique_cel::{
    Arena, Context, Environment, FaultKind, Program, Report, Stop, Type, Value, json, library,
};
use proptest::prelude::*;

use choices::{Choices, numbers};
use typed_expressions::{ALL, Of, Typed};
use world::{LONGEST, MOST, NAMES, World, data, environment, worlds};

/// What an expression gave, in a form that can be compared, and what it cost.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    result: Result<String, FaultKind>,
    cost: u64,
}

const PLENTY: u64 = 10_000_000;

fn evaluate(program: &Program, world: &World, limit: u64) -> Outcome {
    world.with(|arena, activation| {
        let context = Context::new(arena, limit);
        let result = program.evaluate(&context, activation);
        Outcome {
            result: result
                .map(|value| format!("{value:?}"))
                .map_err(|fault| fault.kind().clone()),
            cost: context.cost(),
        }
    })
}

/// A well-typed expression of some type.
fn well_typed(numbers: &[u16]) -> String {
    let mut choices = Choices::new(numbers);
    let of = *choices.one(&ALL);
    Typed::new(&mut choices).expression(of, 4)
}

/// A well-typed expression without what the reference underestimates.
fn bounded(numbers: &[u16]) -> String {
    let mut choices = Choices::new(numbers);
    let of = *choices.one(&ALL);
    let mut typed = Typed::new(&mut choices);
    typed.bounded = true;
    typed.expression(of, 4)
}

/// An expression in which some parts are of a wrong type.
fn ill_typed(numbers: &[u16]) -> String {
    let mut choices = Choices::new(numbers);
    let of = *choices.one(&ALL);
    let mut typed = Typed::new(&mut choices);
    typed.faulty = true;
    typed.expression(of, 4)
}

/// Whether an error says that a value has a type that it should not have.
fn is_type_error(kind: &FaultKind) -> bool {
    match kind {
        FaultKind::Error(text) => [
            "no such overload",
            "no such attribute",
            "no such field",
            "unsupported index type",
            "unknown type",
            "invalid type",
            "unexpected type",
            "unsupported conversion",
        ]
        .iter()
        .any(|sign| text.contains(sign)),
        // Where the reference's own code fails, a fault of data may show as one.
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn checked_expressions_end_in_no_type_error(numbers in numbers(), world in worlds()) {
        let text = well_typed(&numbers);
        let program = environment().compile(&text);
        if let Ok(Err(kind)) = program.map(|program| evaluate(&program, &world, PLENTY).result) {
            prop_assert!(!is_type_error(&kind), "{text}: {kind:?}");
        }
    }

    #[test]
    fn an_evaluation_is_repeatable_and_stops_at_its_limit(
        numbers in numbers(), world in worlds(), share in 0.0..1.2f64,
    ) {
        let text = well_typed(&numbers);
        let Ok(program) = environment().compile(&text) else { return Ok(()) };
        let whole = evaluate(&program, &world, PLENTY);
        prop_assert_eq!(&evaluate(&program, &world, PLENTY), &whole, "{}", text);
        let limit = (whole.cost as f64 * share) as u64;
        let limited = evaluate(&program, &world, limit);
        match limited.result {
            // Here the reference's own code fails: what it would have cost is nowhere to be seen.
            Err(FaultKind::Internal(_)) => {}
            // The step that passes the limit is the last.
            Err(FaultKind::Stopped(Stop::CostLimit)) => {
                prop_assert!(limited.cost > limit, "{text} stopped at {} of {limit}", limited.cost);
                prop_assert!(limited.cost <= whole.cost, "{text} cost {} of {}", limited.cost, whole.cost);
            }
            _ => {
                prop_assert!(limited.cost <= limit, "{text} went on at {} of {limit}", limited.cost);
                prop_assert_eq!(&limited, &whole, "{}", text);
            }
        }
    }

    #[test]
    fn estimates_bound_costs(numbers in numbers(), world in worlds()) {
        let text = bounded(&numbers);
        let environment = environment();
        let checked = environment.parse(&text).and_then(|ast| environment.check_types(ast));
        if let Ok(checked) = checked && let Ok(program) = environment.plan(&checked) {
            let bounds = estimate(&checked, &Largest);
            let outcome = evaluate(&program, &world, PLENTY);
            prop_assert!(outcome.cost <= bounds.max, "{text} cost {} of {bounds}", outcome.cost);
        }
    }

    #[test]
    fn larger_data_cost_no_less(numbers in numbers(), sizes in (0usize..20, 0usize..5), more in (0usize..20, 0usize..5)) {
        let mut choices = Choices::new(&numbers);
        let of = *choices.one(&[Of::Int, Of::Bool, Of::Text, Of::Texts]);
        let text = Typed::growing(&mut choices).expression(of, 3);
        let program = environment().compile(&text);
        prop_assert!(program.is_ok(), "{text}: {program:?}");
        let smaller = World::of_size(sizes.0, sizes.1);
        let larger = World::of_size(sizes.0 + more.0, sizes.1 + more.1);
        if let Ok(program) = program {
            let (smaller, larger) = (evaluate(&program, &smaller, PLENTY), evaluate(&program, &larger, PLENTY));
            prop_assert!(smaller.cost <= larger.cost, "{text} cost {} and {}", smaller.cost, larger.cost);
        }
    }

    #[test]
    fn no_expression_and_no_data_is_too_odd(numbers in numbers(), data in data()) {
        let text = ill_typed(&numbers);
        survive(&text, &data);
    }

    #[test]
    fn no_text_is_too_odd(text in any::<String>(), data in data()) {
        survive(&text, &data);
    }
}

/// The sizes of data at most.
struct Largest;

impl Sizes for Largest {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        // What the expression makes has a path without a variable.
        if path.first().is_none_or(|root| root.starts_with('@')) {
            return None;
        }
        match of {
            Type::String | Type::Bytes => Some(Range::new(0, LONGEST as u64)),
            Type::List(_) | Type::Map(..) => Some(Range::new(0, MOST as u64)),
            _ => None,
        }
    }
}

/// An environment in which nothing is known of the variables.
fn untyped() -> &'static Environment {
    static MADE: OnceLock<Environment> = OnceLock::new();
    MADE.get_or_init(|| {
        let base = Environment::kubernetes()
            .with_library(library::json_patch())
            .with_library(library::mutation::library());
        NAMES.iter().fold(base, |environment, name| {
            environment.with_variable(name, Type::Dyn)
        })
    })
}

/// Compiles and evaluates, whatever that gives.
fn survive(text: &str, data: &str) {
    let environment = untyped();
    let Ok(ast) = environment.parse(text) else { return };
    let checked = match environment.check_types(ast.clone()) {
        Ok(checked) => checked,
        Err(_) => environment.check_loosely(ast),
    };
    let _ = Report::new(environment, &checked, &UnknownSizes).to_string();
    let Ok(program) = environment.plan(&checked) else {
        return;
    };
    let data = json::parse(data.as_bytes()).expect("the data is JSON");
    let arena = Arena::new();
    let context = Context::new(&arena, PLENTY);
    let mut activation = environment.activation();
    for (index, name) in NAMES.iter().enumerate() {
        // Some variables have no value.
        let value = data.as_array().and_then(|all| all.get(index));
        if let (Some(slot), Some(value)) = (environment.slot(name), value) {
            activation.set(slot, Value::from_json(value));
        }
    }
    let _ = program.evaluate(&context, &activation);
}
