//! What is in `deploy/`, rendered and applied: a real API server takes it as it is, and takes the Pods of its Deployment
//! while no server answers for the webhooks that come with it.

use pratique_harness::{StepTranscript, ToolError, eventually, workspace};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::apiserver::ServerStart;
use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;
use pratique_deploy::{RenderTools, tried};

/// Definitions of kinds of other projects.
const KINDS: &str = include_str!("deployed.yaml");

/// The namespace of each rendering.
const KUSTOMIZED: &str = "pratique-system";
const CHARTED: &str = pratique_deploy::RELEASED_INTO;

/// Applies all of it to one API server.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("what is deployed");
    let tools = match RenderTools::find(None, None) {
        Ok(tools) => tools,
        Err(absent) => return Err(format!("nothing was rendered: {}", absent.0).into()),
    };
    let etcd = EtcdServer::start(&environment.programs, &environment.state)?;
    let start = ServerStart::new(&environment.programs, &etcd, &environment.state);
    let mut api = start.ready()?;
    let kubectl = api.kubectl();
    kubectl.must(&["apply"], KINDS)?;
    eventually("known", || {
        Ok(kubectl.run(&["get", "issuers,prometheusrules"])?.ok)
    })?;
    let deploy = workspace::root().join("deploy");
    for directory in ["kustomize/base", "kustomize/example"] {
        let rendered = tools.kustomize(&deploy.join(directory));
        transcript.step(
            directory,
            rendered.and_then(|text| take(kubectl, KUSTOMIZED, &text)),
        );
    }
    kubectl.must(&["apply"], &namespace())?;
    let chart = deploy.join("helm/pratique");
    for values in tried(&chart)? {
        let name = values
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let rendered = tools.helm(&chart, &values);
        let applied_count = rendered.and_then(|text| take(kubectl, CHARTED, &text));
        transcript.step(&format!("helm/pratique with {name}"), applied_count);
    }
    api.stop()
}

/// Applies objects: all are taken without a word, and are then what they were meant to be.
fn take(kubectl: &KubectlUser, namespace: &str, rendered: &str) -> Result<String, ToolError> {
    let apply = ["apply", "--validate=strict", "--namespace", namespace];
    let output = kubectl.feed(&apply, rendered)?;
    if !output.ok || !output.stderr.is_empty() {
        return Err(format!("{}{}", output.stdout, output.stderr).into());
    }
    let differing = kubectl.feed(&["diff", "--namespace", namespace], rendered)?;
    if !differing.ok || !differing.stdout.is_empty() {
        return Err(format!("{}{}", differing.stdout, differing.stderr).into());
    }
    let pod = pod(kubectl, namespace);
    // The next has webhooks of its own, nothing that is evaluated by these, and Jobs of its own, which cannot be changed.
    kubectl.must(&["delete", "jobs", "--all", "--namespace", namespace], "")?;
    let hooks = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
    kubectl.must(&["delete", hooks, "--all"], "")?;
    let pod = pod?;
    Ok(format!(
        "{} objects\n{}",
        output.stdout.lines().count(),
        pod.trim()
    ))
}

/// A namespace of a user's own, in which the API server takes Pods of the strictest standard only, as in the one that
/// is deployed.
pub(super) fn namespace() -> String {
    let labels = json!({"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CHARTED, "labels": labels}})
        .to_string()
}

/// A Pod as the Deployment would have it.
fn pod(kubectl: &KubectlUser, namespace: &str) -> Result<String, ToolError> {
    let template = [
        "get",
        "deployments",
        "--namespace",
        namespace,
        "-o",
        "jsonpath={.items[0].spec.template}",
    ];
    let template = kubectl.must(&template, "")?;
    let mut pod: Value = serde_json::from_str(&template).map_err(|error| format!("{error}: {template}"))?;
    let members = pod.as_object_mut().ok_or("the template is no object")?;
    members.insert("apiVersion".to_owned(), json!("v1"));
    members.insert("kind".to_owned(), json!("Pod"));
    if let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("name".to_owned(), json!("pratique-0"));
    }
    let create = [
        "create",
        "--dry-run=server",
        "--validate=strict",
        "-o",
        "name",
        "--namespace",
        namespace,
    ];
    let result = kubectl.feed(&create, &pod.to_string())?;
    if result.ok && result.stderr.is_empty() {
        Ok(result.stdout)
    } else {
        Err(format!("its Pod: {}{}", result.stdout, result.stderr).into())
    }
}
