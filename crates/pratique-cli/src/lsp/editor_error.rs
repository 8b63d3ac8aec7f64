//! Why `pratique lsp` ends.

use std::io;

use pratique_lsp::LspError;

use crate::exit::plain;

/// Why `pratique lsp` ends, other than by the editor's request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditorError {
    /// The session broke off.
    #[error(transparent)]
    Session(#[from] LspError),
    /// What was last said to the editor cannot be written.
    #[error("cannot write the output: {}", plain(.0))]
    Write(io::Error),
}
