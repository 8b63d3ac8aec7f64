//! CEL with evaluation.

use arbitrary::Unstructured;
use pratique_cel::print::print;
use pratique_cel::{Arena, Context, FaultKind, Program, Stop, Value};
use pratique_json as json;

use super::expressions::environment;
use crate::input::{self, InputForm};

/// The cost limit of one evaluation.
const LIMIT: u64 = 50_000;

/// An expression and the object that it reads. An evaluation ends within its limit and gives the same again, also as the
/// expression is printed; with a smaller limit it gives the same, or says that it was too small.
pub fn evaluate(input: &[u8]) {
    let (text, object) = match input::read(input, 2) {
        None => return,
        Some(InputForm::Text(parts)) => {
            let [text, object] = parts.as_slice() else {
                return;
            };
            let (Ok(text), Ok(object)) = (std::str::from_utf8(text), json::parse(object)) else {
                return;
            };
            (text.to_owned(), object)
        }
        Some(InputForm::Choices(mut choices)) => {
            let object = input::value(&mut choices, 4);
            (expression(&mut choices, 5), object)
        }
    };
    let environment = environment();
    let Ok(ast) = environment.parse(&text) else {
        return;
    };
    let printed = print(&ast);
    let Ok(program) = environment
        .check_types(ast)
        .and_then(|checked| environment.plan(&checked))
    else {
        return;
    };
    let (result, cost) = evaluated(&program, &object, LIMIT);
    if result.is_ok() {
        assert!(cost <= LIMIT);
    }
    assert_eq!(
        evaluated(&program, &object, LIMIT),
        (result.clone(), cost),
        "{text:?} again"
    );
    let again = environment.compile(&printed);
    let again = again.map(|program| evaluated(&program, &object, LIMIT));
    assert_eq!(
        again.ok(),
        Some((result.clone(), cost)),
        "{text:?} printed as {printed:?}"
    );
    let (limited, _) = evaluated(&program, &object, cost / 2);
    let stopped = Err(FaultKind::Stopped(Stop::CostLimit));
    assert!(
        limited == result || limited == stopped,
        "{text:?}: {limited:?}, {result:?}"
    );
}

/// The result of an evaluation as text, and its cost.
fn evaluated(program: &Program, object: &json::Value<'_>, limit: u64) -> (Result<String, FaultKind>, u64) {
    let environment = environment();
    let arena = Arena::new();
    let context = Context::new(&arena, limit);
    let mut activation = environment.activation();
    let labels = object
        .at(&["metadata", "labels"])
        .filter(|labels| labels.as_object().is_some());
    let empty = json::Value::Object(json::Object::new());
    let numbers = json::Value::Array([3, 1, 2].map(json::Value::Int).into());
    for (name, value) in [
        ("object", object),
        ("oldObject", object),
        ("labels", labels.unwrap_or(&empty)),
        ("numbers", &numbers),
    ] {
        if let Some(slot) = environment.slot(name) {
            activation.set(slot, Value::from_json(value));
        }
    }
    let result = program.evaluate(&context, &activation);
    let outcome = result.map(|value| format!("{value:?}"));
    (outcome.map_err(|fault| fault.kind().clone()), context.cost())
}

/// An expression, with macros, operators and functions of many types.
fn expression(choices: &mut Unstructured<'_>, depth: usize) -> String {
    if depth == 0 {
        return leaf(choices);
    }
    let mut inner = || expression(choices, depth - 1);
    let (left, right) = (inner(), inner());
    const SHAPES: [&str; 30] = [
        "L",
        "L == R",
        "L != R",
        "L && R",
        "L || R",
        "!(L)",
        "L ? R : L",
        "L + R",
        "L - R",
        "L * R",
        "L / R",
        "L % R",
        "L < R",
        "L in R",
        "[L, R]",
        "{L: R}",
        "(L)[R]",
        "(L).all(x, R)",
        "(L).exists(x, x == R)",
        "(L).map(x, [x, R])",
        "(L).filter(x, R)",
        "(L).exists_one(x, R)",
        "size(L)",
        "string(L)",
        "(L).contains(R)",
        "(L).matches(R)",
        "has(object.spec) ? L : R",
        "(L).?name.orValue(R)",
        "cel.bind(x, L, [x, R])",
        "(L).split(R).join(',')",
    ];
    let shape = input::pick(choices, &SHAPES).unwrap_or("L");
    let mut text = String::new();
    for character in shape.chars() {
        match character {
            'L' => text += &left,
            'R' => text += &right,
            other => text.push(other),
        }
    }
    format!("({text})")
}

fn leaf(choices: &mut Unstructured<'_>) -> String {
    const LEAVES: [&str; 24] = [
        "object",
        "x",
        "null",
        "true",
        "1",
        "-1",
        "0",
        "2u",
        "1.5",
        "'a'",
        "''",
        "b'a'",
        "[]",
        "{}",
        "object.spec",
        "object.metadata.labels",
        "labels",
        "numbers",
        "dyn(1)",
        "duration('1h')",
        "timestamp('2020-01-01T00:00:00Z')",
        "quantity('1Gi')",
        "9223372036854775807",
        "object.?spec.?containers",
    ];
    input::pick(choices, &LEAVES).unwrap_or("x").to_owned()
}
