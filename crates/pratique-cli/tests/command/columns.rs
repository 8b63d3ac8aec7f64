//! Results in columns, and objects from files of them.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::story::{BINDING, POLICY};
use crate::support::Directory;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/replay/audit.log");
const POLICIES_OF_LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/replay/policies");

/// A Pod, which is denied by the Pod Security Standards if it is privileged.
fn pod(name: &str, is_privileged: bool) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","uid":"uid-{name}"}},"spec":{{"containers":[{{"name":"c","image":"i","securityContext":{{"privileged":{is_privileged}}}}}]}}}}"#
    )
}

fn pods() -> String {
    format!(
        "{}\n{}\n{{\"metadata\":{{}}}}\n{}\n",
        pod("a", false),
        pod("b", true),
        pod("c", false)
    )
}

fn parquet(directory: &Directory, name: &str) -> Vec<RecordBatch> {
    let file = File::open(directory.path().join(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn column(batches: &[RecordBatch], name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for batch in batches {
        let column = batch.column_by_name(name).unwrap().as_string::<i32>();
        texts.extend(column.iter().map(|text| text.unwrap_or("-").to_owned()));
    }
    texts
}

#[test]
fn results_of_scans_are_rows() {
    let directory = Directory::new().with("pods.ndjson", pods());
    for file in ["results.parquet", "results.arrow"] {
        let run = directory.run(&["scan", "--results", file, "-o", "json", "pods.ndjson"]);
        run.exits(1);
        let batches = match file {
            "results.parquet" => parquet(&directory, file),
            _ => {
                let file = File::open(directory.path().join(file)).unwrap();
                let reader = FileReader::try_new(file, None).unwrap();
                reader.map(Result::unwrap).collect()
            }
        };
        // What cannot be read of a part of the input comes before what can.
        let columns = ["place", "decision", "uid"].map(|name| column(&batches, name));
        let [places, decisions, uids] = &columns;
        let rows = places.iter().zip(decisions).zip(uids);
        let mut rows: Vec<String> = rows
            .map(|((place, decision), uid)| format!("{place} {decision} {uid}"))
            .collect();
        rows.sort();
        assert_eq!(
            rows,
            [
                "pods.ndjson:1:1 allowed uid-a",
                "pods.ndjson:2:1 denied uid-b",
                "pods.ndjson:3:1 failed -",
                "pods.ndjson:4:1 allowed uid-c",
            ]
        );
        let report = run.json();
        let found: usize = batches
            .iter()
            .map(|batch| {
                batch
                    .column_by_name("findings")
                    .unwrap()
                    .as_list::<i32>()
                    .values()
                    .len()
            })
            .sum();
        let counted = report["tally"]["policies"]["rows"].to_string();
        assert!(found >= 1, "{counted}");
        let messages = column(&batches, "message").join(" ");
        assert!(
            messages.contains("privileged") && messages.contains("Object 'Kind' is missing"),
            "{messages}"
        );
    }
}

#[test]
fn results_of_replays_have_what_happened_then() {
    let directory = Directory::new();
    let run = directory.run(&[
        "replay",
        "--policies",
        POLICIES_OF_LOG,
        "--summary",
        "--results",
        "r.parquet",
        LOG,
    ]);
    run.exits(1);
    let batches = parquet(&directory, "r.parquet");
    let compared = column(&batches, "comparison");
    assert_eq!(compared.len(), 10, "{compared:?}");
    let count = |name: &str| compared.iter().filter(|compared| *compared == name).count();
    assert_eq!(
        ["same", "refusedNow", "allowedNow", "notCompared", "undecided"].map(count),
        [4, 1, 1, 1, 3]
    );
    assert!(column(&batches, "then_by").contains(&"validating policy no-bare-pods".to_owned()));
    assert!(column(&batches, "unknown").contains(&"level".to_owned()));
    assert!(batches[0].column_by_name("time").unwrap().null_count() == 0);
}

/// What the command prints that is not text.
fn printed(directory: &Directory, arguments: &[&str]) -> File {
    let path = directory.path().join("printed");
    let status = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .current_dir(directory.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(File::create(&path).unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1), "{arguments:?}");
    File::open(path).unwrap()
}

#[test]
fn columns_are_printed() {
    let directory = Directory::new().with("pods.ndjson", pods());
    let file = printed(&directory, &["scan", "-o", "parquet", "pods.ndjson"]);
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 4);
    let replay = ["replay", "-o", "arrow", "--policies", POLICIES_OF_LOG, LOG];
    let reader = StreamReader::try_new(printed(&directory, &replay), None).unwrap();
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 10);
}

#[test]
fn impossible_combinations_are_errors() {
    let directory = Directory::new().with("pods.ndjson", pods());
    for (arguments, expected) in [
        (
            &["scan", "--results", "r.csv", "pods.ndjson"][..],
            "expected a name that ends in .parquet or .arrow",
        ),
        (
            &[
                "scan",
                "--results",
                "r.parquet",
                "--checkpoint",
                "c",
                "pods.ndjson",
            ],
            "this output is written as a whole, and cannot be continued",
        ),
        (
            &["scan", "--results", "nowhere/r.parquet", "pods.ndjson"],
            "nowhere/r.parquet",
        ),
    ] {
        let run = directory.run(arguments);
        run.exits(2).stderr_has(expected);
    }
    // What is not complete is not there.
    let run = directory.run(&["scan", "--results", "r.parquet", "nothing.ndjson"]);
    run.exits(2);
    let left = fs::read_dir(directory.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["pods.ndjson"]);
}

#[test]
fn objects_are_read_from_columns() {
    let texts: Vec<String> = (0..20)
        .map(|number| pod(&format!("p{number}"), number % 5 == 0))
        .collect();
    let numbers = StringArray::from_iter_values(texts.iter().map(|_| "eu"));
    let objects = Arc::new(StringArray::from_iter_values(texts.iter())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("cluster", Arc::new(numbers) as ArrayRef), ("object", objects)]);
    let batch = batch.unwrap();
    let lines: String = texts.iter().map(|text| format!("{text}\n")).collect();
    let directory = Directory::new().with("objects.ndjson", lines);
    let file = File::create(directory.path().join("objects.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let tally = |arguments: &[&str]| -> Value {
        let run = directory.run(&[&["scan", "-o", "json"], arguments].concat());
        let report = run.json();
        report["tally"].clone()
    };
    let expected = tally(&["objects.ndjson"]).to_string();
    let found = tally(&["objects.parquet"]).to_string();
    assert_eq!(found, expected.replace("objects.ndjson", "objects.parquet"));
    assert!(found.contains("objects.parquet:6:1"), "{found}");
    // Its shards, too, have each row once.
    let parts = ["0/3", "1/3", "2/3"].map(|shard| tally(&["--shard", shard, "objects.parquet"]));
    let denied = parts
        .iter()
        .map(|part| part["total"]["denied"].as_u64().unwrap_or_default());
    assert_eq!(denied.sum::<u64>(), 4);
    let directory = directory.with("p.yaml", [POLICY, BINDING].join("---\n"));
    let run = directory.run(&["review", "--policies", "p.yaml", "objects.parquet", "--summary"]);
    run.stdout_has("16 allowed, 4 denied");
}
