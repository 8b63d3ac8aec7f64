//! CEL: parsing, checking, planning and evaluating realistic expressions over one Pod, ours beside the `cel` crate.
//!
//! `cargo bench --bench expressions`

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up should stop")]

use divan::{Bencher, black_box};
use pratique_benches::{EXPRESSIONS, POD};
use pratique_cel::{Arena, Context, Environment, Type, Value, library};

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    EXPRESSIONS.iter().map(|(name, _)| *name)
}

fn text(name: &str) -> &'static str {
    EXPRESSIONS
        .iter()
        .find(|(own, _)| *own == name)
        .map_or("", |(_, text)| text)
}

fn environment() -> Environment {
    library::kubernetes().with_variable("object", Type::Dyn)
}

#[divan::bench(args = names())]
fn parse(bencher: Bencher<'_, '_>, name: &str) {
    let environment = environment();
    bencher.bench(|| environment.parse(black_box(text(name))));
}

#[divan::bench(args = names())]
fn check(bencher: Bencher<'_, '_>, name: &str) {
    let environment = environment();
    bencher
        .with_inputs(|| environment.parse(text(name)).expect("parses"))
        .bench_values(|ast| environment.check(ast));
}

#[divan::bench(args = names())]
fn plan(bencher: Bencher<'_, '_>, name: &str) {
    let environment = environment();
    let checked = environment
        .check(environment.parse(text(name)).expect("parses"))
        .expect("checks");
    bencher.bench(|| environment.plan(black_box(&checked)));
}

#[divan::bench(args = names())]
fn evaluate(bencher: Bencher<'_, '_>, name: &str) {
    let environment = environment();
    let program = environment.compile(text(name)).expect("compiles");
    let slot = environment.slot("object").expect("is declared");
    let pod = pratique_json::parse(POD.as_bytes()).expect("is JSON");
    bencher.bench_local(|| {
        let arena = Arena::new();
        let mut activation = environment.activation();
        activation.set(slot, Value::from_json(&pod));
        let context = Context::new(&arena, 1_000_000);
        matches!(program.evaluate(&context, &activation), Ok(Value::Bool(_)))
    });
}

#[divan::bench(args = names())]
fn parse_by_cel_crate(bencher: Bencher<'_, '_>, name: &str) {
    bencher.bench(|| cel::Program::compile(black_box(text(name))));
}

#[divan::bench(args = names())]
fn evaluate_by_cel_crate(bencher: Bencher<'_, '_>, name: &str) {
    let program = cel::Program::compile(text(name)).expect("compiles");
    let pod: serde_json::Value = serde_json::from_str(POD).expect("is JSON");
    let mut context = cel::Context::default();
    context.add_variable("object", pod).expect("converts");
    bencher.bench_local(|| program.execute(&context).is_ok());
}
