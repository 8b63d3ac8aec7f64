//! Several outputs of one run: one on standard output, and others in files.

use std::fs;

use serde_json::Value;

use crate::project::POLICY;
use crate::support::Directory;

const LARGE: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: large}, spec: {replicas: 9, selector: {matchLabels: {app: web}}, template: \
    {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}}}\n";

/// An event of an audit log about a Deployment with many replicas, which was allowed.
const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","auditID":"id","verb":"create","requestURI":"/apis/apps/v1/namespaces/shop/deployments","user":{"username":"ann"},"objectRef":{"resource":"deployments","namespace":"shop","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"code":201},"requestObject":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"large","namespace":"shop"},"spec":{"replicas":9,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}}}"#;

fn directory() -> Directory {
    Directory::new()
        .with("audit.log", format!("{EVENT}\n"))
        .with("old/few.yaml", POLICY.replace("3", "20"))
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("policies/few.yaml", POLICY)
        .with("objects/large.yaml", LARGE)
        .with(
            "objects/small.yaml",
            LARGE.replace("large", "small").replace('9', "1"),
        )
        .with(
            "tests/suite.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [../policies]\ntests:\n\
             - {name: large, object: ../objects/large.yaml, expect: allowed}\n",
        )
}

/// Runs a command with each output alone and with all of them, which are the same.
#[track_caller]
fn check(line: &[&str], formats: &[&str]) {
    let directory = directory();
    let alone = |format: &str| directory.run(&[line, &["--output", format]].concat());
    let (first, others) = formats.split_first().unwrap();
    let named: Vec<String> = others
        .iter()
        .map(|format| format!("--output={format}=out.{format}"))
        .collect();
    let mut all = [line, &["-o", first]].concat();
    all.extend(named.iter().map(String::as_str));
    let run = directory.run(&all);
    let expected = alone(first);
    assert_eq!(
        (run.code, &run.stdout),
        (expected.code, &expected.stdout),
        "{run}"
    );
    assert_eq!(run.stderr, expected.stderr, "{run}");
    for format in others {
        let written = fs::read_to_string(directory.path().join(format!("out.{format}"))).unwrap();
        assert_eq!(written, alone(format).stdout, "{format}: {run}");
    }
}

#[test]
fn each_is_what_it_is_alone() {
    let review = ["review", "objects", "--policies", "policies"];
    check(
        &review,
        &["human", "sarif", "junit", "json", "ndjson", "github", "yaml"],
    );
    check(&review, &["json", "human", "yaml"]);
    check(&review, &["yaml", "junit"]);
    // A diff records what the server itself sets, which others show only if they are asked to.
    check(&review, &["human", "diff"]);
    check(&review, &["json", "diff"]);
    check(
        &[&review[..], &["--explain"]].concat(),
        &["human", "json", "diff"],
    );
    check(&[&review[..], &["--summary"]].concat(), &["ndjson", "human"]);
    check(
        &["check", "policies", "objects/large.yaml"],
        &["github", "human", "json", "sarif", "junit"],
    );
}

#[test]
fn scans_and_comparisons_have_several() {
    check(
        &["scan", "objects", "--policies", "policies"],
        &[
            "human",
            "json",
            "ndjson",
            "sarif",
            "junit",
            "github",
            "policyreport",
            "openreports",
        ],
    );
    check(
        &["scan", "objects", "--policies", "policies"],
        &["ndjson", "human", "sarif"],
    );
    let replay = ["replay", "audit.log", "--policies", "policies"];
    check(&replay, &["human", "json", "ndjson"]);
    check(&[&replay[..], &["--summary"]].concat(), &["ndjson", "human"]);
    check(
        &[
            "impact",
            "audit.log",
            "objects",
            "--old",
            "old",
            "--new",
            "policies",
            "--explain",
        ],
        &["json", "human", "ndjson"],
    );
    check(
        &[
            "upgrade",
            "objects",
            "--policies",
            "policies",
            "--from",
            "1.36",
            "--to",
            "1.37",
        ],
        &["human", "json", "ndjson", "sarif", "junit", "github"],
    );
}

#[test]
fn merged_reports_have_several() {
    let directory = directory();
    directory.run(&[
        "scan",
        "objects",
        "--policies",
        "policies",
        "-o",
        "json=report.json",
    ]);
    let report = fs::read_to_string(directory.path().join("report.json")).unwrap();
    let merge = ["report", "merge", "report.json"];
    let run = directory.run(&[&merge[..], &["-o", "json=merged.json"]].concat());
    run.exits(1).stdout_has("few");
    let merged = fs::read_to_string(directory.path().join("merged.json")).unwrap();
    assert_eq!(merged, report, "{run}");
    let printed = directory.run(&[&merge[..], &["-o", "human=merged.txt", "-o", "json"]].concat());
    assert_eq!(printed.stdout, report, "{printed}");
    let written = fs::read_to_string(directory.path().join("merged.txt")).unwrap();
    assert_eq!(written, run.stdout, "{printed}");
    let twice = directory.run(&[&merge[..], &["-o", "human", "-o", "json"]].concat());
    twice.exits(2).stderr_has("two outputs go to the same place");
}

