//! Namespaces of the cluster that inputs change: what the cluster has counts up to that place.

use std::fmt::Write as _;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run};

/// A namespace with labels.
fn namespace(labels: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{{labels}}}}}\n")
}

/// A directory with a policy that refuses Pods in namespaces with `env: prod`, and a cluster where that is one.
fn cluster() -> Directory {
    let policy = POLICY.replace(
        "    message: privileged containers are not allowed",
        "  - expression: namespaceObject.metadata.labels.?env.orValue('') != 'prod'\n    message: no Pods in prod",
    );
    files(&policy, BINDING).with("state.yaml", namespace("env: prod"))
}

const CHANGED: &str = "it changes the labels of the namespace shop, which the cluster has";

/// Inputs, and how many of their Pods are allowed and denied.
fn inputs() -> Vec<(&'static str, String, [usize; 2])> {
    let dev = namespace("env: dev");
    let list = |objects: &[&str]| {
        let mut list = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
        for object in objects {
            let object = object.trim_end().replace('\n', "\n  ");
            writeln!(list, "- {object}").unwrap();
        }
        list
    };
    vec![
        ("later", format!("{CLEAN}---\n{dev}"), [0, 1]),
        ("earlier", format!("{dev}---\n{CLEAN}"), [1, 0]),
        ("between", format!("{CLEAN}---\n{dev}---\n{CLEAN}"), [1, 1]),
        ("list", list(&[CLEAN, &dev, CLEAN]), [1, 1]),
        (
            "back",
            format!("{dev}---\n{CLEAN}---\n{}---\n{CLEAN}", namespace("env: prod")),
            [1, 1],
        ),
    ]
}

#[track_caller]
fn tells(run: &Run) {
    let told = run.stderr.matches(CHANGED).count();
    assert!(told > 0, "{run}");
}

#[test]
fn reviews_follow_the_order_of_inputs() {
    for (name, input, [allowed, denied]) in inputs() {
        let namespaces = input.matches("kind: Namespace").count();
        let counts = format!("{} allowed, {denied} denied", allowed + namespaces);
        let directory = cluster().with("all.yaml", &input);
        let review = |arguments: &[&str]| {
            let base = ["review", "--manifests", "policies", "--objects", "state.yaml"];
            directory.run_with(&[&base, arguments].concat(), &input, &[])
        };
        for arguments in [
            &["all.yaml"][..],
            &["-"],
            &["--chain", "--objects-complete", "all.yaml"],
            &["--objects-complete", "all.yaml"],
        ] {
            let run = review(arguments);
            assert_eq!(run.counts(), Some(&*counts), "{name}: {run}");
            assert_eq!(run.code, Some(i32::from(denied > 0)), "{name}: {run}");
            tells(&run);
        }
        // What the cluster has may be a snapshot's, or what was there before.
        let run = directory.run(&[
            "review",
            "--manifests",
            "policies",
            "--namespace-object",
            "state.yaml",
            "all.yaml",
        ]);
        assert_eq!(run.counts(), Some(&*counts), "{name}: {run}");
    }
    // Files count in their order.
    let directory = cluster()
        .with("all/a.yaml", CLEAN)
        .with("all/b.yaml", namespace("env: dev"))
        .with("all/c.yaml", CLEAN);
    let review = ["review", "--manifests", "policies", "--objects", "state.yaml"];
    let run = directory.run(&[&review[..], &["all"]].concat());
    assert_eq!(run.counts(), Some("2 allowed, 1 denied"), "{run}");
    run.stderr_has(&format!("all/b.yaml:1:1: {CHANGED}"));
    let run = directory.run(&[&review[..], &["all/b.yaml", "all/a.yaml"]].concat());
    assert_eq!(run.counts(), Some("2 allowed, 0 denied"), "{run}");
}

#[test]
fn what_stays_the_same_is_not_told() {
    let same = namespace("env: prod").replace("labels", "annotations: {}, labels");
    let directory = cluster().with("all.yaml", format!("{same}---\n{CLEAN}"));
    let review = [
        "review",
        "--manifests",
        "policies",
        "--objects",
        "state.yaml",
        "all.yaml",
    ];
    let run = directory.run(&review);
    assert_eq!(run.counts(), Some("1 allowed, 1 denied"), "{run}");
    assert!(!run.stderr.contains("it changes"), "{run}");
    // Where nothing else says what a namespace is, an input says it for all.
    let directory = cluster().with("all.yaml", format!("{CLEAN}---\n{}", namespace("env: dev")));
    let run = directory.run(&["review", "--manifests", "policies", "all.yaml"]);
    assert_eq!(run.counts(), Some("2 allowed, 0 denied"), "{run}");
    assert!(!run.stderr.contains("it changes"), "{run}");
}

#[test]
fn scans_and_comparisons_follow_it_too() {
    for (name, input, [_, denied]) in inputs() {
        let directory = cluster()
            .with("all.yaml", &input)
            .with("none/p.yaml", POLICY.replace("[\"pods\"]", "[\"services\"]"))
            .with("none/b.yaml", BINDING);
        let scan = directory.run(&[
            "scan",
            "--manifests",
            "policies",
            "--objects",
            "state.yaml",
            "--output",
            "json",
            "all.yaml",
        ]);
        let report = scan.json();
        let counted = report["tally"]["total"]["denied"].as_u64().unwrap_or_default();
        assert_eq!(counted, denied as u64, "{name}: {scan}");
        tells(&scan);
        assert!(report["notices"].to_string().contains(CHANGED), "{scan}");
        let impact = directory.run(&[
            "impact",
            "--old",
            "none",
            "--new",
            "policies",
            "--objects",
            "state.yaml",
            "--output",
            "json",
            "all.yaml",
        ]);
        assert_eq!(impact.json()["newlyRefused"], denied, "{name}: {impact}");
        tells(&impact);
    }
}

/// The levels of Pod Security are labels as well.
#[test]
fn levels_follow_it_too() {
    let enforce = |level: &str| namespace(&format!("pod-security.kubernetes.io/enforce: {level}"));
    let directory = Directory::new().with("state.yaml", enforce("restricted")).with(
        "all.yaml",
        format!("{PRIVILEGED}---\n{}---\n{PRIVILEGED}", enforce("privileged")),
    );
    let state = ["--objects", "state.yaml", "all.yaml"];
    let review = directory.run(&[&["review", "--chain", "--objects-complete"][..], &state].concat());
    review
        .exits(1)
        .stdout_has("violates PodSecurity \"restricted:latest\"");
    assert_eq!(review.counts(), Some("2 allowed, 1 denied"), "{review}");
    let scan = directory.run(&[&["scan", "--chain", "--output", "json"][..], &state].concat());
    assert_eq!(scan.json()["tally"]["total"]["denied"], 1, "{scan}");
}
