//! Results are read back from files, and objects from files of columns.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pratique_arrow::{
    Format, JsonLines, OpenError, RecordedOutcome, ResultRow, ResultRows, ResultWriter, replay_schema,
};
use pratique_report::{Action, Decision, Evaluation, Finding};

const FINDING: Finding<'static> = Finding {
    policy: "no-root",
    binding: "",
    action: Action::Deny,
    is_error: false,
    message: "runs as root",
};

fn row(name: &str) -> ResultRow<'_> {
    ResultRow {
        evaluation: Evaluation {
            decision: Decision::Denied,
            operation: "CREATE",
            api_version: "v1",
            kind: "Pod",
            name,
            time: "2026-05-04T10:11:12.000013Z",
            findings: vec![FINDING],
            ..Evaluation::default()
        },
        message: "no",
        then: Some(RecordedOutcome {
            comparison: "refusedNow",
            decision: "allowed",
            approximations: vec!["asSent", "plugins"],
            ..RecordedOutcome::default()
        }),
    }
}

/// Writes rows, and reads them back.
fn written(format: Format, rows: usize) -> Vec<RecordBatch> {
    let file = tempfile::tempfile().unwrap();
    let to = file.try_clone().unwrap();
    let mut writer = ResultWriter::new(to, format, ResultRows::of_replay()).unwrap();
    for number in 0..rows {
        writer.push(&row(&format!("pod-{number}"))).unwrap();
    }
    writer.finish().unwrap();
    let mut file = file;
    io::Seek::rewind(&mut file).unwrap();
    match format {
        Format::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            assert_eq!(*reader.schema(), replay_schema());
            reader.build().unwrap().map(Result::unwrap).collect()
        }
        Format::ArrowFile => {
            let reader = FileReader::try_new(file, None).unwrap();
            reader.map(Result::unwrap).collect()
        }
        Format::ArrowStream => {
            let reader = StreamReader::try_new(file, None).unwrap();
            reader.map(Result::unwrap).collect()
        }
    }
}

#[test]
fn results_are_read_back() {
    for format in [Format::Parquet, Format::ArrowFile, Format::ArrowStream] {
        let batches = written(format, 9000);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows, 9000, "{format:?}");
        let batch = &batches[0];
        assert_eq!(batch.schema(), replay_schema(), "{format:?}");
        let column = |name: &str| batch.column_by_name(name).unwrap();
        assert_eq!(column("name").as_string::<i32>().value(7), "pod-7");
        let time = column("time").as_primitive::<TimestampMicrosecondType>();
        assert_eq!(time.value(7), 1_777_889_472_000_013);
        assert!(column("uid").is_null(7) && column("then_by").is_null(7));
        let list = column("approximations").as_list::<i32>().value(7);
        let approximations: Vec<_> = list.as_string::<i32>().iter().flatten().collect();
        assert_eq!(approximations, ["asSent", "plugins"]);
        let found = column("findings").as_list::<i32>().value(7);
        let found = found.as_struct();
        let messages = found.column_by_name("message").unwrap().as_string::<i32>();
        assert_eq!((found.len(), messages.value(0)), (1, "runs as root"));
        assert!(found.column_by_name("binding").unwrap().is_null(0));
        assert_eq!(
            written(format, 0)
                .iter()
                .map(RecordBatch::num_rows)
                .sum::<usize>(),
            0
        );
    }
}

/// What is written to does not take any more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() <= self.0 {
            self.0 -= bytes.len();
            Ok(bytes.len())
        } else {
            Err(io::Error::new(io::ErrorKind::StorageFull, "full"))
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    for format in [Format::Parquet, Format::ArrowFile, Format::ArrowStream] {
        let run = || {
            let mut writer = ResultWriter::new(Full(2000), format, ResultRows::new())?;
            (0..20_000).try_for_each(|_| writer.push(&row("pod")))?;
            writer.finish().map(drop)
        };
        let error = run().unwrap_err().into_io();
        assert!(error.to_string().contains("full"), "{format:?}: {error:?}");
    }
}

fn objects() -> RecordBatch {
    let texts = vec![
        Some("{\"a\":1}"),
        None,
        Some("{\n  \"b\": \"x\\ny\"\r\n}"),
        Some("{}"),
    ];
    let numbers = Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as ArrayRef;
    let texts = Arc::new(StringArray::from(texts)) as ArrayRef;
    RecordBatch::try_from_iter_with_nullable([("number", numbers, true), ("object", texts, true)]).unwrap()
}

fn file(write: impl FnOnce(File, &RecordBatch), batch: &RecordBatch) -> File {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.reopen().unwrap(), batch);
    file.reopen().unwrap()
}

fn parquet(to: File, batch: &RecordBatch) {
    let mut writer = ArrowWriter::try_new(to, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn objects_are_lines() {
    let arrow = |to: File, batch: &RecordBatch| {
        let mut writer = FileWriter::try_new(to, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    };
    let stream = |to: File, batch: &RecordBatch| {
        let mut writer = StreamWriter::try_new(to, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    };
    let lines = "{\"a\":1}\n\n{   \"b\": \"x\\ny\"  }\n{}\n";
    for (file, expected) in [
        (file(parquet, &objects()), lines.to_owned()),
        (file(arrow, &objects()), lines.repeat(2)),
        (file(stream, &objects()), lines.to_owned()),
    ] {
        // It was looked at before.
        let mut file = file;
        file.read_exact(&mut [0; 8]).unwrap();
        let mut text = String::new();
        JsonLines::open(file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, expected);
    }
}

#[test]
fn the_only_text_is_that_of_objects() {
    let named = |names: &[&str]| {
        let texts = || Arc::new(StringArray::from(vec!["{}"])) as ArrayRef;
        RecordBatch::try_from_iter(names.iter().map(|name| (*name, texts()))).unwrap()
    };
    let mut text = String::new();
    let lines = JsonLines::open(file(parquet, &named(&["json"])));
    lines.unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "{}\n");
    let error = JsonLines::open(file(parquet, &named(&["json", "other"]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it has no column `object` of text, and not just one column of text: json (Utf8), other (Utf8)"
    );
    let broken = file(|mut to, _| to.write_all(b"PAR1 and no more").unwrap(), &objects());
    assert!(matches!(JsonLines::open(broken), Err(OpenError::Parquet(_))));
}
