//! The columns of results, and results as record batches of them.

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pratique_report::{Evaluation, Finding};

use crate::cells::{
    ColumnCells, FlagCells, ListCells, OptionalTextCells, TextCells, TimeCells, column_cells,
};

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

column_cells! {
    /// The columns of [`result_schema`].
    ResultCells of row: &'c ResultRow<'c> {
        place: OptionalTextCells = row.evaluation.place,
        time: TimeCells = row.evaluation.time,
        operation: OptionalTextCells = row.evaluation.operation,
        api_version: OptionalTextCells = row.evaluation.api_version,
        kind: OptionalTextCells = row.evaluation.kind,
        namespace: OptionalTextCells = row.evaluation.namespace,
        name: OptionalTextCells = row.evaluation.name,
        uid: OptionalTextCells = row.evaluation.uid,
        user: OptionalTextCells = row.evaluation.user,
        owner: OptionalTextCells = row.evaluation.owner,
        decision: TextCells = row.evaluation.decision.as_str(),
        message: OptionalTextCells = row.message,
        findings: ListCells<FindingCells> = &row.evaluation.findings,
    }
}

column_cells! {
    /// What a finding has.
    FindingCells of finding: Finding<'c> {
        policy: OptionalTextCells = finding.policy,
        binding: OptionalTextCells = finding.binding,
        action: TextCells = finding.action.as_str(),
        is_error: FlagCells = finding.is_error,
        message: TextCells = finding.message,
    }
}

column_cells! {
    /// The columns of [`replay_schema`] after those of results.
    ThenCells of then: &'c RecordedOutcome<'c> {
        id: OptionalTextCells = then.id,
        comparison: OptionalTextCells = then.comparison,
        then_decision: OptionalTextCells = then.decision,
        then_by: OptionalTextCells = then.by,
        then_message: OptionalTextCells = then.message,
        unknown: OptionalTextCells = then.unknown,
        approximations: ListCells<TextCells> = &then.approximations,
    }
}

/// The columns of results: one row for each object that was evaluated, or could not be.
///
/// | column | type | |
/// |---|---|---|
/// | `place` | text | where the object was found, such as `objects.ndjson:3:1` |
/// | `time` | timestamp in microseconds, UTC | when the request was made |
/// | `operation` | text | `CREATE`, `UPDATE`, `DELETE`, `CONNECT` |
/// | `api_version`, `kind`, `namespace`, `name`, `uid` | text | the object |
/// | `user` | text | who sends the request |
/// | `owner` | text | what controls the object, such as `Deployment/web` |
/// | `decision` | text, never null | `allowed`, `denied`, `undecided`, or `failed`: it could not be read or evaluated |
/// | `message` | text | what the user is told of a denial; why it failed |
/// | `findings` | list, never null | what policies found |
///
/// A finding has `policy` and `binding`, which may be null; `action`: `deny`, `warn`, `audit`, `ignore` (an error that is
/// ignored), or `undecided` (something was not given: the message says what); `is_error`, whether an error led to it and not a
/// validation; and `message`. What is not known is null.
pub fn result_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| Arc::new(Schema::new(ResultCells::fields())));
    Arc::clone(&SCHEMA)
}

/// The columns of [results](result_schema), followed by what happened when the requests were made:
///
/// | column | type | |
/// |---|---|---|
/// | `id` | text | the `auditID`, or the uid of a recorded request |
/// | `comparison` | text | `same`, `refusedNow`, `allowedNow`, `notCompared`, `undecided` |
/// | `then_decision` | text | what was decided then |
/// | `then_by` | text | what refused the request then |
/// | `then_message` | text | the message of then |
/// | `unknown` | text | why the log does not have enough of the request |
/// | `approximations` | list of text, never null | what the request differs in from the one of then |
pub fn replay_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let fields = [ResultCells::fields(), ThenCells::fields()].concat();
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

/// Results that become a record batch.
#[derive(Debug)]
pub struct ResultRows {
    schema: SchemaRef,
    rows: usize,
    bytes: usize,
    results: ResultCells,
    then: Option<ThenCells>,
}

impl ResultRows {
    /// No results yet, of the [schema of results](result_schema).
    pub fn new() -> Self {
        Self::with_schema(result_schema(), None)
    }

    /// No results yet, of the [schema of replays](replay_schema).
    pub fn of_replay() -> Self {
        Self::with_schema(replay_schema(), Some(ThenCells::default()))
    }

    fn with_schema(schema: SchemaRef, then: Option<ThenCells>) -> Self {
        ResultRows {
            schema,
            rows: 0,
            bytes: 0,
            results: ResultCells::default(),
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

    /// About how many bytes all rows have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row.
    pub fn push(&mut self, row: &ResultRow<'_>) {
        self.rows += 1;
        // Offsets, besides the texts.
        self.bytes += 64 + self.results.push(row);
        if let Some(cells) = &mut self.then {
            self.bytes += match &row.then {
                Some(then) => cells.push(then),
                None => cells.push(&RecordedOutcome::default()),
            };
        }
    }

    /// The rows as a batch; after it there are none.
    ///
    /// # Errors
    /// The texts of a column are longer than 2 GiB together.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut columns = self.results.take_arrays()?;
        if let Some(then) = &mut self.then {
            columns.extend(then.take_arrays()?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema(), columns, &options)
    }
}

impl Default for ResultRows {
    fn default() -> Self {
        ResultRows::new()
    }
}
