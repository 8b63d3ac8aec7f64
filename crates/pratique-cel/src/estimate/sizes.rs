//! The sizes of values: characters, bytes, elements or entries.

use crate::ast::{Expr, Literal};
use crate::cost::Range;
use crate::types::Type;

/// The sizes of variables, as far as a host knows them.
pub trait Sizes {
    /// The size of the value at a path, as `size()` would give it; `None` where nothing is known.
    ///
    /// A path begins with a variable; its other parts are fields, or `@items`, `@indices`, `@keys`, `@values`.
    /// It is empty for a value that the expression makes, and begins with such a part for the values in it.
    fn size(&self, path: &[String], of: &Type) -> Option<Range>;
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownSizes;

impl Sizes for UnknownSizes {
    fn size(&self, _: &[String], _: &Type) -> Option<Range> {
        None
    }
}

/// The sizes of the keys (or indices) and the values of a list or map.
#[derive(Clone, Copy)]
pub(super) struct EntrySize {
    pub(super) is_list: bool,
    pub(super) key: Range,
    pub(super) value: Range,
}

impl EntrySize {
    pub(super) fn or(self, other: EntrySize) -> Self {
        EntrySize {
            is_list: self.is_list,
            key: self.key.or(other.key),
            value: self.value.or(other.value),
        }
    }
}

/// The size of a constant, or of a literal of a list or map.
pub(super) fn literal_size(expr: &Expr) -> Option<Range> {
    let size = match expr {
        Expr::Literal(Literal::String(text)) => text.chars().count(),
        Expr::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Expr::Literal(_) => 1,
        Expr::List { elements, .. } => elements.len(),
        Expr::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(Range::exactly(size as u64))
}
