//! The columns of a batch of objects.

use arrow_array::{Array, ListArray, RecordBatch, cast::AsArray as _};
use arrow_schema::{ArrowError, DataType};

use crate::text::TextColumn;

const OBJECT: &str = "object";

/// Why a batch is not evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It has no objects.
    #[error("the batch has neither a column `{OBJECT}` nor `old_object`")]
    NoObjects,
    /// A column is of a type that is not read.
    #[error("column `{column}` is of type {found}, and {expected} is expected")]
    Type {
        /// The column.
        column: &'static str,
        /// Its type.
        found: DataType,
        /// The expected type.
        expected: &'static str,
    },
    /// Reading the batch or building the results failed.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
}

/// The columns of a batch that requests are made of.
pub(super) struct InputColumns<'a> {
    pub(super) object: Option<TextColumn<'a>>,
    pub(super) old_object: Option<TextColumn<'a>>,
    namespace: Option<TextColumn<'a>>,
    user: Option<TextColumn<'a>>,
    groups: Option<&'a ListArray>,
}

impl<'a> InputColumns<'a> {
    /// The columns of a batch; others are ignored.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self, InputError> {
        let columns = InputColumns {
            object: text_column(batch, OBJECT)?,
            old_object: text_column(batch, "old_object")?,
            namespace: text_column(batch, "namespace")?,
            user: text_column(batch, "user")?,
            groups: groups(batch)?,
        };
        match (&columns.object, &columns.old_object) {
            (None, None) => Err(InputError::NoObjects),
            _ => Ok(columns),
        }
    }

    /// The namespace of a row, if it has one.
    pub(super) fn namespace(&self, row: usize) -> Option<String> {
        named(self.namespace.as_ref(), row)
    }

    /// The user of a row, if it has one.
    pub(super) fn user(&self, row: usize) -> Option<String> {
        named(self.user.as_ref(), row)
    }

    /// The groups of the user of a row; `None` if the row names none.
    pub(super) fn groups(&self, row: usize) -> Option<Vec<String>> {
        let lists = self.groups?;
        if row >= lists.len() || lists.is_null(row) {
            return None;
        }
        let list = lists.value(row);
        let texts = TextColumn::from_array(&list)?;
        let texts = (0..list.len()).filter_map(|index| texts.get(index));
        Some(
            texts
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .collect(),
        )
    }
}

fn named(column: Option<&TextColumn<'_>>, row: usize) -> Option<String> {
    let text = column.and_then(|column| column.get(row))?;
    Some(String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty())
}

fn text_column<'a>(
    batch: &'a RecordBatch,
    column: &'static str,
) -> Result<Option<TextColumn<'a>>, InputError> {
    let Some(array) = batch.column_by_name(column) else {
        return Ok(None);
    };
    match TextColumn::from_array(array) {
        Some(text) => Ok(Some(text)),
        // A column of type null has nothing but nulls.
        None if *array.data_type() == DataType::Null => Ok(None),
        None => Err(InputError::Type {
            column,
            found: array.data_type().clone(),
            expected: "text",
        }),
    }
}

fn groups(batch: &RecordBatch) -> Result<Option<&ListArray>, InputError> {
    let Some(array) = batch.column_by_name("groups") else {
        return Ok(None);
    };
    let lists = array.as_list_opt::<i32>();
    match lists.filter(|lists| TextColumn::is_text(&lists.value_type())) {
        Some(lists) => Ok(Some(lists)),
        None if *array.data_type() == DataType::Null => Ok(None),
        None => Err(InputError::Type {
            column: "groups",
            found: array.data_type().clone(),
            expected: "a list of text",
        }),
    }
}
