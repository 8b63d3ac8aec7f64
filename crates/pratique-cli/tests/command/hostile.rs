//! Hostile inputs: a clear error in bounded time, and no crash.

use std::time::Duration;

use crate::story::{BINDING, CLEAN, POLICY, files};
use crate::support::{Directory, Run, within};

/// Debug builds on busy machines are slow; unbounded work takes hours.
const LIMIT: Duration = Duration::from_secs(120);

/// A policy with this expression.
fn policy(expression: &str) -> String {
    let quoted = expression.replace('\'', "''");
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
         metadata: {{name: deny-privileged.static.k8s.io}}\nspec:\n  matchConstraints:\n    resourceRules:\n    \
         - {{apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [pods]}}\n  \
         validations:\n  - expression: '{quoted}'\n"
    )
}

/// The load error of a policy with this expression.
#[track_caller]
fn refused(expression: &str, expected: &str) {
    let run = within(LIMIT, || {
        files(&policy(expression), BINDING).run(&["check", "policies"])
    });
    assert_eq!(run.code, Some(1), "{}", head(&run));
    assert!(run.stdout.contains(expected), "{}", head(&run));
    assert_eq!(run.stderr, "");
}

/// The review of a Pod by a policy with this expression.
#[track_caller]
fn denied(expression: &str, expected: &str) {
    let files = files(&policy(expression), BINDING);
    let run = within(LIMIT, || {
        files.run(&["review", "--manifests", "policies", "good.yaml"])
    });
    assert_eq!(run.code, Some(1), "{}", head(&run));
    assert!(run.stdout.contains(expected), "{}", head(&run));
}

fn head(run: &Run) -> String {
    run.to_string().chars().take(3000).collect()
}

/// Many entries of a list cost no more than what they name.
#[test]
fn equal_entries_are_read_once() {
    let entries = ["p.yaml"; 4000].join(", ");
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: p.example.com}\nspec:\n  matchConstraints:\n    resourceRules:\n    \
        - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}\n  \
        validations: [{expression: 'true'}]\n";
    let directory = Directory::new()
        .with("p.yaml", policy)
        .with("pod.yaml", CLEAN)
        .with(
            "pratique.yaml",
            format!("apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [{entries}]\n"),
        );
    let run = within(LIMIT, || directory.run(&["review", "--bind", "pod.yaml"]));
    assert!(run.code == Some(0), "{}", head(&run));
}

#[cfg(unix)]
#[test]
fn pipes_that_nobody_names_are_not_waited_for() {
    let directory = Directory::new().with("pod.yaml", CLEAN).with(
        "state/snapshot.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Snapshot\n",
    );
    let pipe = |name: &str| {
        let path = directory.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    pipe("state/namespaces.yaml");
    let run = directory.run(&["review", "--snapshot", "state", "pod.yaml"]);
    run.exits(2)
        .stderr_has("state/namespaces.yaml: not a regular file");
    let run = directory.run(&["review", "--objects", "state", "pod.yaml"]);
    run.exits(2)
        .stderr_has("state/namespaces.yaml: not a regular file");
    std::fs::create_dir(directory.path().join("other")).unwrap();
    pipe("other/snapshot.yaml");
    let run = directory.run(&["review", "--snapshot", "other", "pod.yaml"]);
    run.exits(2).stderr_has("other/snapshot.yaml: not a regular file");
    let run = directory.run(&["check", "other"]);
    run.shows(&["other/snapshot.yaml: not a regular file"]);
}

#[test]
fn a_broken_index_is_told_and_is_not_missing() {
    let directory = Directory::new().with("pod.yaml", CLEAN).with(
        "state/snapshot.yaml",
        "apiVersion: pratique/v1alpha1\nkind: [Snapshot\n",
    );
    let run = directory.run(&["review", "--snapshot", "state", "pod.yaml"]);
    run.exits(2).stderr_has("state/snapshot.yaml:");
    assert!(!run.stderr.contains("it has no snapshot.yaml"), "{run}");
}

#[test]
fn deep_expressions() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(10_000), close.repeat(10_000))
    };
    refused(
        &deep("(", "true", ")"),
        "expression recursion limit exceeded: 250",
    );
    refused(&deep("[", "", "]"), "expression recursion limit exceeded: 250");
    refused(&deep("{1:", "1", "}"), "expression recursion limit exceeded: 250");
}

