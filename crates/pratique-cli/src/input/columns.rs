//! Objects in files of columns: Parquet and Arrow IPC.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek as _};
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use pratique_arrow::TextColumn;

use super::open_regular;

/// The column of objects.
const OBJECT: &str = "object";

/// What files begin with.
const PARQUET: &[u8] = b"PAR1";
const ARROW_FILE: &[u8] = b"ARROW1";
/// A stream begins with a message, which this announces, and its length.
const ARROW_STREAM: &[u8] = &[0xff; 4];

/// How many rows of Parquet are decoded at a time, and of how many rows lines are made at a time.
const DECODED_ROWS: usize = 512;
const LINES: usize = 32;

/// The objects of a regular file of columns, as lines of JSON; `None` of any other file.
pub(super) fn open(path: &Path) -> io::Result<Option<ColumnLines>> {
    // What cannot be opened is reported by who reads it otherwise.
    match open_regular(path) {
        Ok(Some(file)) => ColumnLines::open(file),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Why the objects of a file of columns are not read.
#[derive(Debug, thiserror::Error)]
enum ColumnsError {
    /// It is not Arrow IPC.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// It is not Parquet, or has what is not read.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// No column has objects.
    #[error("it has no column `{OBJECT}` of text, and not just one column of text: {0}")]
    NoObjects(String),
}

type BatchIterator = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The objects of a file of columns, as lines of JSON: one for each row, which is empty where the object is null. They are in
/// the column `object`, or in the only one that has text. No more than a batch is held.
pub(super) struct ColumnLines {
    /// Some rows of the column at a time.
    objects: Box<dyn Iterator<Item = io::Result<ArrayRef>> + Send>,
    lines: Cursor<Vec<u8>>,
}

impl ColumnLines {
    fn open(mut file: File) -> io::Result<Option<Self>> {
        let mut head = Vec::new();
        file.by_ref().take(8).read_to_end(&mut head)?;
        file.rewind()?;
        let Some(opened) = open_batches(file, &head).transpose() else {
            return Ok(None);
        };
        let (batches, column) = opened.map_err(invalid_data)?;
        Ok(Some(ColumnLines {
            objects: Box::new(batches.flat_map(move |batch| column_parts(batch, column))),
            lines: Cursor::default(),
        }))
    }
}

impl Read for ColumnLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.lines.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            match self.objects.next() {
                Some(objects) => self.lines = Cursor::new(to_lines(&objects?)),
                None => return Ok(0),
            }
        }
    }
}

/// The batches of a file that begins with `head`, and which of their columns has the objects; `None` if it has no columns.
fn open_batches(file: File, head: &[u8]) -> Result<Option<(BatchIterator, usize)>, ColumnsError> {
    if head.starts_with(PARQUET) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let column = object_column(builder.schema())?;
        // Other columns are not decoded, and this is the first of what is.
        let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
        let builder = builder.with_projection(mask).with_batch_size(DECODED_ROWS);
        return Ok(Some((Box::new(builder.build()?), 0)));
    }
    if head.starts_with(ARROW_FILE) {
        let reader = FileReader::try_new(BufReader::new(file), None)?;
        let column = object_column(&reader.schema())?;
        return Ok(Some((Box::new(reader), column)));
    }
    if head.starts_with(ARROW_STREAM) {
        let reader = StreamReader::try_new(BufReader::new(file), None)?;
        let column = object_column(&reader.schema())?;
        return Ok(Some((Box::new(reader), column)));
    }
    Ok(None)
}

/// The column of objects.
fn object_column(schema: &Schema) -> Result<usize, ColumnsError> {
    let is_text = |index: &usize| {
        let field = schema.fields().get(*index);
        field.is_some_and(|field| TextColumn::is_text(field.data_type()))
    };
    if let Some(named) = schema.index_of(OBJECT).ok().filter(is_text) {
        return Ok(named);
    }
    let texts: Vec<usize> = (0..schema.fields().len()).filter(is_text).collect();
    if let [only] = texts.as_slice() {
        return Ok(*only);
    }
    let columns = schema.fields().iter();
    let columns: Vec<String> = columns
        .map(|field| format!("{} ({})", field.name(), field.data_type()))
        .collect();
    Err(ColumnsError::NoObjects(if columns.is_empty() {
        "it has none".to_owned()
    } else {
        columns.join(", ")
    }))
}

