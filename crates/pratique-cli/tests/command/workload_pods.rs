//! The Pods of workloads in `pratique scan` and `pratique impact`: what refuses them counts for the workload, once.

use serde_json::{Value, json as value};

use crate::scan::total;
use crate::support::{Directory, Run};

/// A policy of hosts' networks, with its binding, about some resources of core and apps.
fn policy(resources: &str, expression: &str, action: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: host-network}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: ['', apps], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}
  validations:
  - expression: \"{expression}\"
    message: no network of the host
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: host-network}}
spec: {{policyName: host-network, validationActions: [{action}]}}
"
    )
}

const EXPRESSION: &str = "!object.spec.?hostNetwork.orValue(false)";

fn of_pods() -> String {
    policy("pods", EXPRESSION, "Deny")
}

const CRON_JOB: &str = "apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: '@daily'
  jobTemplate:
    spec:
      template:
        spec: {hostNetwork: true, restartPolicy: Never, containers: [{name: c, image: i}]}
";

fn deployment() -> Value {
    value!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"hostNetwork": true, "containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

fn files() -> Directory {
    Directory::new()
        .with("policies/p.yaml", of_pods())
        .with("old/p.yaml", policy("pods", "true", "Deny"))
        .with("cron.yaml", CRON_JOB)
        .with("web.json", deployment().to_string())
}

fn scan(directory: &Directory, more: &[&str]) -> Run {
    directory.run(&[&["scan", "--policies", "policies"], more].concat())
}

fn impact(directory: &Directory, more: &[&str]) -> Run {
    directory.run(&[&["impact", "--old", "old", "--new", "policies"], more].concat())
}

#[test]
fn a_scan_counts_a_workload_as_its_pods() {
    let directory = files();
    let run = scan(&directory, &["cron.yaml"]);
    run.exits(1)
        .stdout_has("1 object: 0 allowed, 1 denied\n")
        .stdout_has("CronJob shop/report (cron.yaml:1:1): its Pods: no network of the host\n");
    assert!(!run.stderr.contains("not reviewed"), "{run}");
    let run = scan(&directory, &["-o", "ndjson", "cron.yaml"]);
    let line: Value = serde_json::from_str(run.stdout.lines().next().unwrap_or_default()).unwrap();
    assert_eq!(line["decision"], "denied", "{run}");
    assert_eq!(
        line["pods"],
        value!([{"name": "report-00000000-", "decision": "denied"}]),
        "{run}"
    );
    assert!(
        line["message"].as_str().unwrap().contains("'host-network'"),
        "{run}"
    );
    for format in ["sarif", "junit"] {
        scan(&directory, &["-o", format, "cron.yaml"])
            .exits(1)
            .stdout_has("its Pods: no network of the host");
    }
    scan(&directory, &["--expand=off", "cron.yaml"])
        .exits(0)
        .stdout_has("not evaluated for them (host-network): --expand does");
}

#[test]
fn an_impact_counts_a_workload_as_its_pods() {
    let directory = files();
    let run = impact(&directory, &["--explain", "cron.yaml", "web.json"]);
    run.exits(1)
        .stdout_has("2 requests: 2 newly refused, 0 newly allowed, 0 undecided, 0 the same\n")
        .stdout_has("CREATE CronJob shop/report")
        .stdout_has("its Pods: no network of the host")
        .stdout_has("object.spec.?hostNetwork");
    let run = impact(&directory, &["--expand=off", "cron.yaml"]);
    run.exits(0).stdout_has("(host-network): --expand does");
}

#[test]
fn what_a_policy_finds_in_a_workload_and_its_pods_is_one_finding() {
    let both = policy("pods, deployments", "false", "Warn");
    let directory = files().with("policies/p.yaml", both);
    let run = scan(&directory, &["-o", "json", "web.json"]);
    assert_eq!(
        (total(&run.json()), &run.json()["tally"]["total"]["warned"]),
        ([1, 0, 0, 0], &value!(1)),
        "{run}"
    );
}

#[test]
fn pods_that_are_inputs_themselves_are_not_counted_twice() {
    let base64 = |text: &str| pratique_json::base64::encode(text.as_bytes());
    let item = format!(
        r#"{{"key":"{}","value":"{}"}}"#,
        base64("/registry/deployments/shop/web"),
        base64(&deployment().to_string())
    );
    let export = format!("{{\"header\":{{\"cluster_id\":1}},\"kvs\":[{item}],\"count\":1}}");
    let directory = files().with("etcd.json", export);
    // Its Pods of now are in the export, if there are any; those to come are not, which is told, and counts.
    const TOLD: &str = "a stored workload was not expanded: its Pods are evaluated as far as they are among the inputs, and 1 \
        policy for Pods is not evaluated for those to come (";
    scan(&directory, &["etcd.json"]).exits(0).stdout_has(TOLD);
    scan(&directory, &["--fail-on", "warn", "etcd.json"]).exits(1);
    scan(&directory, &["--expand", "etcd.json"]).exits(1);
    impact(&directory, &["etcd.json"]).exits(0).stdout_has(TOLD);
    impact(&directory, &["--expand", "etcd.json"]).exits(1);
    // An update to itself makes no Pods.
    scan(&directory, &["--as-update", "web.json"]).exits(0);
}

#[test]
fn a_workload_without_a_template_is_not_evaluated() {
    let rollout = |spec: Value| {
        value!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Rollout",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
        })
    };
    let directory = files()
        .with("none.json", rollout(value!({})).to_string())
        .with("web.json", rollout(deployment()["spec"].clone()).to_string());
    let template = ["--pod-template", "Rollout.argoproj.io=spec.template"];
    let run = |command: fn(&Directory, &[&str]) -> Run, file| {
        command(&directory, &[&template[..], &[file]].concat())
    };
    const NONE: &str = "no Pod is reviewed for Rollout \"web\": it has no Pod template at spec.template";
    run(scan, "web.json").exits(1);
    run(scan, "none.json")
        .exits(2)
        .stderr_has(NONE)
        .stdout_has("1 object: 0 allowed, 0 denied, 1 not evaluated");
    run(impact, "web.json").exits(1);
    run(impact, "none.json").exits(2).stderr_has(NONE);
}

