//! Columns of text, in each form that Arrow has for them.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayAccessor};
use arrow_schema::DataType;

/// A column of text or bytes of any type of Arrow, also of a dictionary.
pub struct TextColumn<'a>(Box<dyn Fn(usize) -> Option<&'a [u8]> + 'a>);

impl<'a> TextColumn<'a> {
    /// Whether a type is one of texts.
    pub fn is_text(kind: &DataType) -> bool {
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
    pub fn from_array(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::new(array.as_string_opt::<i32>()?),
            DataType::LargeUtf8 => Self::new(array.as_string_opt::<i64>()?),
            DataType::Utf8View => Self::new(array.as_string_view_opt()?),
            DataType::Binary => Self::new(array.as_binary_opt::<i32>()?),
            DataType::LargeBinary => Self::new(array.as_binary_opt::<i64>()?),
            DataType::BinaryView => Self::new(array.as_binary_view_opt()?),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary_opt()?;
                let values = TextColumn::from_array(dictionary.values().as_ref())?;
                // Of an empty dictionary there are no keys to look up.
                let keys = if dictionary.values().is_empty() {
                    Vec::new()
                } else {
                    dictionary.normalized_keys()
                };
                let nulls = dictionary.keys();
                TextColumn(Box::new(move |row| {
                    let key = keys.get(row).filter(|_| nulls.is_valid(row))?;
                    values.get(*key)
                }))
            }
            _ => return None,
        })
    }

    fn new<T: AsRef<[u8]> + ?Sized + 'a>(array: impl ArrayAccessor<Item = &'a T> + 'a) -> Self {
        TextColumn(Box::new(move |row| {
            (row < array.len() && array.is_valid(row)).then(|| array.value(row).as_ref())
        }))
    }

    /// The text of a row; `None` if it is null, or there is no such row.
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.0(row)
    }
}

impl std::fmt::Debug for TextColumn<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TextColumn").finish_non_exhaustive()
    }
}
