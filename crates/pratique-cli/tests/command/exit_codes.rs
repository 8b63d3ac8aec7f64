//! The exit codes of all commands are those of one table.

use std::fs;
use std::path::Path;

use crate::story::{BINDING, POLICY, files};

fn suite(expected: &str) -> String {
    format!(
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: s}}\npolicies: [policies]\ntests:\n- name: t\n  object:\n    \
         apiVersion: v1\n    kind: Pod\n    metadata: {{name: a, namespace: shop}}\n    spec: {{containers: [{{name: c, image: i}}]}}\n  \
         expect: {expected}\n"
    )
}

/// A log with a Pod that was created.
fn log(privileged: bool) -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","verb":"create","requestURI":"/","objectRef":{{"resource":"pods","namespace":"shop","name":"a","apiVersion":"v1"}},"responseStatus":{{"code":201}},"requestObject":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"shop"}},"spec":{{"containers":[{{"name":"c","image":"i","securityContext":{{"privileged":{privileged}}}}}]}}}}}}"#
    )
}

/// The rows of the table: a code, and when.
fn table() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/review.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("| code | when |\n|---|---|\n").unwrap();
    rest.lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let code = cells.next().unwrap().to_owned();
            (code, cells.next().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn exit_codes_are_those_of_the_table() {
    let expected = [
        ("0", "everything is valid, allowed, as expected"),
        (
            "1",
            "something is denied or invalid, a policy cannot be loaded, or a test fails",
        ),
        ("2", "wrong usage, or something cannot be read or evaluated"),
        (
            "3",
            "nothing is denied, but a decision depends on something that was not given, or no policy is evaluated",
        ),
    ];
    let expected = expected.map(|(code, when)| (code.to_owned(), when.to_owned()));
    assert_eq!(table(), expected);
    let unknown = POLICY.replace(
        "    message: privileged containers are not allowed",
        "  - expression: namespaceObject.metadata.labels.tier == 'gold'",
    );
    let files = files(POLICY, BINDING)
        .with("unknown/policy.yaml", unknown)
        .with("unknown/binding.yaml", BINDING)
        .with("unbound/policy.yaml", POLICY)
        .with("invalid/policy.yaml", POLICY.replace("Fail", "Fial"))
        .with("broken.yaml", "a: [\n")
        .with("passes.yaml", suite("allowed"))
        .with("fails.yaml", suite("denied"))
        .with("good.log", log(false))
        .with("bad.log", log(true))
        .with("broken.log", "{\"kind\":\n");
    let review = |policies, object| ["review", "--manifests", policies, object];
    let replay = |policies, log| ["replay", "--manifests", policies, log];
    let impact = |old, new, log| ["impact", "--old", old, "--new", new, log];
    let scan = |policies, objects| ["scan", "--manifests", policies, objects];
    let all: [(&[&str], i32); 35] = [
        (&["check", "policies"], 0),
        (&review("policies", "good.yaml"), 0),
        (&["test", "passes.yaml"], 0),
        (&["check", "invalid"], 1),
        (&review("policies", "bad.yaml"), 1),
        (&review("invalid", "good.yaml"), 1),
        (&["test", "fails.yaml"], 1),
        (&["check", "--nonsense"], 2),
        (&["check", "nowhere"], 2),
        (&review("policies", "nowhere.yaml"), 2),
        (&review("policies", "broken.yaml"), 2),
        (&["test", "nowhere.yaml"], 2),
        (&["test", "--nonsense"], 2),
        (&["serve", "--nonsense"], 2),
        (&["serve", "--manifests", "nowhere"], 2),
        (&review("unknown", "good.yaml"), 3),
        (&review("unbound", "good.yaml"), 3),
        (&replay("policies", "good.log"), 0),
        (&replay("policies", "bad.log"), 1),
        (&replay("invalid", "good.log"), 1),
        (&replay("policies", "broken.log"), 2),
        (&replay("policies", "nowhere.log"), 2),
        (&replay("unknown", "good.log"), 3),
        (&replay("unbound", "good.log"), 3),
        (&impact("unbound", "policies", "good.log"), 0),
        (&impact("unbound", "policies", "bad.log"), 1),
        (&impact("policies", "policies", "broken.log"), 2),
        (&impact("policies", "unknown", "good.log"), 3),
        (&scan("policies", "good.yaml"), 0),
        (&scan("policies", "bad.yaml"), 1),
        (&scan("invalid", "good.yaml"), 1),
        (&scan("policies", "broken.yaml"), 2),
        (&scan("policies", "nowhere.yaml"), 2),
        (&scan("unknown", "good.yaml"), 3),
        (&scan("unbound", "good.yaml"), 3),
    ];
    for (arguments, code) in all {
        let run = files.run(arguments);
        run.exits(code);
    }
}

#[test]
fn what_a_review_fails_for() {
    let binding = BINDING.replace("[Deny]", "[Warn, Audit]");
    let files = files(POLICY, &binding);
    let review = |fail_on: &str, object: &str| {
        let run = files.run(&["review", "--manifests", "policies", "--fail-on", fail_on, object]);
        run.code
    };
    assert_eq!(review("deny", "bad.yaml"), Some(0));
    assert_eq!(review("warn", "bad.yaml"), Some(1));
    assert_eq!(review("audit", "bad.yaml"), Some(1));
    assert_eq!(review("warn,audit", "good.yaml"), Some(0));
}
