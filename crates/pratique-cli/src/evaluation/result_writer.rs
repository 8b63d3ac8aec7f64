//! Writes results to a file or a stream, a part at a time.

use std::io::Write;

use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use pratique_arrow::{ResultRow, ResultRows};

/// How many rows, and how many bytes of text, a batch has.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 4 << 20;

/// How many bytes of a row group of Parquet are held before it is written.
const GROUP_BYTES: usize = 16 << 20;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnFormat {
    /// Parquet, compressed with Snappy.
    Parquet,
    /// A file of Arrow IPC, of which a reader may take any batch.
    ArrowFile,
    /// A stream of Arrow IPC, which a reader takes from its beginning.
    ArrowStream,
}

/// Why results are not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// Arrow does not write them.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// Parquet does not write them.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
}

impl WriteError {
    /// The error of what was written to, if that is the reason.
    pub(crate) fn into_io(self) -> std::io::Error {
        match self {
            WriteError::Arrow(ArrowError::IoError(_, error)) => error,
            WriteError::Parquet(ParquetError::External(error)) => match error.downcast::<std::io::Error>() {
                Ok(error) => *error,
                Err(error) => std::io::Error::other(error),
            },
            error => std::io::Error::other(error),
        }
    }
}

/// Writes results, in bounded memory. What is not finished is not complete.
pub(crate) struct ResultWriter<W: Write + Send> {
    rows: ResultRows,
    encoder: ResultEncoder<W>,
}

enum ResultEncoder<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    File(Box<FileWriter<W>>),
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write + Send> ResultWriter<W> {
    /// Writes the columns of `rows`, and then results.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn new(to: W, format: ColumnFormat, rows: ResultRows) -> Result<Self, WriteError> {
        let schema = rows.schema();
        let encoder = match format {
            ColumnFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_created_by(concat!("pratique ", env!("CARGO_PKG_VERSION")).to_owned())
                    .set_compression(Compression::SNAPPY)
                    .build();
                ResultEncoder::Parquet(Box::new(ArrowWriter::try_new(to, schema, Some(properties))?))
            }
            ColumnFormat::ArrowFile => ResultEncoder::File(Box::new(FileWriter::try_new(to, &schema)?)),
            ColumnFormat::ArrowStream => ResultEncoder::Stream(Box::new(StreamWriter::try_new(to, &schema)?)),
        };
        Ok(ResultWriter { rows, encoder })
    }

    /// Adds a result.
    ///
    /// # Errors
    /// Those before it cannot be written.
    pub(crate) fn push(&mut self, row: &ResultRow<'_>) -> Result<(), WriteError> {
        self.rows.push(row);
        if self.rows.len() >= BATCH_ROWS || self.rows.bytes() >= BATCH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let batch = self.rows.take()?;
        match &mut self.encoder {
            ResultEncoder::Parquet(writer) => {
                writer.write(&batch)?;
                if writer.in_progress_size() >= GROUP_BYTES {
                    writer.flush()?;
                }
            }
            ResultEncoder::File(writer) => writer.write(&batch)?,
            ResultEncoder::Stream(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    /// Writes what is left, and gives what was written to.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn finish(mut self) -> Result<W, WriteError> {
        self.flush()?;
        Ok(match self.encoder {
            ResultEncoder::Parquet(writer) => writer.into_inner()?,
            ResultEncoder::File(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
            ResultEncoder::Stream(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{self, Seek as _};

    use arrow_array::cast::AsArray as _;
    use arrow_array::types::TimestampMicrosecondType;
    use arrow_array::{Array as _, RecordBatch};
    use arrow_ipc::reader::{FileReader, StreamReader};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use pratique_arrow::{RecordedOutcome, replay_schema};
    use pratique_report::{Action, Decision, Evaluation, Finding};

    use super::*;

    const FORMATS: [ColumnFormat; 3] = [
        ColumnFormat::Parquet,
        ColumnFormat::ArrowFile,
        ColumnFormat::ArrowStream,
    ];

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
    fn written(format: ColumnFormat, rows: usize) -> Vec<RecordBatch> {
        let file = tempfile::tempfile().unwrap();
        let to = file.try_clone().unwrap();
        let mut writer = ResultWriter::new(to, format, ResultRows::of_replay()).unwrap();
        for number in 0..rows {
            writer.push(&row(&format!("pod-{number}"))).unwrap();
        }
        writer.finish().unwrap();
        let mut file: File = file;
        file.rewind().unwrap();
        match format {
            ColumnFormat::Parquet => {
                let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                assert_eq!(*reader.schema(), replay_schema());
                reader.build().unwrap().map(Result::unwrap).collect()
            }
            ColumnFormat::ArrowFile => {
                let reader = FileReader::try_new(file, None).unwrap();
                reader.map(Result::unwrap).collect()
            }
            ColumnFormat::ArrowStream => {
                let reader = StreamReader::try_new(file, None).unwrap();
                reader.map(Result::unwrap).collect()
            }
        }
    }

    #[test]
    fn results_are_read_back() {
        for format in FORMATS {
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
        for format in FORMATS {
            let run = || {
                let mut writer = ResultWriter::new(Full(2000), format, ResultRows::new())?;
                (0..20_000).try_for_each(|_| writer.push(&row("pod")))?;
                writer.finish().map(drop)
            };
            let error = run().unwrap_err().into_io();
            assert!(error.to_string().contains("full"), "{format:?}: {error:?}");
        }
    }
}
