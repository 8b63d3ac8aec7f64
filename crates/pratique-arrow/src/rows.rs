//! Results, row by row, as record batches.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder, TimestampMicrosecondBuilder};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, SchemaRef};
use jiff::Timestamp;
use pratique_report::{Evaluation, Finding};

use crate::schema::{finding, finding_item, replay_schema, result_schema, text_item};

/// A result.
#[derive(Clone, Debug, Default)]
pub struct ResultRow<'a> {
    /// The decision, and what led to it.
    pub evaluation: Evaluation<'a>,
    /// The message of a denial, or why the request could not be evaluated; empty if there is none.
    pub message: &'a str,
    /// What happened when the request was made; only replays have it.
    pub then: Option<RecordedOutcome<'a>>,
}

/// What happened when a request was made. A text that is not known is empty.
#[derive(Clone, Debug, Default)]
pub struct RecordedOutcome<'a> {
    /// The `auditID`, or the uid of a recorded request.
    pub id: &'a str,
    /// How the decision compares with the recorded one.
    pub comparison: &'a str,
    /// The recorded decision.
    pub decision: &'a str,
    /// What refused the recorded request.
    pub by: &'a str,
    /// The recorded message.
    pub message: &'a str,
    /// Why not enough of the request is recorded.
    pub unknown: &'a str,
    /// In what the request may differ from the recorded one.
    pub approximations: Vec<&'a str>,
}

/// Results that become a record batch.
#[derive(Debug)]
pub struct ResultRows {
    schema: SchemaRef,
    rows: usize,
    bytes: usize,
    place: TextCells,
    time: TimestampMicrosecondBuilder,
    /// From `operation` to `message`, in the order of the schema.
    texts: [TextCells; 10],
    findings: FindingColumn,
    then: Option<ThenColumns>,
}

impl ResultRows {
    /// No results yet, of the [schema of results](result_schema).
    pub fn new() -> Self {
        Self::with(result_schema(), None)
    }

    /// No results yet, of the [schema of replays](replay_schema).
    pub fn of_replay() -> Self {
        Self::with(replay_schema(), Some(ThenColumns::default()))
    }

    fn with(schema: SchemaRef, then: Option<ThenColumns>) -> Self {
        ResultRows {
            schema,
            rows: 0,
            bytes: 0,
            place: TextCells::default(),
            time: TimestampMicrosecondBuilder::new().with_timezone("UTC"),
            texts: Default::default(),
            findings: FindingColumn::default(),
            then,
        }
    }

    /// The columns of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// About how many bytes the texts of all rows have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row.
    pub fn push(&mut self, row: &ResultRow<'_>) {
        let evaluation = &row.evaluation;
        self.rows += 1;
        // Offsets, and the texts that are short.
        self.bytes += 64;
        self.place.push(evaluation.place);
        self.bytes += evaluation.place.len();
        let texts = [
            evaluation.operation,
            evaluation.api_version,
            evaluation.kind,
            evaluation.namespace,
            evaluation.name,
            evaluation.uid,
            evaluation.user,
            evaluation.owner,
            evaluation.decision.as_str(),
            row.message,
        ];
        self.bytes += push_all(&mut self.texts, texts);
        // A time that cannot be parsed is null.
        let time = evaluation.time.parse::<Timestamp>().ok();
        self.time.append_option(time.map(|time| time.as_microsecond()));
        self.bytes += self.findings.push(&evaluation.findings);
        if let Some(then) = &mut self.then {
            let none = RecordedOutcome::default();
            self.bytes += then.push(row.then.as_ref().unwrap_or(&none));
        }
    }

    /// The rows as a batch; after it there are none.
    ///
    /// # Errors
    /// The texts of a column are longer than 2 GiB together.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut columns: Vec<ArrayRef> = vec![self.place.take(), Arc::new(self.time.finish())];
        columns.extend(self.texts.each_mut().map(TextCells::take));
        columns.push(self.findings.take()?);
        if let Some(then) = &mut self.then {
            then.take(&mut columns)?;
        }
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema(), columns, &options)
    }
}

impl Default for ResultRows {
    fn default() -> Self {
        ResultRows::new()
    }
}

/// A column of text, in which what is empty is null.
#[derive(Debug, Default)]
struct TextCells(StringBuilder);

impl TextCells {
    fn push(&mut self, text: &str) {
        self.0.append_option(Some(text).filter(|text| !text.is_empty()));
    }

    fn take(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

/// Appends a text to each of some columns, and gives how many bytes they have.
fn push_all<const N: usize>(columns: &mut [TextCells; N], texts: [&str; N]) -> usize {
    for (column, text) in columns.iter_mut().zip(texts) {
        column.push(text);
    }
    texts.iter().map(|text| text.len()).sum()
}

/// The column of findings.
#[derive(Debug, Default)]
struct FindingColumn {
    lengths: Vec<usize>,
    policy: TextCells,
    binding: TextCells,
    action: StringBuilder,
    is_error: BooleanBuilder,
    message: StringBuilder,
}

impl FindingColumn {
    /// Adds those of a row, and gives how long their texts are.
    fn push(&mut self, findings: &[Finding<'_>]) -> usize {
        self.lengths.push(findings.len());
        let mut bytes = 0;
        for finding in findings {
            self.policy.push(finding.policy);
            self.binding.push(finding.binding);
            self.action.append_value(finding.action.as_str());
            self.is_error.append_value(finding.is_error);
            self.message.append_value(finding.message);
            bytes += 32 + finding.policy.len() + finding.binding.len() + finding.message.len();
        }
        bytes
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            self.policy.take(),
            self.binding.take(),
            Arc::new(self.action.finish()),
            Arc::new(self.is_error.finish()),
            Arc::new(self.message.finish()),
        ];
        let items = StructArray::try_new(finding(), columns, None)?;
        let lengths = std::mem::take(&mut self.lengths);
        let offsets = OffsetBuffer::from_lengths(lengths);
        let list = ListArray::try_new(finding_item(), offsets, Arc::new(items), None)?;
        Ok(Arc::new(list))
    }
}

/// The columns of the recorded outcome.
#[derive(Debug, Default)]
struct ThenColumns {
    /// From `id` to `unknown`, in the order of the schema.
    texts: [TextCells; 6],
    lengths: Vec<usize>,
    approximations: StringBuilder,
}

impl ThenColumns {
    fn push(&mut self, then: &RecordedOutcome<'_>) -> usize {
        let texts = [
            then.id,
            then.comparison,
            then.decision,
            then.by,
            then.message,
            then.unknown,
        ];
        let mut bytes = push_all(&mut self.texts, texts);
        self.lengths.push(then.approximations.len());
        for approximation in &then.approximations {
            self.approximations.append_value(approximation);
            bytes += approximation.len();
        }
        bytes
    }

    fn take(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        columns.extend(self.texts.each_mut().map(TextCells::take));
        let items = Arc::new(self.approximations.finish());
        let offsets = OffsetBuffer::from_lengths(std::mem::take(&mut self.lengths));
        let list = ListArray::try_new(text_item(), offsets, items, None)?;
        columns.push(Arc::new(list));
        Ok(())
    }
}
