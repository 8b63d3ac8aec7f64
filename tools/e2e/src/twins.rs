//! The same manifests in an API server and in a `pratique serve` that it calls: the same requests must get the same answers
//! and the same annotations in the audit log.

use std::collections::BTreeMap;

use pratique_harness::{StepTranscript, ToolError, eventually, workspace};
use serde_json::Value;

use super::PartEnvironment;
use super::apiserver::ServerStart;
use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;
use super::requests::{self, ApiRequest, KubectlAnswer};
use super::served_webhook::{ServedApi, place_manifests};

/// The outcome of a request.
#[derive(PartialEq, Eq)]
struct RequestOutcome {
    answer: KubectlAnswer,
    /// The audit annotations of policies, by keys that do not depend on the evaluating server.
    annotations: BTreeMap<String, String>,
}

/// The verbs of write requests, which are evaluated.
const WRITES: [&str; 4] = ["create", "update", "patch", "delete"];

/// Makes all requests to both servers.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("the API server's own manifests, and pratique serve");
    let all = ApiRequest::read(&workspace::root().join("testdata/e2e/requests"))?;
    let expected = reference_outcomes(environment, &all)?;
    let served = ServedApi::start(environment)?;
    for (request, expected) in all.iter().zip(expected) {
        let actual = outcome(request, served.kubectl(), || served.audit_log());
        transcript.step(
            &request.name,
            actual.and_then(|actual| compare(&expected, &actual)),
        );
    }
    Ok(())
}

/// The outcomes of an API server with the manifests as its own.
fn reference_outcomes(
    environment: &PartEnvironment,
    all: &[ApiRequest],
) -> Result<Vec<RequestOutcome>, ToolError> {
    let state = environment.state.join("own");
    let admission = place_manifests(&state)?;
    let etcd = EtcdServer::start(&environment.programs, &state)?;
    let start = ServerStart {
        admission: Some(&admission),
        ..ServerStart::new(&environment.programs, &etcd, &state)
    };
    let mut api = start.ready()?;
    requests::create_fixtures(api.kubectl())?;
    let outcomes = all
        .iter()
        .map(|request| outcome(request, api.kubectl(), || api.audit_log()))
        .collect();
    api.stop()?;
    outcomes
}

/// Makes a request, and finds its annotations in the audit log.
fn outcome(
    request: &ApiRequest,
    kubectl: &KubectlUser,
    audit_log: impl Fn() -> Result<String, ToolError>,
) -> Result<RequestOutcome, ToolError> {
    let previous_lines = audit_log()?.lines().count();
    let answer = request.make(kubectl)?;
    let mut annotations = BTreeMap::new();
    eventually("in the audit log", || {
        let log = audit_log()?;
        let events = log.lines().skip(previous_lines);
        let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let write = events.filter(is_write).last();
        if let Some(write) = &write {
            annotations = annotations_of(write);
        }
        Ok(write.is_some())
    })?;
    Ok(RequestOutcome { answer, annotations })
}

fn is_write(event: &Value) -> bool {
    let text = |name| event.get(name).and_then(Value::as_str).unwrap_or_default();
    text("stage") == "ResponseComplete"
        && WRITES.contains(&text("verb"))
        && text("userAgent").starts_with("kubectl")
}

fn annotations_of(event: &Value) -> BTreeMap<String, String> {
    let annotations = event.get("annotations").and_then(Value::as_object);
    let all = annotations.into_iter().flatten();
    all.filter_map(|(key, value)| Some((of_policy(key)?, value.as_str()?.to_owned())))
        .collect()
}

/// The key of a policy's note, which an API server takes from a webhook behind that one's name, and without a slash.
fn of_policy(key: &str) -> Option<String> {
    let suffix = match key.split_once(".pratique.local/") {
        Some((_, suffix)) => suffix.to_owned(),
        None => key.replace('/', "."),
    };
    let known = suffix.contains(".static.k8s.io.") || suffix.starts_with("validation.policy.admission.");
    known.then_some(suffix)
}

fn compare(reference: &RequestOutcome, actual: &RequestOutcome) -> Result<String, ToolError> {
    if reference == actual {
        Ok(reference.to_string())
    } else {
        Err(format!("of its own: {reference}\nby serve:   {actual}").into())
    }
}

impl std::fmt::Display for RequestOutcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.answer)?;
        for (key, value) in &self.annotations {
            write!(formatter, "\naudit: {key}: {value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::of_policy;

    #[test]
    fn keys_do_not_depend_on_who_was_asked() {
        let check = |key: &str, expected: Option<&str>| assert_eq!(of_policy(key).as_deref(), expected);
        check("p.static.k8s.io/images", Some("p.static.k8s.io.images"));
        check(
            "fail.validating.pratique.pratique.local/p.static.k8s.io.images",
            Some("p.static.k8s.io.images"),
        );
        check("authorization.k8s.io/decision", None);
    }
}
