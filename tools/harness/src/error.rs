//! Why a tool fails.

use std::io;
use std::path::{Path, PathBuf};

/// Why a tool, or a step of it, fails. Its text is what the tool prints.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// A file or directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A program does not start.
    #[error("{program}: {error}")]
    Program {
        /// The program.
        program: String,
        /// Why not.
        error: io::Error,
    },
    /// Another operation of the system fails, such as opening a port.
    #[error(transparent)]
    System(#[from] io::Error),
    /// Any other failure, described by the text.
    #[error("{0}")]
    Unexpected(String),
}

impl ToolError {
    /// Names the file of an error: `fs::read(path).map_err(Error::file(path))`.
    pub fn file(path: impl AsRef<Path>) -> impl Fn(io::Error) -> Self {
        move |error| ToolError::File {
            path: path.as_ref().to_owned(),
            error,
        }
    }

    /// Names the program of an error.
    pub fn program(program: impl ToString) -> impl Fn(io::Error) -> Self {
        move |error| ToolError::Program {
            program: program.to_string(),
            error,
        }
    }
}

impl From<String> for ToolError {
    fn from(text: String) -> Self {
        ToolError::Unexpected(text)
    }
}

impl From<&str> for ToolError {
    fn from(text: &str) -> Self {
        ToolError::Unexpected(text.to_owned())
    }
}
