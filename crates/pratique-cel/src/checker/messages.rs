//! How messages show types.

use super::relate::is_presentable;
use crate::types::Type;

/// The message for a type in the place of another.
pub(super) fn mismatch(expected: &Type, actual: &Type) -> String {
    format!(
        "expected type '{}' but found '{}'",
        present(expected),
        present(actual)
    )
}

/// A type as messages show it.
pub(super) fn present(of: &Type) -> String {
    if is_presentable(of) {
        of.to_string()
    } else {
        format!("{}(…)", of.runtime_name())
    }
}