#[test]
fn long_chains() {
    refused(
        &format!("object{}", ".f()".repeat(10_000)),
        "max recursion depth exceeded",
    );
    refused(
        &format!("object{} == 1", ".f".repeat(10_000)),
        "max recursion depth exceeded",
    );
    refused(
        &format!("1{} == 1", "+1".repeat(10_000)),
        "max recursion depth exceeded",
    );
    refused(&"x".repeat(200_000), "expression code point size exceeds limit");
}

#[test]
fn expressions_that_would_never_end() {
    let range = "[0,1,2,3,4,5,6,7,8,9]";
    let all = (0..9).fold("true".to_owned(), |inner, level| {
        format!("{range}.all(v{level}, {inner})")
    });
    denied(&all, "actual cost limit exceeded");
    denied(
        "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))",
        "cost limit",
    );
    denied("lists.range(1000000000).all(a, true)", "exceeds maximum allowed");
}

#[test]
fn regexes_that_backtrack() {
    denied(
        &format!("'{}!'.matches('^(a+)+$')", "a".repeat(50_000)),
        "failed expression",
    );
    refused("'a'.matches('((a{1,1000}){1,1000}){1,1000}')", "invalid");
}

#[test]
fn aliases_that_multiply() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (anchor, other) in ('b'..='j').zip('a'..) {
        let aliases = vec![format!("*{other}"); 10].join(", ");
        bomb.push_str(&format!("{anchor}: &{anchor} [{aliases}]\n"));
    }
    let directory = Directory::new()
        .with("m/bomb.yaml", &bomb)
        .with("bomb.yaml", &bomb);
    let plugin = ["check", "--plugin", "ValidatingAdmissionPolicy", "m"];
    within(LIMIT, || directory.run(&plugin)).is("alias-bomb.txt");
    within(LIMIT, || directory.run(&["review", "bomb.yaml"])).is("alias-bomb-input.txt");
}

#[test]
fn nested_documents() {
    let json = format!("{{\"a\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let yaml = format!("a: {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let directory = Directory::new().with("a.json", json).with("b.yaml", yaml);
    for (name, expected) in [("a.json", "exceeded max depth"), ("b.yaml", "512 levels deep")] {
        let run = within(LIMIT, || directory.run(&["review", name]));
        assert_eq!(run.code, Some(2), "{}", head(&run));
        assert!(run.stderr.contains(expected), "{}", head(&run));
    }
}

#[test]
fn large_files() {
    let large = format!("kind: ValidatingAdmissionPolicy\nx: '{}'\n", "x".repeat(50 << 20));
    let directory = Directory::new()
        .with("m/large.yaml", &large)
        .with("large.yaml", &large);
    let plugin = ["check", "--plugin", "ValidatingAdmissionPolicy", "m"];
    let run = within(LIMIT, || directory.run(&plugin));
    assert_eq!(run.code, Some(1), "{}", head(&run));
    assert!(
        run.stdout
            .starts_with("error: error loading m/large.yaml: Object 'apiVersion' is missing in"),
        "{}",
        head(&run)
    );
    assert!(run.stdout.len() < 1 << 20, "{} bytes", run.stdout.len());
    within(LIMIT, || directory.run(&["review", "large.yaml"])).is("large-input.txt");
}

#[test]
fn bytes_that_are_no_text() {
    let mut bytes = CLEAN.as_bytes().to_vec();
    bytes.extend(b"  nodeName: \xff\xfe\n");
    let directory = Directory::new()
        .with("policies/p.yaml", [POLICY.as_bytes(), b"# \xff\n"].concat())
        .with("pod.yaml", &bytes)
        .with("noise.yaml", [0x80_u8, 0x00, 0xff, 0x1b, 0x7f].repeat(1000));
    directory.run(&["check", "policies"]).is("no-utf8.txt");
    directory.run(&["review", "pod.yaml"]).is("no-utf8-input.txt");
    let run = directory.run(&["review", "noise.yaml"]);
    run.exits(2);
}
