//! Golden cases of policies as worlds of one request.

use pratique_harness::ToolError;
use serde_json::{Value, json};

use super::{PolicyQuestion, PolicyWorld, start_release};
use crate::policy::known_differences::is_known;
use crate::reference::ReferenceProgram;
use crate::release::ComparedRelease;
use crate::suite::{CaseComparison, GoldenSuite, compare_expectation};

/// The suite `policy`.
pub(crate) struct GoldenPolicies;

impl GoldenSuite for GoldenPolicies {
    fn name(&self) -> &'static str {
        "policy"
    }

    fn start(&self, compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError> {
        start_release(compared)
    }

    fn prepare(&self, _: &ComparedRelease, mut case: Value) -> Option<Value> {
        // The plugins find out themselves.
        let request = case.get_mut("request")?.as_object_mut()?;
        for name in ["requestKind", "requestResource", "requestSubResource"] {
            request.remove(name);
        }
        Some(case)
    }

    fn question(&self, case: &Value, times: usize) -> Result<Value, ToolError> {
        let list = |name: &str| {
            case.get(name)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let world = PolicyWorld {
            manifests: manifests(case)?,
            api: list("apiObjects"),
            objects: list("objects"),
            allow: case
                .pointer("/authorizer/allow")
                .cloned()
                .unwrap_or_else(|| json!([])),
            requests: case.get("request").cloned().into_iter().collect(),
            ..PolicyWorld::default()
        };
        Ok(json!(PolicyQuestion { world: &world, times }))
    }

    fn compare(&self, case: &Value, theirs: &Value) -> Result<CaseComparison, ToolError> {
        Ok(match compare_expectation(self.name(), case, theirs.clone()) {
            CaseComparison::Differs { ours, .. } if is_known(&ours, theirs) => CaseComparison::Known,
            comparison => comparison,
        })
    }
}

/// The policies and bindings in the files of a case.
fn manifests(case: &Value) -> Result<Vec<Value>, ToolError> {
    let mut objects = Vec::new();
    let plugins = case.get("manifests").and_then(Value::as_object);
    for files in plugins.into_iter().flat_map(|plugins| plugins.values()) {
        for (name, text) in files.as_object().into_iter().flatten() {
            for document in text.as_str().unwrap_or_default().split("\n---") {
                let json = pratique_yaml::yaml_as_json(document.as_bytes())
                    .map_err(|error| format!("{name}: {error}"))?;
                let object: Value =
                    serde_json::from_str(&json).map_err(|error| format!("{name}: {error}"))?;
                match object.get("items").and_then(Value::as_array) {
                    Some(items) => objects.extend(items.iter().cloned()),
                    None if object.is_null() => {}
                    None => objects.push(object),
                }
            }
        }
    }
    Ok(objects)
}
