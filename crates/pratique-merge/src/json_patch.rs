//! JSON Patch (RFC 6902) with the deviations of the library that the API server uses (evanphx/json-patch v4).
//!
//! Deviations that users depend on: negative indices count from the end, `01` and `+1` are indices, `replace`
//! of a missing member adds it, `test` without value passes on a missing member, `copy` of a missing member gives
//! null, the empty path (the whole document) can be replaced and tested only, and a missing value is null.

mod apply;
mod chunks;
mod container;
mod diff;
mod equal;
mod index;
mod node;
mod operation;

use pratique_json::{Progress, Value};

pub use diff::diff;
pub use operation::{DecodeError, Operation, Text, decode};

/// How many bytes the `copy` operations of one patch may add together, as JSON.
///
/// Upstream: `apiserver/pkg/server/config.go`, `JSONPatchMaxCopyBytes`
pub const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// How deep arrays and objects of a patched document may be nested: as deep as those that can be read.
pub const MAX_DEPTH: usize = pratique_json::MAX_DEPTH;

/// Why a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A `test` found another value. Policies skip such a patch silently.
    #[error("testing value {path} failed: test failed")]
    TestFailed {
        /// The path that was tested.
        path: String,
    },
    /// Copies add more than [`MAX_COPIED_BYTES`].
    #[error(
        "Unable to complete the copy, the accumulated size increase of copy is {bytes}, exceeding the limit \
         {MAX_COPIED_BYTES}"
    )]
    CopiesTooMuch {
        /// How many bytes the copies add, including the last one.
        bytes: usize,
    },
    /// The document would be nested deeper than [`MAX_DEPTH`].
    #[error("exceeded max depth")]
    TooDeep,
    /// The caller interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// Any other error, with the reference's message.
    #[error("{0}")]
    DoesNotApply(String),
}

/// Applies the operations in order and returns the changed document; the first error ends it.
///
/// It takes time in proportion to the sizes of the document, the patch and the copies.
///
/// # Errors
/// The operation that does not apply, or [`Error::Interrupted`].
pub fn apply<'a>(
    document: Value<'a>,
    operations: &[Operation<'a>],
    progress: &Progress<'_>,
) -> Result<Value<'a>, Error> {
    let mut state = apply::PatchState {
        document: node::PatchNode::Plain(document),
        copied: 0,
        progress,
    };
    operations
        .iter()
        .try_for_each(|operation| state.apply(operation))?;
    Ok(state.document.into_value())
}
