//! Objects as a person writes them: parsed, decoded strictly, and decoded and defaulted, as before admission.

use pratique_benches::WRITTEN_POD;
use pratique_harness::Error;
use serde_json::{Map, Value, json};

use super::contest::{Contest, Measure, Results};
use super::side::{Program, Side};
use super::{Against, Arguments, build};

/// Builds both sides, sees that admission would see the same objects, and holds the contest.
pub(super) fn contest(arguments: &Arguments) -> Result<Results, Error> {
    let program = match &arguments.ours {
        Some(program) => program.clone(),
        None => build::ours()?,
    };
    let other = match arguments.against {
        Some(Against::Go) => build::go("objects", "bench", &program)?,
        Some(Against::CelCrate) | None => None,
    };
    let setup = json!({"objects": objects()?});
    let (mut ours, facts) = Program::start(&program, &["objects"], &setup)?;
    let mut theirs = match other {
        Some(other) => {
            let (theirs, found) = Program::start(&other, &[], &setup)?;
            if found != facts {
                return Err(format!("the sides differ: ours {facts}, theirs {found}").into());
            }
            Some(theirs)
        }
        None => None,
    };
    let theirs = theirs.as_mut().map(|theirs| theirs as &mut dyn Side);
    plan(arguments)?.hold(&mut ours, theirs)
}

fn plan(arguments: &Arguments) -> Result<Contest, Error> {
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let measures = MEASURES.iter().map(|(name, title)| Measure {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
    });
    Ok(Contest {
        name: "objects".to_owned(),
        measures: measures.filter(|measure| wanted(&measure.name)).collect(),
        cases: objects()?.into_iter().map(|(name, _)| name).collect(),
        rounds: arguments.rounds,
        turn: arguments.length(),
    })
}

/// The work, by the names that the sides know.
const MEASURES: [(&str, &str); 5] = [
    ("parse", "parse JSON, of no kind (json.Unmarshal into a map)"),
    ("decode", "decode strictly (the strict serializer's Decode)"),
    (
        "receive",
        "decode strictly, default, convert to the internal version (DecoderToVersion), and ours back",
    ),
    ("default", "copy a decoded object and default it (Scheme.Default)"),
    ("copy", "copy a decoded object (DeepCopyObject)"),
];

/// A Pod, and a Deployment of it.
fn objects() -> Result<Map<String, Value>, Error> {
    let pod: Value = serde_json::from_str(WRITTEN_POD).map_err(|error| error.to_string())?;
    let part = |path: &str| pod.pointer(path).ok_or_else(|| format!("the Pod has no {path}"));
    let [metadata, labels, spec] = [part("/metadata")?, part("/metadata/labels")?, part("/spec")?];
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    });
    Ok(Map::from_iter([
        ("deployment".to_owned(), deployment),
        ("pod".to_owned(), pod),
    ]))
}
