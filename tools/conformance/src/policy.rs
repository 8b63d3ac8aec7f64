//! The suite `policy`: policies and a request, through the whole chain.

use std::sync::Arc;

use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionBuilder, Configurations, EvalContext, ObjectModel, Outcome as Evaluated};
use pratique_harness::{ToolError, with};
use pratique_schema::FeatureGates;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::authorizer::CaseAuthorizer;
use super::cluster;
use super::compare::same;
use super::{CaseOutcome, release_of};

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    // A case without an expectation was decided by another part of the server.
    let Some(expect) = case.get("expect") else {
        return CaseOutcome::new(true, &Value::Null, Value::Null);
    };
    match answer(case, None) {
        Ok(actual) => compare(expect, actual),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}

/// The outcome of a case, in the form of its expectation.
///
/// # Errors
/// Its policies do not load, or its request cannot be read.
pub fn answer(case: &Value, model: Option<&dyn ObjectModel>) -> Result<Value, ToolError> {
    let admission = admission(case)?;
    let text = case["request"].to_string();
    let request: AdmissionRequest<'_> =
        serde_json::from_str(&text).map_err(|error| format!("request: {error}"))?;
    let authorizer: CaseAuthorizer = serde_json::from_value(case["authorizer"].clone()).unwrap_or_default();
    let cluster = cluster::cluster_of_case(case);
    let context = EvalContext::new(&cluster, Arc::new(authorizer)).with_object_model(model);
    let outcome = admission
        .admit_policies(&request, context, &mut ())
        .map_err(|error| error.to_string())?;
    Ok(to_expectation(&outcome))
}

/// Loads the manifests and objects of a case.
pub fn admission(case: &Value) -> Result<Admission, ToolError> {
    // Mutating policies are off by default before 1.36. Cases are of servers that have turned them on.
    let gates = FeatureGates::new(release_of(case)).with("MutatingAdmissionPolicy", true);
    let mut builder = Admission::builder().feature_gates(gates);
    for (plugin, folder) in [
        (ManifestPlugin::MutatingAdmissionPolicy, "mutating"),
        (ManifestPlugin::ValidatingAdmissionPolicy, "validating"),
    ] {
        let files = case.pointer(&format!("/manifests/{folder}"));
        builder = with_files(builder, files.unwrap_or(&Value::Null), plugin)?;
    }
    let objects = case["apiObjects"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let configurations = Configurations {
        mutating_policies: of_kind(objects, "MutatingAdmissionPolicy")?,
        mutating_bindings: of_kind(objects, "MutatingAdmissionPolicyBinding")?,
        validating_policies: of_kind(objects, "ValidatingAdmissionPolicy")?,
        validating_bindings: of_kind(objects, "ValidatingAdmissionPolicyBinding")?,
        ..Configurations::default()
    };
    builder
        .configurations(configurations)
        .build()
        .map_err(|error| ToolError::from(error.to_string()))
}

fn with_files(
    builder: AdmissionBuilder,
    files: &Value,
    plugin: ManifestPlugin,
) -> Result<AdmissionBuilder, ToolError> {
    let files: Vec<ManifestFile> = files
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, text)| ManifestFile {
            path: name.clone(),
            content: text.as_str().unwrap_or_default().as_bytes().to_vec(),
        })
        .collect();
    if files.is_empty() {
        Ok(builder)
    } else {
        builder
            .files(files, plugin)
            .load()
            .map_err(|errors| ToolError::from(format!("does not load: {errors}")))
    }
}

fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Result<Vec<Arc<T>>, ToolError> {
    let objects = objects.iter().filter(|object| object["kind"] == kind);
    let typed = objects.map(|object| serde_json::from_value(object.clone()).map(Arc::new));
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| ToolError::from(format!("{kind}: {error}")))
}

/// The outcome in the form of a case's expectation.
pub fn to_expectation(evaluated: &Evaluated) -> Value {
    let mut status = serde_json::to_value(&evaluated.status).unwrap_or_default();
    if let Some(members) = status.as_object_mut() {
        // Every expectation is a failure; the cases leave that out.
        members.remove("status");
        members.remove("metadata");
    }
    let outcome = json!({
        "allowed": evaluated.allowed(),
        "warnings": evaluated.warnings,
        "auditAnnotations": evaluated.audit_annotations,
    });
    let object = evaluated.object.as_ref().map(serde_json::to_value);
    let object = object.map(|object| ("object", object.unwrap_or_default()));
    let status = (!status.is_null()).then_some(("status", status));
    with(outcome, status.into_iter().chain(object))
}

/// The decision is everything but the wording of messages, warnings and annotations.
pub(super) fn compare(expect: &Value, actual: Value) -> CaseOutcome {
    let field = |path: &str| same(expect.pointer(path), actual.pointer(path));
    let count = |of: &Value, field: &str| of.get(field).and_then(Value::as_array).map_or(0, Vec::len);
    let keys = |of: &Value| -> Vec<String> {
        of.get("auditAnnotations")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    };
    let decision = field("/allowed")
        && field("/status/code")
        && field("/status/reason")
        && field("/object")
        && count(expect, "warnings") == count(&actual, "warnings")
        && keys(expect) == keys(&actual);
    let texts = field("/status") && field("/warnings") && field("/auditAnnotations");
    let has_text = ["/status", "/warnings", "/auditAnnotations"]
        .iter()
        .any(|path| !same(expect.pointer(path), None));
    let mut outcome = CaseOutcome::new(decision, expect, actual);
    outcome.text = has_text.then_some(texts);
    outcome
}
