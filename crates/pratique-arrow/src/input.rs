//! The columns of a batch of objects.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ListArray, RecordBatch};
use arrow_schema::{ArrowError, DataType};

use crate::text::TextColumn;

/// Why a batch is not evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It has no objects.
    #[error("the batch has neither a column `object` nor `old_object`")]
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
    object: Option<TextColumn<'a>>,
    old_object: Option<TextColumn<'a>>,
    namespace: Option<TextColumn<'a>>,
    user: Option<TextColumn<'a>>,
    groups: Option<(&'a ListArray, TextColumn<'a>)>,
}

/// What a row says of its request. An empty text is none.
pub(super) struct InputRow<'a> {
    pub(super) object: Option<&'a [u8]>,
    pub(super) old_object: Option<&'a [u8]>,
    pub(super) namespace: Option<String>,
    pub(super) user: Option<String>,
    pub(super) groups: Option<Vec<String>>,
}

impl<'a> InputColumns<'a> {
    /// The columns of a batch; others are ignored.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self, InputError> {
        let text = |name| column(batch, name, "text", TextColumn::from_array);
        let columns = InputColumns {
            object: text("object")?,
            old_object: text("old_object")?,
            namespace: text("namespace")?,
            user: text("user")?,
            groups: column(batch, "groups", "a list of text", |array| {
                let lists = array.as_list_opt::<i32>()?;
                Some((lists, TextColumn::from_array(lists.values())?))
            })?,
        };
        if columns.object.is_none() && columns.old_object.is_none() {
            return Err(InputError::NoObjects);
        }
        Ok(columns)
    }

    pub(super) fn row(&self, row: usize) -> InputRow<'a> {
        let bytes = |column: &Option<TextColumn<'a>>| column.as_ref()?.get(row);
        let text = |column| bytes(column).filter(|text| !text.is_empty()).map(to_string);
        InputRow {
            object: bytes(&self.object),
            old_object: bytes(&self.old_object),
            namespace: text(&self.namespace),
            user: text(&self.user),
            groups: self.groups(row),
        }
    }

    fn groups(&self, row: usize) -> Option<Vec<String>> {
        let (lists, texts) = self.groups.as_ref()?;
        let (start, end) = match lists.value_offsets().get(row..)? {
            [start, end, ..] if lists.is_valid(row) => (*start, *end),
            _ => return None,
        };
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        Some(
            range
                .filter_map(|index| texts.get(index))
                .map(to_string)
                .collect(),
        )
    }
}

fn to_string(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A column of a batch, if it has one of the name that has more than nulls.
fn column<'a, C>(
    batch: &'a RecordBatch,
    name: &'static str,
    expected: &'static str,
    read: impl FnOnce(&'a dyn Array) -> Option<C>,
) -> Result<Option<C>, InputError> {
    let array = batch.column_by_name(name);
    let Some(array) = array.filter(|array| *array.data_type() != DataType::Null) else {
        return Ok(None);
    };
    let column = read(array).ok_or_else(|| InputError::Type {
        column: name,
        found: array.data_type().clone(),
        expected,
    })?;
    Ok(Some(column))
}
