//! The words of other tools, as docs/other-tools.md has them: each row is tried.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::project::POLICY;
use crate::support::{Directory, Run};

/// A row: the tool, what is typed, and what it is here.
struct Row {
    tool: String,
    typed: String,
    here: String,
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/other-tools.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text
        .split_once("| tool | typed | here |\n|---|---|---|\n")
        .unwrap();
    let rows = rest.lines().take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [tool, typed, here] = cells.as_slice() else {
            panic!("{line}")
        };
        Row {
            tool: (*tool).to_owned(),
            typed: (*typed).to_owned(),
            here: (*here).to_owned(),
        }
    })
    .collect()
}

/// What is code in a text.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

const WEB: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: \
    {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}}}\n";

fn directory() -> Directory {
    Directory::new()
        .with("policies/few.yaml", POLICY)
        .with("deploy/web.yaml", WEB)
        .with(
            "state/shop.yaml",
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
        )
        .with(
            "exceptions.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions: []\n",
        )
        .with(
            "tests/suite.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [../policies]\ntests:\n\
             - {name: large, object: ../deploy/web.yaml, expect: allowed}\n",
        )
}

fn run(directory: &Directory, line: &str) -> Run {
    let words: Vec<&str> = line.split(' ').collect();
    let (program, arguments) = words.split_first().unwrap();
    assert_eq!(*program, "pratique");
    directory.run_with(arguments, WEB, &[])
}

#[test]
fn each_word_works_or_points_to_ours() {
    let rows = rows();
    assert!(rows.len() >= 60, "{}", rows.len());
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for Row { tool, typed, here } in &rows {
        *tools.entry(tool.as_str()).or_default() += 1;
        let directory = directory();
        let found = run(&directory, codes(typed).next().unwrap());
        if let Some(tips) = here.strip_prefix("points to ") {
            found.exits(2);
            for tip in codes(tips) {
                assert!(found.stderr.contains(tip), "{typed}: {tip:?} is not in {found}");
            }
            continue;
        }
        let expected = run(&directory, codes(here).next().unwrap());
        // Tests tell how long they took.
        let is_test = codes(typed)
            .flat_map(|line| line.split(' '))
            .any(|word| ["test", "verify"].contains(&word));
        let shown = |run: &Run| {
            let stdout = if is_test { "" } else { run.stdout.as_str() };
            (run.code, stdout.to_owned())
        };
        assert_eq!(shown(&found), shown(&expected), "{typed}: {found}{expected}");
        assert!([Some(0), Some(3)].contains(&found.code), "{typed}: {found}");
    }
    let expected = [
        "conftest",
        "gator",
        "kube-linter",
        "kubeconform",
        "kubectl",
        "kubectl-validate",
        "kwctl",
        "kyverno",
        "pluto",
    ];
    assert_eq!(tools.keys().copied().collect::<Vec<_>>(), expected);
}

#[test]
fn policies_among_the_objects_are_told() {
    let directory = directory();
    let run = directory.run(&["review", "policies", "deploy"]);
    run.exits(3).stderr_has("policies: there are only policies in it");
    let junit = directory.run(&["review", "policies", "deploy", "-o", "junit"]);
    junit
        .exits(3)
        .stdout_has("--policies policies evaluates them for the others");
    directory
        .run(&["review", "policies", "deploy", "--input-policies"])
        .exits(0);
    let alone = directory.run(&["review", "policies"]);
    alone.exits(0);
    assert!(!alone.to_string().contains("for the others"), "{alone}");
}

#[test]
fn suites_are_looked_for_where_one_is() {
    let run = directory().run(&["test"]);
    run.exits(0).stdout_has("1 passed");
    Directory::new().with("a.txt", "").run(&["test"]).exits(2);
}

#[test]
fn with_nothing_to_do_that_is_said() {
    let run = directory().run(&[]);
    run.exits(3)
        .stderr_has("there is nothing to do")
        .stderr_has("`pratique init`");
    let empty = "apiVersion: pratique/v1alpha1\nkind: Configuration\n";
    let run = directory()
        .with("pratique.yaml", empty)
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .run(&[]);
    run.exits(3)
        .stderr_has("there is nothing to check, review or test");
}

#[test]
fn short_help_fits_on_a_screen() {
    let directory = directory();
    for command in ["check", "review", "scan", "test", "replay"] {
        let help = directory.run(&[command, "-h"]);
        help.exits(0);
        assert!(help.stdout.lines().count() <= 40, "{help}");
        let whole = directory.run(&[command, "--help"]);
        assert!(whole.stdout.lines().count() > help.stdout.lines().count());
        assert!(!format!("{help}{whole}").contains("[env"), "{help}");
    }
}

#[test]
fn duplicates_are_told() {
    let directory = directory().with("more/again.yaml", WEB);
    let run = directory.run(&["review", "deploy", "more", "--policies", "policies"]);
    run.exits(0).stderr_has(
        "more/again.yaml:1:1: Deployment default/web is among the inputs before, at deploy/web.yaml:1:1",
    );
    directory
        .run(&["review", "deploy", "more", "-o", "github"])
        .stdout_has("::warning file=more/again.yaml,line=1,col=1,title=duplicate-object");
    directory
        .run(&["review", "deploy", "more", "--fail-on", "warn"])
        .exits(1);
}

/// Flags that no other tool has, and that are typed all the same.
#[test]
fn flags_that_are_guessed_are_taken() {
    let directory = directory();
    let run = |flag: &str| directory.run(&["review", "deploy", "--policies", "policies", flag, "1.36"]);
    let (guessed, ours) = (run("--k8s-version"), run("--kubernetes-version"));
    ours.exits(0).stdout_has("Kubernetes 1.36");
    assert_eq!(
        (guessed.code, &guessed.stdout),
        (ours.code, &ours.stdout),
        "{guessed}"
    );
}

/// A file that is a copy of another is told once, whatever looks at it, and on one of both streams.
#[test]
fn copies_of_files_are_told_by_all() {
    let map = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n---\n")
    };
    let maps = map("a") + &map("b");
    let directory = directory().with("a.yaml", &maps).with("b.yaml", &maps);
    let told = "b.yaml: 2 objects of it are among the inputs before, in a.yaml: ConfigMap shop/a and 1 more: each is reviewed, and of \
                those that are sent the last one counts; --exclude GLOB leaves files out";
    for line in [
        &["review", "--policies", "policies"][..],
        &["scan", "--policies", "policies"],
        &["impact", "--old", "policies", "--new", "policies"],
        &[
            "upgrade",
            "--policies",
            "policies",
            "--from",
            "1.36",
            "--to",
            "1.37",
        ],
    ] {
        let run = directory.run(&[line, &["a.yaml", "b.yaml"]].concat());
        assert_eq!(run.to_string().matches(told).count(), 1, "{run}");
        let run = directory.run(&[line, &["a.yaml", "b.yaml", "-o", "json"]].concat());
        let (_, message) = told.split_once(": ").unwrap();
        run.stderr_has(told).stdout_has(message);
        let run = directory.run(&[line, &["a.yaml"]].concat());
        assert!(!run.to_string().contains("among the inputs before"), "{run}");
    }
}
