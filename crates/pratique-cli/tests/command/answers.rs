//! What `pratique review` prints, what it fails for, and the Pods of workloads.

use serde_json::Value;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::Directory;

/// A Pod that is denied, one that is allowed, and a document that is none.
fn several() -> Directory {
    files(POLICY, BINDING).with("all.yaml", format!("{CLEAN}---\n{PRIVILEGED}---\na: [\n"))
}

#[test]
fn every_format() {
    for format in ["ndjson", "junit", "github"] {
        several()
            .run(&[
                "review",
                "--manifests",
                "policies",
                "--output",
                format,
                "all.yaml",
            ])
            .is(&format!("review-{format}.txt"));
    }
    several()
        .run(&["review", "--manifests", "policies", "--quiet", "all.yaml"])
        .is("review-quiet.txt");
    several()
        .run(&["review", "--manifests", "policies", "--summary", "all.yaml"])
        .is("review-summary.txt");
}

#[test]
fn for_code_scanning() {
    let run = several().run(&[
        "review",
        "--manifests",
        "policies",
        "--output",
        "sarif",
        "all.yaml",
    ]);
    let log = run.json();
    let of = &log["runs"][0];
    assert_eq!(
        (&log["version"], &of["invocations"][0]["exitCode"]),
        (&"2.1.0".into(), &1.into())
    );
    let results = of["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{log}");
    assert_eq!(results[0]["ruleId"], "deny-privileged.static.k8s.io");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "all.yaml");
    assert_eq!(place["region"]["startLine"], 9, "{log}");
    assert_eq!(results[1]["ruleId"], "input");
    let rules: Vec<&Value> = of["tool"]["driver"]["rules"].as_array().unwrap().iter().collect();
    assert!(
        results
            .iter()
            .all(|result| rules.iter().any(|rule| rule["id"] == result["ruleId"]))
    );
}

#[test]
fn json_says_which_policy_and_where() {
    let run = several().run(&[
        "review",
        "--manifests",
        "policies",
        "--output",
        "json",
        "--summary",
        "all.yaml",
    ]);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let denied = &lines[1]["result"];
    assert_eq!(
        (
            &denied["file"],
            &denied["line"],
            &denied["namespace"],
            &denied["name"]
        ),
        (&"all.yaml".into(), &9.into(), &"shop".into(), &"bad".into())
    );
    let policy = &denied["policies"][0];
    assert_eq!(policy["binding"], "deny-privileged-binding.static.k8s.io");
    assert_eq!(
        (&policy["action"], &policy["message"]),
        (&"deny".into(), &"privileged containers are not allowed".into())
    );
    assert_eq!(lines[1]["kind"], "AdmissionReview");
    assert!(
        lines[2]["error"]["place"]
            .as_str()
            .unwrap()
            .starts_with("all.yaml:")
    );
    let summary = &lines[3]["summary"];
    assert_eq!((&summary["denied"], &summary["errors"]), (&1.into(), &1.into()));
    assert_eq!(summary["policies"][0]["namespace"], "shop");
}

#[test]
fn what_a_review_fails_for() {
    let acting = |actions: &str| BINDING.replace("[Deny]", actions);
    for (actions, input, fail_on, code) in [
        ("[Deny]", PRIVILEGED, None, 1),
        ("[Deny]", PRIVILEGED, Some("warn,error"), 0),
        ("[Warn]", PRIVILEGED, None, 0),
        ("[Warn]", PRIVILEGED, Some("warn"), 1),
        ("[Audit]", PRIVILEGED, Some("deny,warn"), 0),
        ("[Audit]", PRIVILEGED, Some("audit"), 1),
        ("[Deny]", "a: [", None, 2),
        ("[Deny]", "a: [", Some("deny"), 0),
        ("[Deny]", CLEAN, Some("deny,warn,audit,undecided,error"), 0),
    ] {
        let directory = files(POLICY, &acting(actions)).with("in.yaml", input);
        let flags: Vec<&str> = fail_on.into_iter().flat_map(|on| ["--fail-on", on]).collect();
        let run = directory.run(&[&["review", "--manifests", "policies", "in.yaml"][..], &flags].concat());
        assert_eq!(run.code, Some(code), "{actions} {fail_on:?}\n{run}");
    }
    let run = files(POLICY, &acting("[Warn, Audit]")).run(&["review", "--manifests", "policies", "bad.yaml"]);
    assert_eq!(
        run.stdout.lines().last(),
        Some("1 allowed, 0 denied, 1 warning, 1 audited"),
        "{run}"
    );
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: i, securityContext: {privileged: true}}
";

#[test]
fn pods_of_workloads() {
    let directory = files(POLICY, BINDING)
        .with("web.yaml", DEPLOYMENT)
        .with(
            "empty.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: none}\nspec: {}\n",
        )
        .with(
            "rollout.yaml",
            DEPLOYMENT
                .replace("apps/v1", "argoproj.io/v1alpha1")
                .replace("Deployment", "Rollout"),
        );
    let review =
        |arguments: &[&str]| directory.run(&[&["review", "--manifests", "policies"][..], arguments].concat());
    review(&["--expand", "web.yaml"]).is("expanded.txt");
    review(&["web.yaml"]).is("not-expanded.txt");
    let run = review(&["--expand", "empty.yaml"]);
    run.exits(2).stderr_has("it has no Pod template at spec.template");
    assert_eq!(
        review(&["--operation", "delete", "--expand", "web.yaml"]).code,
        Some(0)
    );
    assert_eq!(review(&["--expand", "rollout.yaml"]).code, Some(0));
    let template = ["--expand", "--pod-template", "Rollout.argoproj.io=spec.template"];
    let run = review(&[&template[..], &["--output", "ndjson", "rollout.yaml"]].concat());
    let pod: Value = serde_json::from_str(run.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        (&pod["parent"]["kind"], &pod["parent"]["name"], &pod["decision"]),
        (&"Rollout".into(), &"web".into(), &"denied".into())
    );
    assert_eq!(review(&["--pod-template", "a", "web.yaml"]).code, Some(2));
}
