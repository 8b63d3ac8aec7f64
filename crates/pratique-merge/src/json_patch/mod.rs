//! JSON Patch (RFC 6902) with the deviations of the library that the API server uses (evanphx/json-patch v4).
//!
//! Deviations that users depend on: negative indices count from the end, `01` and `+1` are indices, `replace`
//! of a missing member adds it, `test` without value passes on a missing member, `copy` of a missing member gives
//! null, the empty path (the whole document) can be replaced and tested only, and a missing value is null.

mod apply;
mod diff;
mod index;
mod locate;
mod nothing;
mod operation;

use pratique_json::Value;

pub use diff::diff;
pub use operation::{DecodeError, Operation, Text, decode};

/// How many values the `copy` operations of one patch may add together: the reference knows no bound, so a
/// patch of thirty operations can ask it for 2³⁰ copies.
pub const MAX_COPIED_VALUES: usize = 1_000_000;

/// Why a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A `test` found another value. Policies skip such a patch silently.
    #[error("testing value {path} failed: test failed")]
    TestFailed {
        /// The path that was tested.
        path: String,
    },
    /// Any other fault, in the reference's words.
    #[error("{0}")]
    DoesNotApply(String),
}

/// Applies the operations in order and gives the changed document; the first fault ends it.
pub fn apply<'a>(document: Value<'a>, operations: &[Operation<'a>]) -> Result<Value<'a>, Error> {
    let mut state = apply::State { document, copied: 0 };
    operations
        .iter()
        .try_for_each(|operation| state.apply(operation))?;
    if operations
        .iter()
        .any(|operation| operation.value == Some(Value::Null))
    {
        nothing::unmark(&mut state.document);
    }
    Ok(state.document)
}
