//! Objects in files of columns, as lines of JSON.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use crate::text::TextColumn;

/// The column of objects.
pub(super) const OBJECT: &str = "object";

/// What files begin with.
const PARQUET: &[u8] = b"PAR1";
const ARROW_FILE: &[u8] = b"ARROW1";
/// A stream begins with a message, which this announces, and its length.
const ARROW_STREAM: &[u8] = &[0xff; 4];

/// How many rows of Parquet are decoded at a time.
const ROWS: usize = 512;

/// Whether a file that begins like this is Parquet or Arrow IPC.
pub fn has_columns(head: &[u8]) -> bool {
    [PARQUET, ARROW_FILE, ARROW_STREAM]
        .iter()
        .any(|magic| head.starts_with(magic))
}

/// Why the objects of a file are not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// It is not Arrow IPC.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// It is not Parquet, or has what is not read.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// No column has objects.
    #[error("it has no column `{OBJECT}` of text, and not just one column of text: {columns}")]
    NoColumn {
        /// The columns that it has.
        columns: String,
    },
}

type BatchIterator = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The objects of a file of columns, as lines of JSON: one for each row, which is empty where the object is null. They are in
/// the column `object`, or in the only one that has text. No more than a batch is held.
pub struct JsonLines {
    batches: BatchIterator,
    batch: Option<RecordBatch>,
    column: usize,
    /// The next row of the batch.
    row: usize,
    line: Vec<u8>,
    /// How much of the line was read.
    read: usize,
}

impl JsonLines {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, or no column has objects.
    pub fn open(file: File) -> Result<Self, OpenError> {
        let mut file = file;
        let mut head = Vec::new();
        // A caller that looked at it may have read some of it.
        file.seek(SeekFrom::Start(0))?;
        file.by_ref().take(8).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(0))?;
        if head.starts_with(PARQUET) {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
            let column = object_column(builder.schema())?;
            // Other columns are not decoded, and this is the first of what is.
            let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
            let reader = builder.with_projection(mask).with_batch_size(ROWS).build()?;
            return Ok(Self::new(Box::new(reader), 0));
        }
        if head.starts_with(ARROW_FILE) {
            let reader = FileReader::try_new(BufReader::new(file), None)?;
            let column = object_column(&reader.schema())?;
            return Ok(Self::new(Box::new(reader), column));
        }
        Self::stream(file)
    }

    /// Reads a stream of Arrow IPC.
    ///
    /// # Errors
    /// It cannot be read, or no column has objects.
    pub fn stream(input: impl Read + Send + 'static) -> Result<Self, OpenError> {
        let reader = StreamReader::try_new(BufReader::new(input), None)?;
        let column = object_column(&reader.schema())?;
        Ok(Self::new(Box::new(reader), column))
    }

    fn new(batches: BatchIterator, column: usize) -> Self {
        JsonLines {
            batches,
            batch: None,
            column,
            row: 0,
            line: Vec::new(),
            read: 0,
        }
    }

    /// Makes the next line; `false` after the last.
    fn next_line(&mut self) -> io::Result<bool> {
        loop {
            if let Some(batch) = &self.batch
                && self.row < batch.num_rows()
            {
                let array = batch.columns().get(self.column);
                let text = array.and_then(|array| TextColumn::from_array(array));
                self.line.clear();
                self.read = 0;
                // As many lines as fit are made of a batch at once.
                while self.row < batch.num_rows() && self.line.len() < LINES {
                    let object = text.as_ref().and_then(|text| text.get(self.row));
                    self.line
                        .extend(object.unwrap_or_default().iter().map(|byte| match byte {
                            // Between members of JSON they are but space.
                            b'\n' | b'\r' => b' ',
                            byte => *byte,
                        }));
                    self.line.push(b'\n');
                    self.row += 1;
                }
                return Ok(true);
            }
            match self.batches.next() {
                None => return Ok(false),
                Some(Err(ArrowError::IoError(_, error))) => return Err(error),
                Some(Err(error)) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
                Some(Ok(batch)) => {
                    self.batch = Some(batch);
                    self.row = 0;
                }
            }
        }
    }
}

/// How many bytes of lines are made at once.
const LINES: usize = 64 << 10;

impl Read for JsonLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read >= self.line.len() && !self.next_line()? {
            self.line.clear();
            self.read = 0;
            return Ok(0);
        }
        let left = self.line.get(self.read..).unwrap_or_default();
        let count = left.len().min(into.len());
        for (to, from) in into.iter_mut().zip(left) {
            *to = *from;
        }
        self.read += count;
        Ok(count)
    }
}

impl std::fmt::Debug for JsonLines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("JsonLines").finish_non_exhaustive()
    }
}

/// The column of objects.
fn object_column(schema: &Schema) -> Result<usize, OpenError> {
    let is_text = |index: &usize| {
        let field = schema.fields().get(*index);
        field.is_some_and(|field| TextColumn::is_text(field.data_type()))
    };
    let named = schema.index_of(OBJECT).ok().filter(is_text);
    let texts: Vec<usize> = (0..schema.fields().len()).filter(is_text).collect();
    match (named, texts.as_slice()) {
        (Some(column), _) => Ok(column),
        (None, [column]) => Ok(*column),
        (None, _) => {
            let columns = schema.fields().iter();
            let columns: Vec<String> = columns
                .map(|field| format!("{} ({})", field.name(), field.data_type()))
                .collect();
            let columns = if columns.is_empty() {
                "it has none".to_owned()
            } else {
                columns.join(", ")
            };
            Err(OpenError::NoColumn { columns })
        }
    }
}
