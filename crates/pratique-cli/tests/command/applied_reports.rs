//! Reports of a scan, applied to a cluster.

use serde_json::{Value, json};

use crate::api_server::{ApiServer, NAMESPACES, Script};
use crate::support::{Directory, Run};

const NAMESPACED: &str = "/apis/wgpolicyk8s.io/v1alpha2/policyreports";
const OF_CLUSTER: &str = "/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports";

fn pod(namespace: &str, is_privileged: bool) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"{namespace}","uid":"u-{namespace}"}},"spec":{{"containers":[{{"name":"c","image":"i","securityContext":{{"privileged":{is_privileged}}}}}]}}}}"#
    ) + "\n"
}

/// A report that was applied before.
fn report(namespace: &str, name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "pratique"}}})
}

/// A server that has the namespaces of the Pods.
fn known() -> Script {
    let namespace = |name: &str| json!({"metadata": {"name": name}, "status": {"phase": "Active"}});
    Script::new().list(NAMESPACES, vec![namespace("infra"), namespace("shop")])
}

fn directory(server: &ApiServer) -> Directory {
    let pods = [pod("shop", true), pod("infra", false)].concat();
    server.directory().with("pods.ndjson", pods)
}

fn scan(directory: &Directory, more: &[&str]) -> Run {
    let arguments = [
        "scan",
        "-o",
        "policyreport",
        "--apply",
        "--kubeconfig",
        "kubeconfig",
        "--policies",
        "policies",
    ];
    directory.run(&[arguments.as_slice(), more, &["pods.ndjson"]].concat())
}

fn changes(server: &ApiServer) -> Vec<String> {
    let is_change = |asked: &String| asked.starts_with("PATCH") || asked.starts_with("DELETE");
    server.asked().into_iter().filter(is_change).collect()
}

const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-privileged}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: '!object.spec.containers.exists(c, c.?securityContext.?privileged.orValue(false))'
    message: privileged
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-privileged}
spec: {policyName: no-privileged, validationActions: [Deny]}
";

#[test]
fn reports_are_applied_and_stale_ones_removed() {
    let server = known()
        .list(
            NAMESPACED,
            vec![
                report("shop", "pratique-scan"),
                report("gone", "pratique-scan"),
                report("gone", "of-another-program"),
                report("left", "pratique-scan"),
            ],
        )
        .list(OF_CLUSTER, vec![])
        .start();
    let directory = directory(&server).with("policies/policies.yaml", POLICIES);
    let run = scan(&directory, &[]);
    run.exits(1);
    assert_eq!(
        run.stdout, "2 reports applied, 2 stale removed, 0 failed\n",
        "{run}"
    );
    let patch = |namespace: &str| {
        format!(
            "PATCH /apis/wgpolicyk8s.io/v1alpha2/namespaces/{namespace}/policyreports/pratique-scan?&force=true&fieldManager=pratique"
        )
    };
    let delete = |namespace: &str| {
        format!("DELETE /apis/wgpolicyk8s.io/v1alpha2/namespaces/{namespace}/policyreports/pratique-scan?")
    };
    assert_eq!(
        changes(&server),
        [patch("infra"), patch("shop"), delete("gone"), delete("left")]
    );
    let listed: Vec<String> = server
        .asked()
        .into_iter()
        .filter(|asked| asked.contains("policyreports?"))
        .collect();
    assert!(
        listed
            .iter()
            .all(|asked| asked.contains("labelSelector=app.kubernetes.io%2Fmanaged-by%3Dpratique")),
        "{listed:?}"
    );
    let applied = server.bodies();
    assert_eq!(applied.len(), 2, "{applied:?}");
    assert_eq!(applied[1]["results"][0]["resources"][0]["uid"], "u-shop");
    assert_eq!(applied[1]["summary"]["fail"], 1);
    assert_eq!(applied[0]["summary"]["pass"], 1);
}

#[test]
fn failures_are_reported_and_counted() {
    let refused = "/apis/wgpolicyk8s.io/v1alpha2/namespaces/shop/policyreports/pratique-scan";
    let server = known()
        .list(NAMESPACED, vec![report("gone", "pratique-scan")])
        .refuse(refused, 403, "policyreports is forbidden")
        .refuse(
            OF_CLUSTER,
            404,
            "the server could not find the requested resource",
        )
        .start();
    let directory = directory(&server).with("policies/policies.yaml", POLICIES);
    let run = scan(&directory, &["--fail-on", "error"]);
    run.exits(2);
    assert_eq!(
        run.stdout, "1 report applied, 1 stale removed, 2 failed\n",
        "{run}"
    );
    for message in [
        "warning: PolicyReport shop/pratique-scan: policyreports is forbidden",
        "warning: clusterpolicyreports.wgpolicyk8s.io: the server could not find the requested resource",
    ] {
        run.stderr_has(message);
    }
}

#[test]
fn nothing_is_removed_after_a_scan_with_errors() {
    let server = known()
        .list(NAMESPACED, vec![report("gone", "pratique-scan")])
        .list(OF_CLUSTER, vec![])
        .start();
    let directory = directory(&server)
        .with("policies/policies.yaml", POLICIES)
        .with("pods.ndjson", "not json\n");
    let run = scan(&directory, &[]);
    run.exits(2);
    assert_eq!(
        run.stdout,
        "1 report applied, 0 stale removed, 0 failed; stale ones are kept: some objects could not be read\n",
        "{run}"
    );
    assert!(changes(&server).iter().all(|change| change.starts_with("PATCH")));
}

#[test]
fn only_reports_of_everything_are_applied() {
    let directory = Directory::new().with("pods.ndjson", pod("shop", true));
    for (arguments, expected) in [
        (
            &["scan", "--apply", "pods.ndjson"][..],
            "only `policyreport` and `openreports` are objects of a cluster",
        ),
        (
            &[
                "scan",
                "--apply",
                "-o",
                "openreports",
                "--shard",
                "0/2",
                "pods.ndjson",
            ],
            "cannot be used with",
        ),
    ] {
        let run = directory.run(arguments);
        run.exits(2).stderr_has(expected);
    }
}
