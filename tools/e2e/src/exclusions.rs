//! Reviews of users and permissions, which a release excludes from admission webhooks, or not: a server calls webhooks for the same
//! ones as `pratique review --webhooks`.

use std::fs;

use pratique_harness::{StepTranscript, ToolError, eventually};
use pratique_webhook_backend::{Backend, Script};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::answers::summary;
use super::apiserver::ServerStart;
use super::etcd::EtcdServer;
use super::http::{self, UserProxy};
use super::review_command::{ADMINISTRATOR, ReviewCommand};

/// The gate of the exclusion.
const GATE: &str = "ExcludeAdmissionWebhookVirtualResources";

/// A webhook that refuses everything that it is about: the reviews, and ConfigMaps.
const CONFIGURATION: &str = include_str!("exclusions.yaml");

/// Runs with the gate as it is, and, where there is one, without it.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("what is excluded from webhooks");
    compare(environment, transcript, None)?;
    if environment.programs.release().gates().get(GATE).is_some() {
        compare(
            environment,
            transcript,
            Some(&format!("--feature-gates={GATE}=false")),
        )?;
    }
    Ok(())
}

fn compare(
    environment: &PartEnvironment,
    transcript: &mut StepTranscript,
    gate: Option<&str>,
) -> Result<(), ToolError> {
    let directory = environment.state.join(gate.map_or("default", |_| "off"));
    fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let backend = runtime
        .block_on(Backend::start())
        .map_err(|error| error.to_string())?;
    let refusal = json!({"respond": {"allowed": false, "status": {"message": "seen", "code": 403}}});
    let script = Script::from_json(&refusal.to_string()).map_err(|error| error.to_string())?;
    backend.begin(vec![("/refuse".to_owned(), script)], false);
    let etcd = EtcdServer::start(&environment.programs, &directory)?;
    let start = ServerStart {
        flags: gate.as_slice(),
        ..ServerStart::new(&environment.programs, &etcd, &directory)
    };
    let mut server = start.ready()?;
    let kubectl = server.kubectl();
    kubectl.must(&["apply"], &backend.fill(CONFIGURATION))?;
    let proxy = UserProxy::start(kubectl)?;
    let send = |object: &Value| {
        let path = http::path(object)?;
        proxy.create_dry(&path, object)
    };
    let objects = reviews();
    let control = config_map();
    eventually("called", || Ok(summary(&send(&control)?).contains("seen")))?;
    let review = ReviewCommand::new(
        &environment.programs,
        kubectl,
        &directory,
        vec!["--disable-admission-plugins=ServiceAccount".to_owned()],
    )?;
    let review = review.with_flag("--webhooks".to_owned());
    let review = match gate {
        Some(gate) => review.with_flag(gate.to_owned()),
        None => review,
    };
    let all: Vec<&Value> = objects.iter().chain([&control]).collect();
    let reviewed = review.answers(ADMINISTRATOR, &all)?;
    let suffix = gate.map(|_| ", without the gate").unwrap_or_default();
    for (object, ours) in all.iter().zip(&reviewed) {
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        let compared = send(object).and_then(|server| {
            let [server, ours] = [&server, ours].map(summary);
            if server == ours {
                Ok(server)
            } else {
                Err(format!("the server: {server}\nours:       {ours}").into())
            }
        });
        transcript.step(&format!("{kind}{suffix}"), compared);
    }
    server.stop()
}

/// The six kinds of reviews.
fn reviews() -> Vec<Value> {
    let attributes = json!({"verb": "get", "resource": "pods", "namespace": "default"});
    let review = |api: &str, kind: &str, metadata: Value, spec: Value| json!({"apiVersion": format!("{api}.k8s.io/v1"), "kind": kind, "metadata": metadata, "spec": spec});
    let of_cluster = |api: &str, kind: &str, spec: Value| review(api, kind, json!({}), spec);
    let local = review(
        "authorization",
        "LocalSubjectAccessReview",
        json!({"namespace": "default"}),
        json!({"user": "ann", "resourceAttributes": attributes}),
    );
    let user = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}});
    vec![
        of_cluster("authentication", "TokenReview", json!({"token": "admin-token"})),
        user,
        of_cluster(
            "authorization",
            "SubjectAccessReview",
            json!({"user": "ann", "resourceAttributes": attributes}),
        ),
        of_cluster(
            "authorization",
            "SelfSubjectAccessReview",
            json!({"resourceAttributes": attributes}),
        ),
        local,
        of_cluster(
            "authorization",
            "SelfSubjectRulesReview",
            json!({"namespace": "default"}),
        ),
    ]
}

/// What is never excluded.
fn config_map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "seen", "namespace": "default"}})
}
