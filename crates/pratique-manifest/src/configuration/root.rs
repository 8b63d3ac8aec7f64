//! Where the files of a configuration lie, and which may be opened.

use std::io;
use std::path::Path;

use pratique_types::FileError;

use crate::read::directory;
use crate::read::path::path_text;

/// The directory that stands for `/` (empty for `/` itself), and which files may be opened.
#[derive(Clone, Copy)]
pub(super) struct FileRoot<'a> {
    pub(super) path: &'a str,
    pub(super) permit: &'a dyn Fn(&Path) -> io::Result<()>,
}

impl<'a> FileRoot<'a> {
    /// All files below a path are permitted.
    pub(super) fn below(path: &'a str) -> Self {
        FileRoot {
            path,
            permit: &|_| Ok(()),
        }
    }

    /// Checks that a file or directory may be opened.
    pub(super) fn permit(self, path: &str) -> Result<(), FileError> {
        self.permit_path(Path::new(path), path.to_owned())
    }

    /// Checks that a directory and its files may be opened.
    pub(super) fn permit_directory(self, path: &str) -> Result<(), FileError> {
        self.permit(path)?;
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.map(|entry| entry.path());
        entries.try_for_each(|path| self.permit_path(&path, path_text(&path)))
    }

    fn permit_path(self, path: &Path, display_path: String) -> Result<(), FileError> {
        (self.permit)(path).map_err(|error| FileError {
            call: "open",
            path: display_path,
            reason: error.to_string(),
        })
    }

    /// The path below the root of a file; only absolute paths change.
    pub(super) fn find(self, path: &str) -> String {
        match (self.path.is_empty(), path.starts_with('/')) {
            (false, true) => directory::clean_path(&format!("{}{path}", self.path)),
            _ => path.to_owned(),
        }
    }
}

/// Resolves a path that a file names, relative to that file's directory.
pub(super) fn relative_to(path: &str, file: &str, root: FileRoot<'_>) -> String {
    if path.starts_with('/') {
        return root.find(path);
    }
    let base = file
        .rsplit_once('/')
        .map_or(".", |(base, _)| if base.is_empty() { "/" } else { base });
    let base = if base == "." {
        directory::current()
    } else {
        base.to_owned()
    };
    directory::clean_path(&format!("{base}/{path}"))
}
