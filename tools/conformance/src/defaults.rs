//! The suite `defaults`: objects as an API server decodes, defaults and writes them.
//!
//! The order of the members of a request's object shows in messages, so objects are taken from the source text.

use pratique_harness::ToolError;
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_schema::FeatureGates;
use pratique_types::GroupVersionKind;
use pratique_yaml::{Budget, json, tree};
use serde_json::{Value, json as value};

use super::compare::equal_by;
use super::{CaseOutcome, release_of};

/// The placeholder of recorded objects for the time of the request.
const NOW: &str = "<now>";

/// Adds the source text of their objects to the cases of a file.
pub(super) fn add_bodies(text: &[u8], cases: &mut [Value]) -> Result<(), ToolError> {
    let document =
        json::parse(text, &Budget::unlimited()).map_err(|error| ToolError::from(error.to_string()))?;
    let tree = &document.tree;
    let tree::TreeValue::List(ids) = &tree.get(document.root).value else {
        return Ok(());
    };
    for (case, id) in cases.iter_mut().zip(ids) {
        let span = tree.entry(*id, "object").map(|entry| tree.get(entry.value).span);
        let written = span.and_then(|span| text.get(span.start as usize..span.end as usize));
        if let (Some(written), Some(case)) = (written, case.as_object_mut()) {
            case.insert("body".to_owned(), Value::from(String::from_utf8_lossy(written)));
        }
    }
    Ok(())
}

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    let bytes = case["body"].as_str().unwrap_or_default();
    let endpoint = if case["endpoint"].is_object() {
        &case["endpoint"]
    } else {
        &case["object"]
    };
    let kind = kind(endpoint);
    let media_type = match case["contentType"].as_str() {
        Some("application/yaml") => MediaType::Yaml,
        _ => MediaType::Json,
    };
    let validation = match case["fieldValidation"].as_str() {
        Some("Strict") => FieldValidation::Strict,
        Some("Ignore") => FieldValidation::Ignore,
        _ => FieldValidation::Warn,
    };
    let gates = FeatureGates::new(release_of(case));
    let objects = ObjectCodec::with_placeholder(NOW).with_gates(gates);
    let received = objects.receive(bytes.as_bytes(), media_type, &kind, validation);
    let actual = match received {
        Err(error) => value!({"error": error.to_string()}),
        Ok(received) => {
            let text = objects.encode(&kind, &received.value);
            let object: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            if received.warnings.is_empty() {
                value!({"object": object})
            } else {
                value!({"object": object, "warnings": received.warnings})
            }
        }
    };
    let expect = &case["expect"];
    let text = |of: &Value| match (&of["error"], &of["warnings"]) {
        (Value::String(error), _) => Some(error.clone()),
        (_, Value::Null) => None,
        (_, warnings) => Some(warnings.to_string()),
    };
    let member = |of: &Value, name: &str| of.get(name).cloned().unwrap_or_default();
    let decision = member(expect, "error").is_string() == member(&actual, "error").is_string()
        && equal(&member(expect, "object"), &member(&actual, "object"));
    let (expected, actual_text) = (text(expect), text(&actual));
    CaseOutcome::new(decision, expect, actual).compare_texts(expected.as_deref(), actual_text.as_deref())
}

fn kind(of: &Value) -> GroupVersionKind {
    let text = |name: &str| of[name].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    match version.split_once('/') {
        Some((group, version)) => GroupVersionKind::new(group, version, &kind),
        None => GroupVersionKind::new("", &version, &kind),
    }
}

/// Whether values are equal in JSON, where a number has no type.
fn equal(left: &Value, right: &Value) -> bool {
    equal_by(left, right, &|left, right| {
        left == right || left.as_f64() == right.as_f64()
    })
}
