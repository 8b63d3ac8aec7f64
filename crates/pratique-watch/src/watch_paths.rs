//! The files and directories that are watched and loaded together.

use std::fmt;
use std::path::{Path, PathBuf};

/// How deep directories may nest.
const MAX_DEPTH: usize = 64;

/// The files and directories that are watched and loaded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchPaths {
    pub(crate) paths: Vec<PathBuf>,
    /// How many levels of directories below each directory belong to it.
    pub(crate) depth: usize,
}

impl WatchPaths {
    /// A directory with its entries.
    pub(crate) fn directory(path: PathBuf) -> Self {
        WatchPaths {
            paths: vec![path],
            depth: 0,
        }
    }

    /// Files, and directories with all below them.
    pub(crate) fn trees(paths: Vec<PathBuf>) -> Self {
        WatchPaths {
            paths,
            depth: MAX_DEPTH,
        }
    }

    /// The first path, which loaders get.
    pub(crate) fn first(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// The paths, as log lines show them.
impl fmt::Display for WatchPaths {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, path) in self.paths.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(formatter, "{separator}{}", path.display())?;
        }
        Ok(())
    }
}
