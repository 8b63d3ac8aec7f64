//! Files that are inputs of a review, and those that are none: `docs/review.md`.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::story::{BINDING, CLEAN, POLICY, files};

#[test]
fn files_of_directories_are_chosen_by_their_names() {
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    let line = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"line"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
    writeln!(compressed, "{line}").unwrap();
    let named = |name: &str| CLEAN.replace("good", name);
    let files = files(POLICY, BINDING)
        .with("in/a.yaml", named("yaml"))
        .with("in/b.yml", named("yml"))
        .with("in/c.json", line.replace("line", "json"))
        .with("in/d.ndjson.gz", compressed.finish().unwrap())
        .with("in/e.jsonl", line.replace("line", "jsonl"))
        .with("in/f.txt", named("text"))
        .with("in/.g.yaml", named("hidden"))
        .with("in/.h/a.yaml", named("within-hidden"))
        .with("in/i.yaml", named("ignored"))
        .with("in/.gitignore", "i.yaml\n")
        .with("elsewhere/a.yaml", named("linked"));
    std::os::unix::fs::symlink("../elsewhere", files.path().join("in/z")).unwrap();
    let run = files.run(&["review", "--manifests", "policies", "in"]);
    let named: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.split_once("CREATE pods ")?.1.strip_suffix(": allowed"))
        .filter_map(|name| Some(name.split_once('/')?.1))
        .collect();
    assert_eq!(
        named,
        ["hidden", "within-hidden", "yaml", "yml", "json", "line", "jsonl"],
        "{run}"
    );
    // What is named itself is read, whatever its name.
    let run = files.run(&[
        "review",
        "--manifests",
        "policies",
        "in/f.txt",
        "in/.g.yaml",
        "in/i.yaml",
    ]);
    assert_eq!(run.counts(), Some("3 allowed, 0 denied"), "{run}");
}

#[test]
fn every_document_has_an_answer_or_an_error() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n\
                - {kind: Pod}\n- 7\n";
    let files = files(POLICY, BINDING).with("list.yaml", list);
    let run = files.run(&["review", "--manifests", "policies", "list.yaml"]);
    run.exits(2);
    assert_eq!(run.counts(), Some("1 allowed, 0 denied, 2 errors"), "{run}");
    for place in [
        "list.yaml:5:3: Object 'apiVersion' is missing",
        "list.yaml:6:3: expected an object",
    ] {
        run.stderr_has(place);
    }
}
