//! Objects as users write them: parsed, decoded strictly, and decoded and defaulted, as before admission.

use pratique_benches::WRITTEN_POD;
use pratique_harness::ToolError;
use serde_json::{Map, Value, json};

use super::contest::{ContestResults, SideContest};
use super::side::start_both;
use super::{BenchArguments, build};

/// Builds both sides, checks that both produce the same objects, and runs the contest.
pub(super) fn contest(arguments: &BenchArguments) -> Result<ContestResults, ToolError> {
    let program = match &arguments.ours {
        Some(program) => program.clone(),
        None => build::ours()?,
    };
    let other = build::other(arguments, "objects", &program)?;
    let objects = written_objects()?;
    let cases: Vec<String> = objects.keys().cloned().collect();
    let sides = start_both(
        (&program, &["objects"]),
        other.as_deref().map(|other| (other, &[][..])),
        &json!({"objects": objects}),
        Value::clone,
    )?;
    SideContest::new(arguments, "objects", &MEASURES, cases).between(sides)
}

/// The measures, by their names in orders.
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
pub(super) fn written_objects() -> Result<Map<String, Value>, ToolError> {
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
