//! Writes results to a file or a stream, a part at a time.

use std::io::Write;

use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::rows::{ResultRow, ResultRows};

/// How many rows, and how many bytes of text, a batch has.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 4 << 20;

/// How many bytes of a row group of Parquet are held before it is written.
const GROUP_BYTES: usize = 16 << 20;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Parquet, compressed with Snappy.
    Parquet,
    /// A file of Arrow IPC, of which a reader may take any batch.
    ArrowFile,
    /// A stream of Arrow IPC, which a reader takes from its beginning.
    ArrowStream,
}

/// Why results are not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Arrow does not write them.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// Parquet does not write them.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
}

impl WriteError {
    /// The error of what was written to, if that is the reason.
    pub fn into_io(self) -> std::io::Error {
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
pub struct ResultWriter<W: Write + Send> {
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
    pub fn new(to: W, format: Format, rows: ResultRows) -> Result<Self, WriteError> {
        let schema = rows.schema();
        let encoder = match format {
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_created_by(concat!("pratique ", env!("CARGO_PKG_VERSION")).to_owned())
                    .set_compression(Compression::SNAPPY)
                    .build();
                ResultEncoder::Parquet(Box::new(ArrowWriter::try_new(to, schema, Some(properties))?))
            }
            Format::ArrowFile => ResultEncoder::File(Box::new(FileWriter::try_new(to, &schema)?)),
            Format::ArrowStream => ResultEncoder::Stream(Box::new(StreamWriter::try_new(to, &schema)?)),
        };
        Ok(ResultWriter { rows, encoder })
    }

    /// Adds a result.
    ///
    /// # Errors
    /// Those before it cannot be written.
    pub fn push(&mut self, row: &ResultRow<'_>) -> Result<(), WriteError> {
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
    pub fn finish(mut self) -> Result<W, WriteError> {
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

impl<W: Write + Send> std::fmt::Debug for ResultWriter<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ResultWriter").finish_non_exhaustive()
    }
}