#[test]
fn forms_that_are_typed_first_work_or_are_told() {
    let directory = directory();
    let review = ["review", "objects", "--policies", "policies"];
    let usual = directory.run(&[&review[..], &["--output", "json"]].concat());
    for form in ["-o=json", "-ojson", "--output=JSON", "--format=json"] {
        let run = directory.run(&[&review[..], &[form]].concat());
        assert_eq!(
            (run.code, &run.stdout),
            (usual.code, &usual.stdout),
            "{form}: {run}"
        );
    }
    for (form, right) in [
        (
            "--output=json,sarif=a.sarif",
            "`--output json --output sarif=a.sarif`",
        ),
        ("-o=sarif:a.sarif", "`--output sarif=a.sarif`"),
        ("-oa.sarif", "`--output sarif=a.sarif`"),
        ("-o=table", "`--output human`"),
        ("-o=html=x.html", "`pratique scan --report FILE.html`"),
        ("-o=policyreport", "`pratique scan --output policyreport`"),
        ("--json", "`--output json`"),
        ("--sarif=a.sarif", "`--output sarif=FILE`"),
        ("--output-file=a", "`--output FORMAT=FILE`"),
    ] {
        let run = directory.run(&[&review[..], &[form]].concat());
        run.exits(2).stderr_has(right);
    }
}

#[test]
fn columns_are_one_output_of_several() {
    let directory = directory();
    for line in [
        ["scan", "objects", "--policies", "policies"],
        ["replay", "audit.log", "--policies", "policies"],
    ] {
        let alone = directory.run(&line);
        let run = directory.run(&[&line[..], &["-o", "parquet=out.parquet"]].concat());
        assert_eq!((run.code, &run.stdout), (alone.code, &alone.stdout), "{run}");
        let written = fs::read(directory.path().join("out.parquet")).unwrap();
        assert!(written.starts_with(b"PAR1"), "{run}");
    }
}

#[test]
fn what_is_continued_is_in_no_file() {
    let directory = directory();
    let refused = |line: &[&str]| {
        let continued = [line, &["--checkpoint", "kept"]].concat();
        directory
            .run(&continued)
            .exits(2)
            .stderr_has("cannot be continued");
        assert!(!directory.path().join("out").exists(), "{line:?}");
    };
    let scan = ["scan", "objects", "--policies", "policies"];
    let replay = ["replay", "audit.log", "--policies", "policies"];
    let impact = ["impact", "audit.log", "--old", "old", "--new", "policies"];
    for line in [&scan[..], &replay, &impact] {
        refused(&[line, &["-o", "ndjson=out"]].concat());
        let summed = [line, &["-o", "json=out", "--checkpoint", "kept"]].concat();
        directory.run(&summed).exits(1);
        fs::remove_file(directory.path().join("out")).unwrap();
    }
    refused(&[&replay[..], &["-o", "json", "-o", "human=out"]].concat());
}

#[test]
fn suites_run_once() {
    // Times are in the answers.
    let directory = directory();
    let run = directory.run(&[
        "test",
        "tests",
        "-o",
        "github",
        "-o",
        "junit=out.xml",
        "-o",
        "human=out.txt",
    ]);
    run.exits(1).stdout_has("::error file=tests/suite.yaml");
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(read("out.xml").contains("<failure"), "{run}");
    assert!(
        read("out.txt").contains("0 passed, 1 failed"),
        "{}",
        read("out.txt")
    );
}

