//! Expressions of policies over a Pod: from text to a checked tree, to a program, to a value.

use pratique_benches::{EXPRESSIONS, POD};
use serde_json::{Value, json};

use super::contest::{Contest, Measure, Results};
use super::side::{Program, Side};
use super::{Against, Arguments, build};

/// Builds both sides, sees that they find the same values and costs, and holds the contest.
pub(super) fn contest(arguments: &Arguments) -> Result<Results, String> {
    let program = build::ours()?;
    let other = match arguments.against {
        Some(Against::Go) => build::go("cel", "bench", &program)?,
        None => None,
    };
    let setup = setup()?;
    let (mut ours, facts) = Program::start(&program, &["cel"], &setup)?;
    let mut theirs = match other {
        Some(other) => {
            let (theirs, found) = Program::start(&other, &[], &setup)?;
            if found != facts {
                return Err(format!("the sides differ: ours {facts}, theirs {found}"));
            }
            Some(theirs)
        }
        None => None,
    };
    let theirs = theirs.as_mut().map(|theirs| theirs as &mut dyn Side);
    plan(arguments).hold(&mut ours, theirs)
}

fn plan(arguments: &Arguments) -> Contest {
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
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

fn setup() -> Result<Value, String> {
    let object: Value = serde_json::from_str(POD).map_err(|error| error.to_string())?;
    let expressions = EXPRESSIONS.map(|(name, text)| json!({"name": name, "text": text}));
    Ok(json!({"object": object, "expressions": expressions}))
}
