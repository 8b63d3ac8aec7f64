//! Expressions of policies over a Pod: from text to a checked tree, to a program, to a value.

use pratique_benches::{EXPRESSIONS, POD};
use pratique_harness::Error;
use serde_json::{Value, json};

use super::contest::{Contest, Measure, Results};
use super::side::{Program, Side};
use super::{Against, Arguments, build};

/// Builds both sides, sees that they find the same values and costs, and holds the contest.
pub(super) fn contest(arguments: &Arguments) -> Result<Results, Error> {
    let program = match arguments.against {
        Some(Against::CelCrate) => build::with_cel_crate()?,
        Some(Against::Go) | None => build::ours()?,
    };
    let setup = setup()?;
    let (mut ours, mut facts) = Program::start(&program, &["cel"], &setup)?;
    let other = match arguments.against {
        Some(Against::Go) => match build::go("cel", "bench", &program)? {
            Some(other) => Some(Program::start(&other, &[], &setup)?),
            None => None,
        },
        Some(Against::CelCrate) => {
            drop_costs(&mut facts);
            Some(Program::start(&program, &["cel-crate"], &setup)?)
        }
        None => None,
    };
    let mut theirs = match other {
        Some((_, found)) if found != facts => {
            return Err(format!("the sides differ: ours {facts}, theirs {found}").into());
        }
        Some((theirs, _)) => Some(theirs),
        None => None,
    };
    let theirs = theirs.as_mut().map(|theirs| theirs as &mut dyn Side);
    plan(arguments).hold(&mut ours, theirs)
}

/// Leaves of the facts what a side without costs finds.
fn drop_costs(facts: &mut Value) {
    let cases = facts.get_mut("cases").and_then(Value::as_object_mut);
    for case in cases.into_iter().flatten().map(|(_, case)| case) {
        if let Some(case) = case.as_object_mut() {
            case.remove("cost");
        }
    }
}

fn plan(arguments: &Arguments) -> Contest {
    let both = |name: &str| arguments.against != Some(Against::CelCrate) || CEL_CRATE.contains(&name);
    let wanted = |name: &str| both(name) && arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let measures = MEASURES.iter().map(|(name, title)| Measure {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
    });
    Contest {
        name: "cel".to_owned(),
        measures: measures.filter(|measure| wanted(&measure.name)).collect(),
        cases: EXPRESSIONS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rounds: arguments.rounds,
        turn: arguments.length(),
    }
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

fn setup() -> Result<Value, Error> {
    let object: Value = serde_json::from_str(POD).map_err(|error| error.to_string())?;
    let expressions = EXPRESSIONS.map(|(name, text)| json!({"name": name, "text": text}));
    Ok(json!({"object": object, "expressions": expressions}))
}