#[test]
fn pod_templates_of_custom_resources_are_told() {
    let custom = |spec: Value| {
        value!({
            "apiVersion": "example.com/v1",
            "kind": "Trainer",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
        })
    };
    let template = deployment()["spec"]["template"].clone();
    let directory = files()
        .with("others/p.yaml", policy("deployments", "true", "Deny"))
        .with(
            "it.json",
            custom(value!({"master": {"template": template}})).to_string(),
        )
        .with(
            "list.json",
            custom(value!({"workers": [{"template": template}]})).to_string(),
        )
        .with("none.json", custom(value!({"containers": []})).to_string());
    let review = |directory: &Directory, more: &[&str]| {
        directory.run(&[&["review", "--policies", "policies"], more].concat())
    };
    const TOLD: &str = "the Pods of 1 custom resource with a Pod template are not reviewed: ";
    for command in [review as fn(&Directory, &[&str]) -> Run, scan, impact] {
        command(&directory, &["it.json"]).exits(0).shows(&[
            TOLD,
            "reviewed: --pod-template Trainer.example.com=spec.master.template does",
        ]);
        command(&directory, &["-o", "json", "it.json"])
            .exits(0)
            .stdout_has(TOLD);
        command(&directory, &["--fail-on", "warn", "it.json"]).exits(1);
        command(&directory, &["list.json"])
            .exits(0)
            .shows(&[TOLD, "reviewed: no flag can name where the template is"]);
        let named = [
            "--pod-template",
            "Trainer.example.com=spec.master.template",
            "it.json",
        ];
        let run = command(&directory, &named);
        assert!(run.code == Some(1) && !run.to_string().contains(TOLD), "{run}");
        let run = command(&directory, &["none.json"]);
        assert!(!run.to_string().contains(TOLD), "{run}");
    }
    // Nothing is about Pods.
    let run = directory.run(&["review", "--policies", "others", "it.json"]);
    assert!(!run.to_string().contains(TOLD), "{run}");
    // A plugin is, and the built-in policies are.
    for more in [&["--chain"][..], &[]] {
        directory
            .run(&[&["review", "it.json"], more].concat())
            .shows(&[TOLD]);
    }
}

#[cfg(feature = "kube")]
#[test]
fn a_cluster_has_the_pods_itself() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
    let mut pod = value!({"metadata": {"name": "a", "namespace": "shop"}});
    pod["spec"] = value!({"containers": [{"name": "c", "image": "i"}]});
    let server = crate::api_server::Script::new()
        .serve("", "pods", "Pod", true)
        .serve("apps", "deployments", "Deployment", true)
        .list("/api/v1/pods", vec![pod])
        .list(DEPLOYMENTS, vec![deployment()])
        .start();
    let directory = server
        .directory()
        .with("policies/p.yaml", policy("pods, deployments", EXPRESSION, "Deny"));
    let base = ["--kubeconfig", "kubeconfig", "-o", "json"];
    let run = scan(&directory, &base);
    assert_eq!(total(&run.json()), [2, 0, 0, 0], "{run}");
    let directory = server
        .directory()
        .with("policies/p.yaml", of_pods())
        .with("old/p.yaml", policy("pods", "true", "Deny"));
    let expanded = [&base[..], &["--expand"]].concat();
    let run = scan(&directory, &expanded);
    // No policy matches Deployments, which are listed for their Pods.
    assert_eq!(total(&run.json()), [1, 1, 0, 0], "{run}");
    impact(&directory, &base).exits(0);
    impact(&directory, &expanded).exits(1);
}
