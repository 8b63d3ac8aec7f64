//! Inputs of `pratique review` as streams: lists of any length, compressed files, pipes, and what is not known.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run};

#[track_caller]
fn ends(run: &Run, code: i32, counts: &str) {
    assert_eq!(
        (run.code, run.counts()),
        (Some(code), Some(counts)),
        "{}",
        run.stderr
    );
}

/// A Pod as JSON with a long annotation; each hundredth is privileged.
fn pod(number: usize) -> String {
    let spec = if number % 100 == 99 {
        r#","hostPID":true"#
    } else {
        ""
    };
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{number}","annotations":{{"a":"{}"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]{spec}}}}}"#,
        "x".repeat(1000)
    )
}

fn joined(separator: &str) -> String {
    (0..1500).map(pod).collect::<Vec<_>>().join(separator)
}

/// The same as an item of a YAML list.
fn yaml_item(number: usize) -> String {
    let spec = if number % 100 == 99 { ", hostPID: true" } else { "" };
    format!(
        "  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: p{number}\n      annotations:\n        a: |\n          - {}\n    spec: {{containers: [{{name: c, image: i}}]{spec}}}\n",
        "x".repeat(1000)
    )
}

const COUNTS: &str = "1485 allowed, 15 denied";

#[test]
fn long_lists_are_reviewed_by_item() {
    let directory = Directory::new();
    let review = |input: &str| directory.run_with(&["review", "-"], input, &[]);
    for list in [
        format!(
            r#"{{"apiVersion":"v1","kind":"PodList","items":[{}]}}"#,
            joined(",")
        ),
        format!(
            r#"{{"items":[{}],"apiVersion":"v1","kind":"List"}}"#,
            joined(",\n")
        ),
        format!("kind: List\nitems:\n- {}\napiVersion: v1\n", joined("\n- ")),
        format!(
            "---\nitems:\n{}kind: List\n",
            (0..1500).map(yaml_item).collect::<String>()
        ),
    ] {
        let run = review(&list);
        ends(&run, 1, COUNTS);
    }
    ends(&review(&joined("\n")), 1, COUNTS);
    ends(&review(&joined("\n---\n")), 1, COUNTS);
}