/// A column of a batch, in parts of some rows.
fn column_parts(batch: Result<RecordBatch, ArrowError>, column: usize) -> Vec<io::Result<ArrayRef>> {
    let batch = match batch.and_then(|batch| batch.project(&[column])) {
        Ok(batch) => batch,
        Err(ArrowError::IoError(_, error)) => return vec![Err(error)],
        Err(error) => return vec![Err(invalid_data(error))],
    };
    let parts = (0..batch.num_rows()).step_by(LINES).flat_map(|start| {
        let count = LINES.min(batch.num_rows() - start);
        let columns = batch.columns().iter();
        columns.map(move |column| Ok(column.slice(start, count)))
    });
    parts.collect()
}

/// Objects as lines.
fn to_lines(objects: &ArrayRef) -> Vec<u8> {
    let texts = TextColumn::from_array(objects);
    let mut lines = Vec::new();
    for row in 0..objects.len() {
        let object = texts.as_ref().and_then(|texts| texts.get(row));
        lines.extend(object.unwrap_or_default().iter().map(|byte| match byte {
            // Between members of JSON they are but space.
            b'\n' | b'\r' => b' ',
            byte => *byte,
        }));
        lines.push(b'\n');
    }
    lines
}

fn invalid_data(error: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray};
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use parquet::arrow::ArrowWriter;

    use super::*;

    fn objects() -> RecordBatch {
        let texts = vec![
            Some("{\"a\":1}"),
            None,
            Some("{\n  \"b\": \"x\\ny\"\r\n}"),
            Some("{}"),
        ];
        let numbers = Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as ArrayRef;
        let texts = Arc::new(StringArray::from(texts)) as ArrayRef;
        RecordBatch::try_from_iter_with_nullable([("number", numbers, true), ("object", texts, true)])
            .unwrap()
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

    fn read(file: File) -> String {
        let mut text = String::new();
        let mut lines = ColumnLines::open(file).unwrap().unwrap();
        lines.read_to_string(&mut text).unwrap();
        text
    }

    fn open_error(file: File) -> String {
        ColumnLines::open(file).map(drop).unwrap_err().to_string()
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
        assert_eq!(read(file(parquet, &objects())), lines);
        assert_eq!(read(file(arrow, &objects())), lines.repeat(2));
        assert_eq!(read(file(stream, &objects())), lines);
        let text = file(|mut to, _| to.write_all(b"{}\n").unwrap(), &objects());
        assert!(ColumnLines::open(text).unwrap().is_none());
    }

    #[test]
    fn no_row_is_lost_between_parts() {
        let numbers: Vec<String> = (0..LINES * 2 + 1).map(|number| number.to_string()).collect();
        let texts = Arc::new(StringArray::from(numbers.clone())) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("object", texts)]).unwrap();
        assert_eq!(read(file(parquet, &batch)), numbers.join("\n") + "\n");
    }

    #[test]
    fn the_only_text_is_that_of_objects() {
        let named = |names: &[&str]| {
            let texts = || Arc::new(StringArray::from(vec!["{}"])) as ArrayRef;
            RecordBatch::try_from_iter(names.iter().map(|name| (*name, texts()))).unwrap()
        };
        assert_eq!(read(file(parquet, &named(&["json"]))), "{}\n");
        assert_eq!(
            open_error(file(parquet, &named(&["json", "other"]))),
            "it has no column `object` of text, and not just one column of text: json (Utf8), other (Utf8)"
        );
        let broken = file(|mut to, _| to.write_all(b"PAR1 and no more").unwrap(), &objects());
        assert!(open_error(broken).starts_with("Parquet error: "));
    }
}
