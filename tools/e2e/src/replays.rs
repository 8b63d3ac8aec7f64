//! The audit log of an API server, replayed against the policies that it had: every decision is the same.

use std::collections::BTreeMap;
use std::fs;

use pratique_harness::{StepTranscript, ToolError, eventually, workspace};
use serde_json::Value;

use super::PartEnvironment;
use super::apiserver::{ApiServer, ServerStart};
use super::etcd::EtcdServer;
use super::requests::{self, ApiRequest};
use super::served_webhook::place_manifests;

/// Policies of the API, with their params and definitions, in addition to the server's static manifests.
const POLICIES: [&str; 5] = [
    include_str!("follows/limited.yaml"),
    include_str!("follows/labelled.yaml"),
    include_str!("follows/allowed.yaml"),
    include_str!("follows/stamped.yaml"),
    include_str!("replays.yaml"),
];

/// Requests that only succeed once a policy does not deny them, or that it changes, and what is said then.
const ACTIVE: [(&str, &str); 5] = [
    (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: probe, namespace: shop}\nspec:\n  replicas: 5\n  \
         selector: {matchLabels: {app: probe}}\n  template:\n    metadata: {labels: {app: probe}}\n    \
         spec: {containers: [{name: probe, image: 'example.com/probe:1'}]}\n",
        "at most 3",
    ),
    (
        "apiVersion: v1\nkind: Service\nmetadata: {name: probe, namespace: closed}\nspec: {type: NodePort, ports: [{port: 80}]}\n",
        "no node ports",
    ),
    (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe, namespace: shop}\n",
        "by-the-cluster",
    ),
    (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe, namespace: shop, labels: {checked: 'yes'}}\n",
        "only who may create deployments",
    ),
    (
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: probe, namespace: shop}\nspec: {size: 11}\n",
        "not 11",
    ),
];

/// Makes requests, and replays what the server logged of them.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("the audit log, replayed");
    let etcd = EtcdServer::start(&environment.programs, &environment.state)?;
    let admission = place_manifests(&environment.state.join("manifests"))?;
    let start = ServerStart {
        admission: Some(&admission),
        audit_level: "RequestResponse",
        ..ServerStart::new(&environment.programs, &etcd, &environment.state)
    };
    let api = start.ready()?;
    requests::create_fixtures(api.kubectl())?;
    let policies = environment.state.join("policies.yaml");
    fs::write(&policies, POLICIES.join("---\n")).map_err(ToolError::file(&policies))?;
    POLICIES
        .iter()
        .try_for_each(|policies| api.kubectl().must(&["apply"], policies).map(drop))?;
    transcript.step("its policies are active", are_active(&api));
    // Before, they had no say.
    let previous_lines = api.audit_log()?.lines().count();
    transcript.step("requests are made", make(&api));
    let log = api.audit_log()?;
    let log: Vec<&str> = log.lines().skip(previous_lines).collect();
    let path = environment.state.join("replayed.log");
    fs::write(&path, log.join("\n") + "\n").map_err(ToolError::file(&path))?;
    let kubeconfig = api
        .kubectl()
        .kubeconfig(environment.state.join("kubeconfig"), "admin-token")?;
    let mut replay = environment.programs.pratique();
    replay
        .args(["replay", "-o", "ndjson", "--summary", "--remember", "64"])
        .arg("--admission-control-config-file")
        .arg(&admission)
        .arg("--policies")
        .arg(&policies)
        .arg("--kubeconfig")
        .arg(&kubeconfig)
        .arg(&path);
    let output = replay.output().map_err(ToolError::program("pratique"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    transcript.step(
        "every decision is the same",
        compared(&String::from_utf8_lossy(&output.stdout), &errors),
    );
    Ok(())
}

fn are_active(api: &ApiServer) -> Result<String, ToolError> {
    for (object, expected) in ACTIVE {
        // The administrator may create deployments.
        let kubectl = if expected.contains("only who") {
            api.kubectl().developer()
        } else {
            api.kubectl().clone()
        };
        eventually(expected, || {
            let arguments = ["create", "--dry-run=server", "--validate=false", "-o", "yaml"];
            let answer = kubectl.feed(&arguments, object)?;
            Ok(format!("{}{}", answer.stdout, answer.stderr).contains(expected))
        })?;
    }
    Ok(format!("{} of them", ACTIVE.len()))
}

/// Makes requests of all sorts. What comes of them is in the log.
fn make(api: &ApiServer) -> Result<String, ToolError> {
    let mut count = 0;
    for folder in ["requests", "replays"] {
        let all = ApiRequest::read(&workspace::root().join("testdata/e2e").join(folder))?;
        for request in &all {
            request.make(api.kubectl())?;
        }
        count += all.len();
    }
    // The log is complete once it has what is asked last.
    let end = "/api/v1/namespaces/shop/configmaps/the-end";
    let _absent = api.kubectl().run(&["get", "--raw", end])?;
    eventually("logged", || Ok(api.audit_log()?.contains(end)))?;
    Ok(format!("{count} of them"))
}

/// Compares each decision with that of then, by its message too.
fn compared(rows: &str, errors: &str) -> Result<String, ToolError> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut refused_by: BTreeMap<String, usize> = BTreeMap::new();
    let mut others = Vec::new();
    for row in rows.lines() {
        let record: Value = serde_json::from_str(row).map_err(|error| format!("{error}: {row}"))?;
        if record.get("summary").is_some() {
            continue;
        }
        let text = |path: &str| record.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let comparison = text("/comparison").to_owned();
        let is_same = match comparison.as_str() {
            "same" if text("/now/decision") == "denied" => {
                *refused_by.entry(text("/then/by").to_owned()).or_default() += 1;
                text("/now/message") == text("/then/message")
            }
            // A conflict, or the server's own validation, which a policy has no part in.
            "notCompared" => text("/then/decision") == "failed",
            comparison => comparison == "same",
        };
        if !is_same {
            others.push(row.to_owned());
        }
        *counts.entry(comparison).or_default() += 1;
    }
    let list = |counts: &BTreeMap<String, usize>| {
        let counts = counts.iter().map(|(name, count)| format!("{name} {count}"));
        counts.collect::<Vec<_>>().join(", ")
    };
    if others.is_empty() && refused_by.len() > 5 {
        Ok(format!("{}\nrefused by {}", list(&counts), list(&refused_by)))
    } else {
        Err(format!(
            "{}\n{}\n{errors}{}",
            list(&counts),
            list(&refused_by),
            others.join("\n")
        )
        .into())
    }
}