#[test]
fn only_lists_are_reviewed_by_item() {
    let directory = Directory::new();
    let list = format!(r#"{{"items":[{}],"apiVersion":"v1","kind":""}}"#, joined(","));
    let run = directory.run_with(&["review", "-"], &list, &[]);
    ends(&run, 1, &format!("{COUNTS}, 1 error"));
    assert!(
        run.stderr
            .contains("<stdin>:1:1: its items were read as those of a list, and it has no kind"),
        "{}",
        run.stderr
    );
    let cut = format!(r#"{{"kind":"PodList","items":[{}"#, joined(","));
    let run = directory.run_with(&["review", "-"], &cut, &[]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("unexpected end of JSON input"),
        "{}",
        run.stderr
    );
}

#[test]
fn places_are_those_of_the_stream() {
    let mut input = String::new();
    for number in 0..300 {
        writeln!(input, "{}", pod(number)).unwrap();
    }
    input += "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"x\":1}}\n{\"a\": \n---\na: [\n";
    let run = Directory::new().run_with(&["review", "-"], &input, &[]);
    ends(&run, 1, "297 allowed, 4 denied, 1 warning, 2 errors");
    assert!(
        run.stdout
            .contains("<stdin>:300:1: CREATE pods default/p299: denied")
    );
    assert!(run.stdout.contains(
        "<stdin>:301:1: CREATE pods default/(no name): denied (422 Invalid)\n  Pod \"\" is invalid: \
         metadata.name: Required value: name or generateName is required\n    <stdin>:301:2: metadata.name: "
    ));
    assert!(
        run.stderr
            .contains("<stdin>:302:6: unexpected end of JSON input [syntax]\n302 | {\"a\":"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("<stdin>:304:5: yaml:"), "{}", run.stderr);
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_inputs() {
    let both = [compressed(CLEAN), compressed(&format!("---\n{PRIVILEGED}"))].concat();
    let directory = Directory::new()
        .with("pods/a.yaml.gz", both)
        .with("pods/b.yaml", CLEAN)
        .with("pods/c.gz", "not objects")
        .with("broken.json.gz", &compressed(CLEAN)[..30]);
    ends(&directory.run(&["review", "pods"]), 1, "2 allowed, 1 denied");
    let run = directory.run(&["review", "broken.json.gz", "pods/b.yaml"]);
    ends(&run, 2, "1 allowed, 0 denied, 1 error");
    run.stderr_has("error: broken.json.gz: ");
}

#[test]
fn compressed_state_and_policies() {
    let policy = POLICY.replace(
        "    message: privileged containers are not allowed",
        "  - expression: namespaceObject.metadata.labels.tier == 'gold'\n  - expression: oldObject == null || oldObject.spec.nodeName == 'a'",
    );
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: gold}}\n";
    let old = CLEAN.replace("spec:", "spec:\n  nodeName: a");
    let files = files(&policy, BINDING)
        .with("state/shop.yaml.gz", compressed(namespace))
        .with("old.yaml.gz", compressed(&old))
        .with("large.yaml.gz", compressed(&"#".repeat(2 << 20)))
        .with("policy.yaml.gz", compressed(&format!("{policy}---\n{BINDING}")));
    let review = |arguments: &[&str]| {
        let all = [
            &[
                "review",
                "--manifests",
                "policies",
                "--max-input",
                "1",
                "good.yaml",
            ],
            arguments,
        ]
        .concat();
        files.run(&all)
    };
    let run = review(&["--objects", "state"]);
    run.exits(0);
    let run = review(&[
        "--namespace-object",
        "state/shop.yaml.gz",
        "--operation",
        "UPDATE",
        "--old",
        "old.yaml.gz",
    ]);
    run.exits(0);
    // The limit is that of the content.
    let run = review(&["--objects", "large.yaml.gz"]);
    run.stderr_has("large.yaml.gz: larger than 1 MiB");
    assert_eq!(files.run(&["check", "policy.yaml.gz"]).code, Some(0));
}

#[test]
fn directories_are_walked() {
    let directory = Directory::new()
        .with("pods/.git/HEAD", "")
        .with("pods/.gitignore", "*.local.yaml\n")
        .with("pods/a/b/c.yml", PRIVILEGED)
        .with("pods/a/b/d.local.yaml", CLEAN)
        .with("pods/z.jsonl", format!("{}\n{}\n", pod(1), pod(2)));
    let run = directory.run(&["review", "pods"]);
    ends(&run, 1, "2 allowed, 1 denied");
    assert!(run.stdout.starts_with("pods/a/b/c.yml:1:1: "), "{run}");
}

#[test]
fn answers_come_before_the_input_ends() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(["review", "--output", "ndjson", "-"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..3 {
        writeln!(stdin, "{}", pod(number)).unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(&format!("\"name\":\"p{number}\"")), "{line}");
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn on_standard_input_namespaces_count_for_what_follows() {
    let policy = POLICY.replace(
        "    message: privileged containers are not allowed",
        "  - expression: namespaceObject.metadata.labels.tier == 'gold'",
    );
    let files = files(&policy, BINDING);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: gold}}\n";
    let review = |input: &str| files.run_with(&["review", "--manifests", "policies", "-"], input, &[]);
    ends(
        &review(&format!("{namespace}---\n{CLEAN}")),
        0,
        "2 allowed, 0 denied",
    );
    let run = review(&format!("{CLEAN}---\n{namespace}---\n{CLEAN}"));
    ends(&run, 3, "2 allowed, 0 denied, 1 undecided");
    // A file is known as a whole.
    let files = files.with("all.yaml", format!("{CLEAN}---\n{namespace}"));
    let run = files.run(&["review", "--manifests", "policies", "all.yaml"]);
    ends(&run, 0, "2 allowed, 0 denied");
}

#[test]
fn unknown_kinds_are_undecided() {
    let policy = POLICY
        .replace("apiGroups: [\"\"]", "apiGroups: [example.com]")
        .replace("resources: [\"pods\"]", "resources: [widgets]")
        .replace("object.spec.containers +", "[] +");
    let widget = |name: &str| {
        format!(
            "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{initContainers: [{{securityContext: {{privileged: true}}}}]}}\n"
        )
    };
    let files = files(&policy, BINDING).with("w.yaml", widget("a") + &widget("b"));
    files
        .run(&["review", "--manifests", "policies", "w.yaml"])
        .is("assumed-resource.txt");
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: wotsits.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: wotsits}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n";
    let files = files.with("crd.yaml", widget("c") + definition);
    let run = files.run(&["review", "--quiet", "--manifests", "policies", "crd.yaml"]);
    run.stdout_has("2 allowed, 0 denied");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    let run = files.run(&["review", "--manifests", "policies", "crd.yaml"]);
    run.stdout_has("CREATE wotsits.example.com default/c: allowed");
}

/// The peak of memory does not depend on the number of objects.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let many: String = (0..6000).map(|number| pod(number) + "\n").collect();
    let directory = Directory::new().with("pods.ndjson", many);
    for arguments in [
        ["review", "--quiet", "pods.ndjson"],
        ["scan", "--as-update", "pods.ndjson"],
    ] {
        // A process that ended before it was looked at is run again.
        let most = std::iter::repeat_with(|| peak_memory(&directory, &arguments)).find(|most| *most > 0);
        assert!(most.unwrap() < 120 << 10, "{arguments:?}: {most:?} KiB");
    }
}

/// The peak of memory in KiB; 0 if the process was not seen.
#[cfg(target_os = "linux")]
fn peak_memory(directory: &Directory, arguments: &[&str]) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0_u64;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    most
}
