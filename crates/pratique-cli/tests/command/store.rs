//! Reports and results in an S3-compatible store.

use pratique_testkit::FakeStore;
use serde_json::Value;

use crate::support::{Directory, Run};

fn run(directory: &Directory, store: &FakeStore, arguments: &[&str]) -> Run {
    let environment = store.environment();
    let environment: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    directory.run_with(arguments, "", &environment)
}

fn pods() -> String {
    let pod = |number: usize| {
        let is_privileged = number.is_multiple_of(4);
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{number}","namespace":"shop"}},"spec":{{"containers":[{{"name":"c","image":"i","securityContext":{{"privileged":{is_privileged}}}}}]}}}}"#
        ) + "\n"
    };
    (0..40).map(pod).collect()
}

fn total(text: &str) -> Value {
    let report: Value = serde_json::from_str(text).unwrap();
    report["tally"]["total"].clone()
}

#[test]
fn shards_write_to_a_store_and_reports_are_merged_from_it() {
    let (directory, store) = (Directory::new().with("pods.ndjson", pods()), FakeStore::start());
    for shard in 0..3 {
        let (of, report) = (format!("{shard}/3"), format!("s3://scans/today/{shard}.json"));
        let results = format!("s3://scans/today/{shard}.parquet");
        let arguments = [
            "scan",
            "--shard",
            &of,
            "--report",
            &report,
            "--results",
            &results,
            "--fail-on",
            "error",
            "pods.ndjson",
        ];
        // Stores are not always there.
        store.fail(&[503]);
        let run = run(&directory, &store, &arguments);
        run.exits(0);
        let results = store.object(&format!("scans/today/{shard}.parquet")).unwrap();
        assert!(results.starts_with(b"PAR1") && results.ends_with(b"PAR1"));
    }
    assert_eq!(store.open_uploads(), 0);
    let merged = run(
        &directory,
        &store,
        &[
            "report",
            "merge",
            "-o",
            "json",
            "--report",
            "s3://scans/today/all.html",
            "s3://scans/today/0.json",
            "s3://scans/today/1.json",
            "s3://scans/today/2.json",
        ],
    );
    let whole = directory.run(&["scan", "-o", "json", "pods.ndjson"]);
    assert_eq!((merged.code, whole.code), (Some(1), Some(1)), "{merged}");
    assert_eq!(merged.stdout, whole.stdout);
    assert_eq!(total(&merged.stdout)["denied"], 10);
    let page = store.object("scans/today/all.html").unwrap();
    assert!(page.starts_with(b"<!doctype html>"));
}

#[test]
fn refusals_of_a_store_are_reported() {
    let (directory, store) = (Directory::new().with("pods.ndjson", pods()), FakeStore::start());
    let check = |run: Run, expected: &str| {
        run.exits(2);
        run.stderr_has(expected);
    };
    let scan = ["scan", "--report", "s3://scans/a.json", "pods.ndjson"];
    check(
        directory.run(&scan),
        "error: s3://scans/a.json: AWS_ACCESS_KEY_ID is not set",
    );
    store.fail(&[403]);
    check(
        run(&directory, &store, &scan),
        "error: s3://scans/a.json: the store answers 403 (Scripted): told to",
    );
    check(
        run(
            &directory,
            &store,
            &["scan", "--results", "s3://scans/x/../a.parquet", "pods.ndjson"],
        ),
        "a key cannot have parts that are empty",
    );
    check(
        run(&directory, &store, &["report", "merge", "s3://scans/none.json"]),
        "error: s3://scans/none.json: the store answers 404 (NoSuchKey)",
    );
    store.put("scans/other.json", "[]");
    check(
        run(&directory, &store, &["report", "merge", "s3://scans/other.json"]),
        "error: s3://scans/other.json: it is not a report",
    );
}

#[test]
fn unwritable_files_are_reported_before_anything_is_scanned() {
    let (directory, store) = (Directory::new().with("pods.ndjson", pods()), FakeStore::start());
    let mut environment = store.environment();
    environment.push(("AWS_SECRET_ACCESS_KEY", "another".to_owned()));
    let environment: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let check = |flag: &str, place: &str, expected: &str| {
        let run = directory.run_with(
            &["scan", "-o", "ndjson", flag, place, "pods.ndjson"],
            "",
            &environment,
        );
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
        run.stderr_has(expected);
    };
    for (flag, place) in [
        ("--report", "s3://scans/a.json"),
        ("--results", "s3://scans/a.parquet"),
    ] {
        check(flag, place, "(SignatureDoesNotMatch)");
    }
    for flag in ["--report", "--metrics-file"] {
        check(flag, "none/a", "none/a");
    }
    // What is there, and what may not be read, can still be written.
    let scan = ["scan", "--report", "s3://scans/a.json", "pods.ndjson"];
    for _ in 0..2 {
        store.put("scans/a.json", "an older report");
        assert_eq!(run(&directory, &store, &scan).code, Some(1));
        assert!(store.object("scans/a.json").unwrap().starts_with(b"{"));
        store.deny_reading();
    }
    let asked: Vec<String> = store.asked().split_off(store.asked().len() - 2);
    assert_eq!(asked, ["GET scans/a.json", "PUT scans/a.json"]);
}
