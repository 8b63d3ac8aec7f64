//! Exceptions and baselines of `replay` and `impact`.

use std::fs;

use serde_json::{Value, json};

use crate::project::POLICY;
use crate::support::{Directory, Run, git};

fn event(name: &str, replicas: i32) -> String {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a", "image": "a"}]}}},
    });
    let event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "stage": "ResponseComplete", "auditID": name, "verb": "create",
        "requestURI": "/apis/apps/v1/namespaces/shop/deployments", "user": {"username": "ann"},
        "objectRef": {"resource": "deployments", "namespace": "shop", "name": name, "apiGroup": "apps", "apiVersion": "v1"},
        "responseStatus": {"code": 201}, "requestObject": object,
    });
    format!("{event}\n")
}

const EXCEPTIONS: &str = "apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions:\n- {policy: few, names: [large], reason: it is large}\n";

fn directory() -> Directory {
    Directory::new()
        .with("policies/few.yaml", POLICY)
        .with("none/few.yaml", POLICY.replace("<= 3", "<= 1000"))
        .with("log", event("large", 9) + &event("small", 1) + &event("large", 9))
        .with("exceptions.yaml", EXCEPTIONS)
}

const REPLAY: &[&str] = &["replay", "log", "--policies", "policies"];
const IMPACT: &[&str] = &["impact", "log", "--old", "none", "--new", "policies"];

#[track_caller]
fn check(line: &[&str], command: &str, counts: fn(&Value) -> [&Value; 2]) {
    let directory = directory();
    let run = |more: &[&str]| -> Run { directory.run(&[line, more].concat()) };
    run(&[]).exits(1);
    // By an exception.
    let excepted = run(&["--exceptions", "exceptions.yaml"]);
    excepted
        .exits(0)
        .stdout_has("accepted: 2 findings by 1 of 1 exception");
    let json = run(&["--exceptions", "exceptions.yaml", "-o", "json"]).json();
    assert_eq!(counts(&json), [&json!(0), &json!(2)], "{json}");
    assert_eq!(json["acceptedFindings"]["excepted"], 2, "{json}");
    run(&["--exceptions", "exceptions.yaml", "-o", "ndjson"])
        .stdout_has("\"acceptedBy\":\"exception\"")
        .stdout_has("it is large");
    // By a baseline, which is written once. What was made once more is known as well.
    run(&["--write-baseline", "baseline.json"]).exits(1);
    let baseline = fs::read_to_string(directory.path().join("baseline.json")).unwrap();
    assert!(
        baseline.contains(&format!("\"command\": \"{command}\"")),
        "{baseline}"
    );
    let more = event("large", 9) + &event("large", 9) + &event("large", 8);
    let again = directory.with("log", more);
    let run = |more: &[&str]| -> Run { again.run(&[line, more].concat()) };
    let known = run(&["--baseline", "baseline.json"]);
    known
        .exits(0)
        .stdout_has("accepted: 3 findings known to baseline.json");
    assert!(
        !known.stderr.contains("gone") && !known.stderr.contains("as often"),
        "{known}"
    );
    let new = again.with("log", event("other", 9));
    let run = |more: &[&str]| -> Run { new.run(&[line, more].concat()) };
    run(&["--baseline", "baseline.json"]).exits(1);
    run(&["--baseline", "baseline.json", "--checkpoint", "c.json"]).exits(2);
}

#[test]
fn requests_that_are_refused_now() {
    check(REPLAY, "replay", |json| [&json["refusedNow"], &json["accepted"]]);
}

#[test]
fn requests_that_are_newly_refused() {
    check(IMPACT, "impact", |json| {
        [&json["newlyRefused"], &json["accepted"]]
    });
}

#[test]
fn impact_takes_the_policies_of_the_project_file() {
    let directory = Directory::new()
        .with("policies/few.yaml", POLICY.replace("<= 3", "<= 1000"))
        .with(
            "more/few.yaml",
            POLICY
                .replace("name: few", "name: more")
                .replace("policyName: few", "policyName: more")
                .replace("<= 3", "<= 1000"),
        )
        .with("log", event("large", 9))
        .with(
            "pratique.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies, more]\n",
        );
    git(directory.path(), &["init", "--quiet"]);
    git(directory.path(), &["add", "."]);
    git(directory.path(), &["commit", "--quiet", "--message", "a"]);
    let directory = directory.with("policies/few.yaml", POLICY);
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |line: &[&str]| directory.run_with(line, "", &[("PATH", &path)]);
    run(&["impact", "log", "--old-rev", "HEAD"])
        .exits(1)
        .stdout_has("1 newly refused")
        .stdout_has("HEAD:policies, HEAD:more");
    // Two sets that are named are no revisions of these.
    run(&["impact", "log", "--old", "policies", "--new", "more"])
        .exits(0)
        .stdout_has("1 newly allowed");
}
