//! Why tables cannot be written.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use pratique_schema::merge::InvalidSchema;

/// Why tables cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// A file or directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// What the operating system reports.
        error: io::Error,
    },
    /// A document is not JSON, or not of the expected form.
    #[error("{document}: {error}")]
    Document {
        /// Its name.
        document: String,
        /// The error of the parser.
        error: String,
    },
    /// OpenAPI schemas are invalid.
    #[error(transparent)]
    Schema(#[from] InvalidSchema),
}

/// Adds a path to the error of an operation on it.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> CodegenError {
    move |error| CodegenError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Adds the name of a document to the error of a parser.
pub(super) fn within<E: Display>(document: impl Display) -> impl FnOnce(E) -> CodegenError {
    move |error| CodegenError::Document {
        document: document.to_string(),
        error: error.to_string(),
    }
}
