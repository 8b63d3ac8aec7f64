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
    /// What the user is told of a denial, or why the request could not be evaluated; empty if there is nothing to tell.
    pub message: &'a str,
    /// What happened when the request was made; only replays have it.
    pub then: Option<Then<'a>>,
}

/// What happened when a request was made. A text that is not known is empty.
#[derive(Clone, Debug, Default)]
pub struct Then<'a> {
    /// The `auditID`, or the uid of a recorded request.
    pub id: &'a str,
    /// The decision of now beside that of then.
    pub comparison: &'a str,
    /// The decision of then.
    pub decision: &'a str,
    /// What refused the request then.
    pub by: &'a str,
    /// The message of then.
    pub message: &'a str,
    /// Why not enough of the request is known.
    pub unknown: &'a str,
    /// What the request differs in from the one of then.
    pub approximations: Vec<&'a str>,
}

/// Results that become a record batch.
#[derive(Debug)]
pub struct ResultRows {
    schema: SchemaRef,
    rows: usize,
    bytes: usize,
    place: Text,
    time: TimestampMicrosecondBuilder,
    operation: Text,
    api_version: Text,
    kind: Text,
    namespace: Text,
    name: Text,
    uid: Text,
    user: Text,
    owner: Text,
    decision: Text,
    message: Text,
    findings: Findings,
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
            place: Text::default(),
            time: TimestampMicrosecondBuilder::new().with_timezone("UTC"),
            operation: Text::default(),
            api_version: Text::default(),
            kind: Text::default(),
            namespace: Text::default(),
            name: Text::default(),
            uid: Text::default(),
            user: Text::default(),
            owner: Text::default(),
            decision: Text::default(),
            message: Text::default(),
            findings: Findings::default(),
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
        for (column, text) in [
            (&mut self.place, evaluation.place),
            (&mut self.operation, evaluation.operation),
            (&mut self.api_version, evaluation.api_version),
            (&mut self.kind, evaluation.kind),
            (&mut self.namespace, evaluation.namespace),
            (&mut self.name, evaluation.name),
            (&mut self.uid, evaluation.uid),
            (&mut self.user, evaluation.user),
            (&mut self.owner, evaluation.owner),
            (&mut self.decision, evaluation.decision.as_str()),
            (&mut self.message, row.message),
        ] {
            column.push(text);
            self.bytes += text.len();
        }
        // A time that is none is not known.
        let time = evaluation.time.parse::<Timestamp>().ok();
        self.time.append_option(time.map(|time| time.as_microsecond()));
        self.bytes += self.findings.push(&evaluation.findings);
        if let Some(then) = &mut self.then {
            let none = Then::default();
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
        for column in [
            &mut self.operation,
            &mut self.api_version,
            &mut self.kind,
            &mut self.namespace,
            &mut self.name,
            &mut self.uid,
            &mut self.user,
            &mut self.owner,
            &mut self.decision,
            &mut self.message,
        ] {
            columns.push(column.take());
        }
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
struct Text(StringBuilder);

impl Text {
    fn push(&mut self, text: &str) {
        self.0.append_option(Some(text).filter(|text| !text.is_empty()));
    }

    fn take(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

/// The column of findings.
#[derive(Debug, Default)]
struct Findings {
    lengths: Vec<usize>,
    policy: Text,
    binding: Text,
    action: StringBuilder,
    is_error: BooleanBuilder,
    message: StringBuilder,
}

impl Findings {
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

/// The columns of what happened then.
#[derive(Debug, Default)]
struct ThenColumns {
    id: Text,
    comparison: Text,
    decision: Text,
    by: Text,
    message: Text,
    unknown: Text,
    lengths: Vec<usize>,
    approximations: StringBuilder,
}

impl ThenColumns {
    fn push(&mut self, then: &Then<'_>) -> usize {
        let mut bytes = 0;
        for (column, text) in [
            (&mut self.id, then.id),
            (&mut self.comparison, then.comparison),
            (&mut self.decision, then.decision),
            (&mut self.by, then.by),
            (&mut self.message, then.message),
            (&mut self.unknown, then.unknown),
        ] {
            column.push(text);
            bytes += text.len();
        }
        self.lengths.push(then.approximations.len());
        for told in &then.approximations {
            self.approximations.append_value(told);
            bytes += told.len();
        }
        bytes
    }

    fn take(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        for column in [
            &mut self.id,
            &mut self.comparison,
            &mut self.decision,
            &mut self.by,
            &mut self.message,
            &mut self.unknown,
        ] {
            columns.push(column.take());
        }
        let items = Arc::new(self.approximations.finish());
        let offsets = OffsetBuffer::from_lengths(std::mem::take(&mut self.lengths));
        let list = ListArray::try_new(text_item(), offsets, items, None)?;
        columns.push(Arc::new(list));
        Ok(())
    }
}
