//! What is in `deploy/` holds together, as far as that can be told without rendering it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

use pratique_deploy::{RenderState, RenderedObject, dashboard, faults, misfits, read, written};
use pratique_harness::workspace;
use serde_json::Value;

fn deploy(path: &str) -> PathBuf {
    workspace::root().join("deploy").join(path)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn document(path: &str) -> RenderedObject {
    read(path, &text(&deploy(path))).unwrap().remove(0)
}

#[test]
fn kustomizations_hold_together() {
    let directories = [
        "base",
        "components/webhooks",
        "components/cert-manager",
        "components/monitoring",
        "components/cluster",
        "components/plugins",
    ]
    .map(|name| deploy("kustomize").join(name));
    let objects = written(&directories.each_ref().map(PathBuf::as_path)).unwrap();
    assert!(objects.len() > 15, "{} objects", objects.len());
    let faults = faults(&objects, RenderState::Written);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faults_are_found() {
    let directories =
        ["base", "components/webhooks", "components/cluster"].map(|name| deploy("kustomize").join(name));
    let base = written(&directories.each_ref().map(PathBuf::as_path)).unwrap();
    #[track_caller]
    fn check(base: &[RenderedObject], kind: &str, pointer: &str, value: impl Into<Value>, expected: &str) {
        let mut objects = base.to_vec();
        let object = objects.iter_mut().find(|object| object.kind() == kind).unwrap();
        *object.value.pointer_mut(pointer).unwrap() = value.into();
        let faults = faults(&objects, RenderState::Written);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
    }
    let container = "/spec/template/spec/containers/0";
    check(
        &base,
        "Service",
        "/spec/selector",
        serde_json::json!({"a": "b"}),
        "selects no Pods",
    );
    check(&base, "Service", "/spec/ports/0/targetPort", "http", "no port");
    check(
        &base,
        "Deployment",
        &format!("{container}/readinessProbe/httpGet/path"),
        "/ready",
        "readinessProbe",
    );
    check(
        &base,
        "Deployment",
        &format!("{container}/securityContext/readOnlyRootFilesystem"),
        false,
        "readOnly",
    );
    check(
        &base,
        "Deployment",
        &format!("{container}/args/1"),
        "--admission-control-config-file=/etc/a.yaml",
        "not mounted",
    );
    let plugins = "--plugins=AlwaysPullImages,PodSecurity";
    let at = format!("{container}/args/0");
    check(&base, "Deployment", &at, plugins, "without --cluster");
    check(&base, "Deployment", &at, plugins, "may not list pods");
    check(
        &base,
        "Deployment",
        &format!("{container}/volumeMounts/1/mountPath"),
        "/a",
        "manifests of /etc",
    );
    check(
        &base,
        "ClusterRoleBinding",
        "/subjects/0/name",
        "default",
        "no workload uses",
    );
    check(
        &base,
        "ConfigMap",
        "/metadata/namespace",
        "pratique-2",
        "no object makes the namespace",
    );
    let webhook = "ValidatingWebhookConfiguration";
    check(
        &base,
        webhook,
        "/webhooks/0/namespaceSelector/matchExpressions/0/values",
        "",
        "waits for kube-system",
    );
    check(
        &base,
        webhook,
        "/webhooks/0/clientConfig/service/path",
        "/mutate",
        "does not answer",
    );
    check(&base, webhook, "/webhooks/0/sideEffects", "Some", "sideEffects");
    check(
        &base,
        "PodDisruptionBudget",
        "/spec/maxUnavailable",
        true,
        "PodDisruptionBudget",
    );
}

/// A release packs the chart with its version; until then it has that of the workspace.
#[test]
fn the_chart_has_the_version_of_the_workspace() {
    let chart = document("helm/pratique/Chart.yaml").value;
    for field in ["version", "appVersion"] {
        assert_eq!(chart[field], env!("CARGO_PKG_VERSION"), "{field}");
    }
}

#[test]
fn scans_hold_together() {
    let scan = deploy("kustomize/scan");
    let objects = written(&[scan.as_path()]).unwrap();
    assert_eq!(objects.len(), 1);
    assert_eq!(faults(&objects, RenderState::Written), Vec::<String>::new());
    #[track_caller]
    fn check(objects: &[RenderedObject], pointer: &str, value: impl Into<Value>, expected: &str) {
        let mut objects = objects.to_vec();
        *objects[0].value.pointer_mut(pointer).unwrap() = value.into();
        let faults = faults(&objects, RenderState::Written);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
    }
    let container = "/spec/template/spec/containers/0";
    let argument = |index: usize| format!("{container}/args/{index}");
    check(
        &objects,
        "/spec/completions",
        5,
        "are not $(JOB_COMPLETION_INDEX)/5",
    );
    check(&objects, "/spec/parallelism", 5, "more Pods than shards");
    check(
        &objects,
        "/spec/completionMode",
        "NonIndexed",
        "of an Indexed Job",
    );
    check(&objects, &argument(2), "--as-update", "its Pods scan the same");
    check(
        &objects,
        &argument(3),
        "--report=/scan/report.json",
        "--report: all shards write to /scan/report.json",
    );
    check(
        &objects,
        &argument(3),
        "--report=/reports/$(JOB_COMPLETION_INDEX)",
        "is not mounted",
    );
    check(&objects, &argument(1), "--cluster", "whether it has a token");
    check(
        &objects,
        "/spec/template/spec/restartPolicy",
        "OnFailure",
        "is not a new one",
    );
    check(
        &objects,
        &format!("{container}/securityContext/readOnlyRootFilesystem"),
        false,
        "readOnlyRootFilesystem",
    );
    let mut cluster = objects.clone();
    cluster[0].value["spec"]["template"]["spec"]["automountServiceAccountToken"] = true.into();
    for flag in ["--cluster", "--apply"] {
        check(&cluster, &argument(1), flag, "it may not list namespaces");
    }
    check(
        &cluster,
        &argument(1),
        "--apply",
        "it may not patch policyreports",
    );
}

#[test]
fn samples_are_those_of_the_examples() {
    assert_eq!(
        text(&deploy("kustomize/base/policies/validating/no-privileged.yaml")),
        text(&workspace::root().join("examples/platform-invariants/no-privileged.yaml"))
    );
}

#[test]
fn chart_and_kustomization_are_alike() {
    assert_eq!(
        text(&deploy("helm/pratique/files/admission.yaml")),
        text(&deploy("kustomize/base/admission.yaml"))
    );
    let rules = document("kustomize/components/monitoring/rules.yaml");
    assert_eq!(
        document("helm/pratique/files/alerts.yaml").value,
        rules.value["spec"]
    );
}

#[test]
fn values_fit_their_schema() {
    let schema: Value = serde_json::from_str(&text(&deploy("helm/pratique/values.schema.json"))).unwrap();
    let ci = fs::read_dir(deploy("helm/pratique/ci")).unwrap();
    let files: Vec<PathBuf> = ci.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3);
    for path in files.into_iter().chain([deploy("helm/pratique/values.yaml")]) {
        let values = read(&path.display().to_string(), &text(&path))
            .unwrap()
            .remove(0)
            .value;
        let faults = misfits(&schema, &values);
        assert!(faults.is_empty(), "{}: {faults:?}", path.display());
    }
    for wrong in [
        r#"{"replica": 2}"#,
        r#"{"replicas": 0}"#,
        r#"{"webhooks": {"validating": [{"failurePolicy": "Fail", "rules": []}]}}"#,
        r#"{"certificate": {"certManager": {"enabled": "no"}}}"#,
        r#"{"plugins": {"enabled": ["ResourceQuota"]}}"#,
        r#"{"scan": {"volume": {"shards": 0}}}"#,
        r#"{"scan": {"cluster": {"reports": "json"}}}"#,
    ] {
        let values = serde_json::from_str(wrong).unwrap();
        assert!(!misfits(&schema, &values).is_empty(), "{wrong}");
    }
    // What can be said is said in the file that tells people.
    let values = document("helm/pratique/values.yaml").value;
    let properties = schema["properties"].as_object().unwrap().keys();
    let unsaid: Vec<&String> = properties
        .filter(|name| *name != "global" && values.get(*name).is_none())
        .collect();
    assert!(unsaid.is_empty(), "{unsaid:?}");
}

#[test]
fn dashboard_asks_for_what_there_is() {
    let board: Value = serde_json::from_str(&text(&deploy("grafana/pratique.json"))).unwrap();
    let faults = dashboard(&board);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
