//! Webhooks that are registered in the cluster are called by a `serve` that follows it. The API server calls them as well,
//! so the suite asks `serve` itself.

use pratique_harness::{StepTranscript, ToolError, eventually};
use pratique_json::base64;
use pratique_webhook_backend::{Backend, Script};
use serde_json::{Value, json};

use super::super::kubectl::KubectlUser;
use super::super::served_webhook::ServedApi;

const CONFIGURATIONS: &str = include_str!("webhooks.yaml");

/// The patch of the one that mutates.
const PATCH: &str = r#"[{"op":"add","path":"/metadata/labels","value":{"by":"webhook"}}]"#;

/// Starts webhooks, registers them, changes them, and deletes them.
pub(super) fn run(served: &ServedApi, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let backend = runtime.block_on(Backend::start());
    let backend = backend.map_err(|error| error.to_string())?;
    backend.begin(scripts()?, false);
    let kubectl = served.kubectl();
    transcript.step("calls the cluster's webhooks", calls(served, kubectl, &backend));
    transcript.step("sees a changed webhook", changes(served, kubectl, &backend));
    transcript.step("sees that webhooks are gone", ends(served, kubectl));
    Ok(())
}

fn scripts() -> Result<Vec<(String, Script)>, ToolError> {
    let script = |respond: Value| {
        let script = Script::from_json(&json!({"respond": respond}).to_string());
        script.map_err(|error| ToolError::from(error.to_string()))
    };
    let refusal = json!({"allowed": false, "status": {"message": "no such accounts", "code": 403}});
    let patch = base64::encode(PATCH.as_bytes());
    let label = json!({"allowed": true, "patch": patch, "patchType": "JSONPatch"});
    Ok(vec![
        ("/refuse".to_owned(), script(refusal)?),
        ("/label".to_owned(), script(label)?),
    ])
}

fn calls(served: &ServedApi, kubectl: &KubectlUser, backend: &Backend) -> Result<String, ToolError> {
    equal(&decision(served)?, &(String::new(), String::new()))?;
    kubectl.must(&["apply"], &backend.fill(CONFIGURATIONS))?;
    let denied = "admission webhook \"refusing.example.com\" denied the request: no such accounts";
    becomes(served, &(denied.to_owned(), PATCH.to_owned()))?;
    if backend.calls().is_empty() {
        Err("the webhooks were not asked".into())
    } else {
        Ok(format!("{denied}\n{PATCH}"))
    }
}

fn changes(served: &ServedApi, kubectl: &KubectlUser, backend: &Backend) -> Result<String, ToolError> {
    let changed = CONFIGURATIONS.replace("refusing.example.com", "other.example.com");
    kubectl.must(&["apply"], &backend.fill(&changed))?;
    let denied = "admission webhook \"other.example.com\" denied the request: no such accounts";
    becomes(served, &(denied.to_owned(), PATCH.to_owned()))?;
    Ok(denied.to_owned())
}

fn ends(served: &ServedApi, kubectl: &KubectlUser) -> Result<String, ToolError> {
    for [kind, name] in [
        ["validatingwebhookconfiguration", "refusing"],
        ["mutatingwebhookconfiguration", "labelling"],
    ] {
        kubectl.must(&["delete", kind, name], "")?;
    }
    becomes(served, &(String::new(), String::new()))?;
    Ok("neither denied nor changed".to_owned())
}

/// The decision of `serve` on a ServiceAccount: the message of its denial and its patch.
fn decision(served: &ServedApi) -> Result<(String, String), ToolError> {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "operation": "CREATE", "name": "s", "namespace": "shop",
            "kind": {"group": "", "version": "v1", "kind": "ServiceAccount"},
            "resource": {"group": "", "version": "v1", "resource": "serviceaccounts"},
            "userInfo": {"username": "suite"},
            "object": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "s", "namespace": "shop"}},
        }
    });
    let text = |path: &str, place: &str| {
        let answer = served.review(path, &review)?;
        let text = answer.pointer(place).and_then(Value::as_str);
        Ok::<_, ToolError>(text.unwrap_or_default().to_owned())
    };
    let patch = text("/mutate", "/response/patch")?;
    let patch = base64::decode(&patch).map_err(|at| format!("no base64 at {at}"))?;
    Ok((
        text("/validate", "/response/status/message")?,
        String::from_utf8_lossy(&patch).into_owned(),
    ))
}

fn becomes(served: &ServedApi, expected: &(String, String)) -> Result<(), ToolError> {
    let mut observed = Default::default();
    let ended = eventually("as expected", || {
        observed = decision(served)?;
        Ok(observed == *expected)
    });
    ended
        .map(drop)
        .map_err(|error| ToolError::from(format!("{error}, but: {observed:?}")))
}

fn equal(observed: &(String, String), expected: &(String, String)) -> Result<(), ToolError> {
    if observed == expected {
        Ok(())
    } else {
        Err(format!("{observed:?} instead of {expected:?}").into())
    }
}