#[test]
fn what_is_printed_is_for_people_unless_it_is_said() {
    let directory = directory();
    let line = ["review", "objects", "--policies", "policies"];
    let run = directory.run(&[&line[..], &["--output", "sarif=out.sarif"]].concat());
    assert_eq!((run.code, &run.stdout), (Some(1), &directory.run(&line).stdout));
    let sarif = fs::read(directory.path().join("out.sarif")).unwrap();
    let sarif: Value = serde_json::from_slice(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    for (more, message) in [
        (
            &["-o", "json", "-o", "sarif"][..],
            "two outputs go to the same place",
        ),
        (
            &["-o", "json=a", "-o", "sarif=a"],
            "two outputs go to the same place",
        ),
        (&["-o", "sarif=a", "-o", "sarif=b"], "a format is named twice"),
        (&["-o", "sarif=none/a"], "none"),
        (&["-o", "xml=a"], "invalid value"),
    ] {
        let run = directory.run(&[&line[..], more].concat());
        run.exits(2).stderr_has(message);
        assert_eq!(run.stdout, "", "{run}");
        assert!(!directory.path().join("a").exists(), "{run}");
    }
}

#[test]
fn outputs_are_verified_before_the_work() {
    let directory = directory();
    for line in [["check", "nowhere"], ["test", "nowhere"]] {
        let format = if line[0] == "check" { "sarif" } else { "junit" };
        let file = format!("{format}=none/out");
        let run = directory.run(&[&line[..], &["-o", &file]].concat());
        run.exits(2).stderr_has("none/out");
        assert!(!run.stderr.contains("nowhere"), "{run}");
        let twice = [&line[..], &["-o", "json", "-o", "github"]].concat();
        directory
            .run(&twice)
            .exits(2)
            .stderr_has("two outputs go to the same place");
    }
    // Files that are not finished are not counted among those of a directory.
    let run = directory.run(&["check", "policies", "-o", "sarif=policies/out.sarif"]);
    assert!(!run.to_string().contains("passed over"), "{run}");
}

#[test]
fn a_project_file_writes_only_if_it_is_trusted() {
    let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\ninputs: [objects]\nreview: {output: OUTPUT}\n";
    let with = |output: &str| directory().with("pratique.yaml", project.replace("OUTPUT", output));
    with("ndjson")
        .run(&["review"])
        .exits(1)
        .stdout_has("\"decision\":\"denied\"");
    let named = with("[human, sarif=reports.sarif]");
    named
        .run(&["review"])
        .exits(2)
        .stderr_has("`review.output` reaches out of the repository");
    assert!(!named.path().join("reports.sarif").exists());
    named.run(&["review", "--trust-project-file"]).exits(1);
    assert!(named.path().join("reports.sarif").exists());
}

#[test]
fn annotations_that_are_not_shown_are_counted() {
    const TOLD: &str =
        "GitHub shows 10 annotations of each level beside a change: of 11 errors, all are in the log\n";
    let mut directory = directory();
    for number in 0..11 {
        directory = directory.with(
            &format!("more/{number}.yaml"),
            LARGE.replace("large", &format!("large-{number}")),
        );
    }
    let line = ["review", "--policies", "policies", "-o", "github"];
    directory
        .run(&[&line[..], &["more"]].concat())
        .exits(1)
        // A summary has what stands on standard error.
        .stderr_has(TOLD);
    let run = directory.run(&[&line[..], &["objects"]].concat());
    assert!(!run.to_string().contains("GitHub shows"), "{run}");
    let file = [
        "review",
        "--policies",
        "policies",
        "-o",
        "human",
        "-o",
        "github=out.log",
        "more",
    ];
    let run = directory.run(&file);
    let written = fs::read_to_string(directory.path().join("out.log")).unwrap();
    assert!(
        written.ends_with(TOLD) && !run.to_string().contains(TOLD),
        "{written}{run}"
    );
}

/// Results of standard input stand beside no file, which only somebody who knows it can mend.
#[test]
fn results_of_standard_input_are_told() {
    let directory = directory();
    for (format, told) in [("sarif", "note: results of"), ("junit", "note: cases of")] {
        let line = ["review", "-", "--policies", "policies", "-o", format];
        let told = format!(
            "{told} <stdin> stand beside no file of a change: with --stdin-filename FILE, review, scan, impact and upgrade take it for \
             that file\n"
        );
        directory.run_with(&line, LARGE, &[]).exits(1).stderr_has(&told);
        let named = [&line[..], &["--stdin-filename", "objects/large.yaml"]].concat();
        let allowed = LARGE.replace('9', "1");
        for run in [
            directory.run_with(&named, LARGE, &[]),
            directory.run_with(&line, &allowed, &[]),
        ] {
            assert!(!run.stderr.contains("--stdin-filename"), "{run}");
        }
    }
}

#[test]
fn what_is_not_simulated_is_told_in_quiet_files() {
    let directory = Directory::new().with("policies/few.yaml", POLICY).with(
        "component.yaml",
        "{apiVersion: v1, kind: ComponentStatus, metadata: {name: a}}\n",
    );
    let line = ["review", "component.yaml", "--policies", "policies", "--quiet"];
    let run = |more: &[&str]| directory.run(&[&line[..], more].concat());
    let note = "1 object of kind v1 ComponentStatus was not validated as an API server does";
    run(&["--output", "sarif"]).stdout_has(note);
    run(&["-o", "github", "-o", "sarif=out.sarif"]).stderr_has(note);
    let sarif = || fs::read_to_string(directory.path().join("out.sarif")).unwrap();
    assert!(sarif().contains(note), "{}", sarif());
    let quiet = run(&["-o", "human", "-o", "sarif=out.sarif"]);
    assert!(!quiet.to_string().contains(note), "{quiet}");
    assert!(sarif().contains(note), "{}", sarif());
}
