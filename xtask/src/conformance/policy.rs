//! The suites `policy` and `server`: policies and a request, through the whole chain.

use std::sync::Arc;

use pratique::manifest::{ManifestFile, Plugin};
use pratique::types::admissionregistration::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use pratique::types::{AdmissionRequest, AdmissionResponse};
use pratique::{Admission, Builder, Observer, Surroundings};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Outcome;
use super::authorizer::CaseAuthorizer;
use super::cluster;
use super::compare::same;

/// Listens to nothing.
struct Silent;

impl Observer for Silent {}

pub(super) fn judge(case: &Value) -> Outcome {
    // Without an expectation another part of the server decided.
    let Some(expect) = case.get("expect") else {
        return Outcome::new(true, &Value::Null, Value::Null);
    };
    match answer(case) {
        Ok(actual) => compare(expect, actual),
        Err(why) => Outcome::failed(case, &why),
    }
}

fn answer(case: &Value) -> Result<Value, String> {
    let admission = admission(case)?;
    let text = case["request"].to_string();
    let request: AdmissionRequest<'_> =
        serde_json::from_str(&text).map_err(|error| format!("request: {error}"))?;
    let authorizer: CaseAuthorizer = serde_json::from_value(case["authorizer"].clone()).unwrap_or_default();
    let cluster = cluster::of(case);
    let surroundings = Surroundings::new(&cluster, Arc::new(authorizer));
    let response = admission
        .review(&request, surroundings, &mut Silent)
        .map_err(|error| error.to_string())?;
    Ok(shown(&response))
}

fn admission(case: &Value) -> Result<Admission, String> {
    let mut builder = Admission::builder();
    for (plugin, folder) in [
        (Plugin::MutatingAdmissionPolicy, "mutating"),
        (Plugin::ValidatingAdmissionPolicy, "validating"),
    ] {
        let files = case.pointer(&format!("/manifests/{folder}"));
        builder = with_files(builder, files.unwrap_or(&Value::Null), plugin)?;
    }
    let objects = case["apiObjects"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if objects.iter().any(|object| {
        object["kind"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("Mutating"))
    }) {
        return Err("mutating policies of the API are not implemented".into());
    }
    let policies: Vec<ValidatingAdmissionPolicy> = of_kind(objects, "ValidatingAdmissionPolicy")?;
    let bindings: Vec<ValidatingAdmissionPolicyBinding> =
        of_kind(objects, "ValidatingAdmissionPolicyBinding")?;
    builder
        .api(policies, bindings)
        .build()
        .map_err(|error| error.to_string())
}

fn with_files(builder: Builder, files: &Value, plugin: Plugin) -> Result<Builder, String> {
    let files: Vec<ManifestFile> = files
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, text)| ManifestFile {
            path: name.clone(),
            content: text.as_str().unwrap_or_default().as_bytes().to_vec(),
        })
        .collect();
    match files.is_empty() {
        true => Ok(builder),
        false => builder
            .files(&files, plugin)
            .map_err(|errors| format!("does not load: {errors}")),
    }
}

fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Result<Vec<T>, String> {
    let own = objects.iter().filter(|object| object["kind"] == kind);
    let typed = own.map(|object| serde_json::from_value(object.clone()));
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| format!("{kind}: {error}"))
}

/// The response in the form of a case's expectation.
fn shown(response: &AdmissionResponse) -> Value {
    let mut status = serde_json::to_value(&response.result).unwrap_or_default();
    if let Some(members) = status.as_object_mut() {
        // Every expectation is a failure; the cases leave that out.
        members.remove("status");
        members.remove("metadata");
    }
    let mut shown = json!({
        "allowed": response.allowed,
        "status": status,
        "warnings": response.warnings,
        "auditAnnotations": response.audit_annotations,
    });
    if let (Value::Null, Some(members)) = (&status, shown.as_object_mut()) {
        members.remove("status");
    }
    shown
}

/// The verdict is everything but the wording of messages, warnings and annotations.
fn compare(expect: &Value, actual: Value) -> Outcome {
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
    let verdict = field("/allowed")
        && field("/status/code")
        && field("/status/reason")
        && field("/object")
        && count(expect, "warnings") == count(&actual, "warnings")
        && keys(expect) == keys(&actual);
    let texts = field("/status") && field("/warnings") && field("/auditAnnotations");
    let has_text = ["/status", "/warnings", "/auditAnnotations"]
        .iter()
        .any(|path| !same(expect.pointer(path), None));
    let mut outcome = Outcome::new(verdict, expect, actual);
    outcome.text = has_text.then_some(texts);
    outcome
}
