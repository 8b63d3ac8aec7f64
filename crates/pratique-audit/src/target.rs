//! The target of an audit log.

use std::path::PathBuf;

/// The target of an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// The end of a file, which is created if it does not exist.
    File(PathBuf),
}

impl Target {
    /// Parses a target: the path of a file, or `-` for standard output.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "-" => Target::Stdout,
            path => Target::File(path.into()),
        }
    }
}
