//! Expressions of policies over a Pod: from text to a checked tree, to a program, to a value.

use pratique_benches::{EXPRESSIONS, POD};
use pratique_harness::ToolError;
use serde_json::{Value, json};

use super::contest::{ContestResults, SideContest};
use super::side::start_both;
use super::{BenchArguments, BenchPeer, build};

/// Builds both sides, sees that they find the same values and costs, and holds the contest.
pub(super) fn contest(arguments: &BenchArguments) -> Result<ContestResults, ToolError> {
    let beside_crate = arguments.against == Some(BenchPeer::CelCrate);
    let program = if beside_crate {
        build::with_cel_crate()?
    } else {
        build::ours()?
    };
    let other = build::other(arguments, "cel", &program)?;
    let other = if beside_crate {
        Some((program.as_path(), &["cel-crate"][..]))
    } else {
        other.as_deref().map(|other| (other, &[][..]))
    };
    let compared = |facts: &Value| {
        if beside_crate {
            without_costs(facts)
        } else {
            facts.clone()
        }
    };
    let sides = start_both((&program, &["cel"]), other, &setup()?, compared)?;
    let measures = MEASURES.into_iter();
    let measures = measures.filter(|(name, _)| !beside_crate || CEL_CRATE.contains(name));
    let measures: Vec<(&str, &str)> = measures.collect();
    SideContest::new(
        arguments,
        "cel",
        &measures,
        EXPRESSIONS.iter().map(|(name, _)| name),
    )
    .between(sides)
}

/// What a side without costs finds, too.
fn without_costs(facts: &Value) -> Value {
    let mut facts = facts.clone();
    let cases = facts.get_mut("cases").and_then(Value::as_object_mut);
    for case in cases.into_iter().flat_map(|cases| cases.values_mut()) {
        if let Some(case) = case.as_object_mut() {
            case.remove("cost");
        }
    }
    facts
}

/// The work, by the names that the sides know.
const MEASURES: [(&str, &str); 6] = [
    ("check", "parse and check (env.Compile)"),
    ("plan", "plan (env.Program)"),
    ("compile", "parse, check and plan (the plugin's compiler)"),
    (
        "evaluate",
        "evaluate, with cost; the variables are made (ContextEval over a Pod of its Go type)",
    ),
    (
        "evaluate-loose",
        "the same over a custom resource (ContextEval over an unstructured object)",
    ),
    (
        "review",
        "make the variables and evaluate (the plugin's evaluator over an unstructured object)",
    ),
];

/// The work that the crate `cel` does too.
const CEL_CRATE: [&str; 2] = ["compile", "evaluate"];

fn setup() -> Result<Value, ToolError> {
    let object: Value = serde_json::from_str(POD).map_err(|error| error.to_string())?;
    let expressions: Vec<Value> = EXPRESSIONS
        .iter()
        .map(|(name, text)| json!({"name": name, "text": text}))
        .collect();
    Ok(json!({"object": object, "expressions": expressions}))
}
