//! Columns of text, in each form that Arrow has for them.

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;

/// A column of text.
pub(super) enum TextColumn<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    /// Texts that stand elsewhere, each once.
    Dictionary {
        keys: Vec<usize>,
        nulls: &'a dyn Array,
        values: Box<TextColumn<'a>>,
    },
}

impl<'a> TextColumn<'a> {
    /// Whether a type is one of texts.
    pub(super) fn is_text(kind: &DataType) -> bool {
        match kind {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView => true,
            DataType::Dictionary(_, values) => Self::is_text(values),
            _ => false,
        }
    }

    /// An array as a column of text; `None` if it has something else.
    pub(super) fn from_array(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => TextColumn::Utf8(array.as_string_opt()?),
            DataType::LargeUtf8 => TextColumn::LargeUtf8(array.as_string_opt()?),
            DataType::Utf8View => TextColumn::Utf8View(array.as_string_view_opt()?),
            DataType::Binary => TextColumn::Binary(array.as_binary_opt()?),
            DataType::LargeBinary => TextColumn::LargeBinary(array.as_binary_opt()?),
            DataType::BinaryView => TextColumn::BinaryView(array.as_binary_view_opt()?),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary_opt()?;
                let values = Box::new(TextColumn::from_array(dictionary.values().as_ref())?);
                TextColumn::Dictionary {
                    // Of an empty dictionary there are no keys to look up.
                    keys: if dictionary.values().is_empty() {
                        Vec::new()
                    } else {
                        dictionary.normalized_keys()
                    },
                    nulls: dictionary.keys(),
                    values,
                }
            }
            _ => return None,
        })
    }

    /// The text of a row; `None` if it is null, or there is no such row.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        fn value<'v>(array: &'v dyn Array, row: usize, value: impl FnOnce() -> &'v [u8]) -> Option<&'v [u8]> {
            (row < array.len() && array.is_valid(row)).then(value)
        }
        match self {
            TextColumn::Utf8(array) => value(array, row, || array.value(row).as_bytes()),
            TextColumn::LargeUtf8(array) => value(array, row, || array.value(row).as_bytes()),
            TextColumn::Utf8View(array) => value(array, row, || array.value(row).as_bytes()),
            TextColumn::Binary(array) => value(array, row, || array.value(row)),
            TextColumn::LargeBinary(array) => value(array, row, || array.value(row)),
            TextColumn::BinaryView(array) => value(array, row, || array.value(row)),
            TextColumn::Dictionary { keys, nulls, values } => {
                let is_null = row >= nulls.len() || nulls.is_null(row);
                let key = keys.get(row).filter(|_| !is_null)?;
                values.get(*key)
            }
        }
    }
}
