//! The files that suites can name: those below a root. A suite may come from an unreviewed change, and errors quote the
//! files that it names.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_manifest::{ManifestFile, absolute_path, canonical_path, is_below, path_text, repository_top};

use crate::files;

/// Directories below which all suites can name files, besides each suite's root.
///
/// The root of a suite is the top of its Git repository; else the working directory, if the suite is below it; else the
/// suite's directory.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    directories: Vec<PathBuf>,
    unsaved: UnsavedFiles,
    excluded: ExcludedFiles,
}

/// Which files of directories are left out, by the directory and the file.
#[derive(Clone, Default)]
struct ExcludedFiles(Option<Arc<FileTest>>);

type FileTest = dyn Fn(&Path, &Path) -> bool + Send + Sync;

impl ExcludedFiles {
    fn has(&self, directory: &Path, file: &Path) -> bool {
        self.0.as_ref().is_some_and(|test| test(directory, file))
    }
}

impl fmt::Debug for ExcludedFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.0.is_some() { "some" } else { "none" };
        formatter.debug_tuple("ExcludedFiles").field(&name).finish()
    }
}

/// Contents of files by their canonicalized paths, whatever is on the disk.
type UnsavedFiles = Arc<BTreeMap<PathBuf, Vec<u8>>>;

/// The directories below which a suite can name files, canonicalized.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuiteRoots {
    directories: Vec<PathBuf>,
    unsaved: UnsavedFiles,
    excluded: ExcludedFiles,
}

/// A path is outside of the directories below which a suite can name files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not below {}, as files that a suite names have to be", .root)]
pub(crate) struct OutsidePath {
    root: String,
}

/// Why a suite cannot open a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Outside(#[from] OutsidePath),
    #[error("{}", files::plain(.0))]
    Io(#[from] io::Error),
}

impl OpenError {
    /// How to have the file opened, where there is a way.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            OpenError::Outside(_) => Some(OutsidePath::HELP),
            OpenError::Io(_) => None,
        }
    }
}

impl OutsidePath {
    /// How to allow the path.
    const HELP: &'static str = "pratique test --allow-path DIR lets suites name files below DIR, too";
}

impl Roots {
    /// Allows suites to name files below some directories.
    ///
    /// # Errors
    /// A directory does not exist.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let canonical_directories = directories.into_iter().map(|directory| directory.canonicalize());
        Ok(Roots {
            directories: canonical_directories.collect::<io::Result<_>>()?,
            unsaved: UnsavedFiles::default(),
            excluded: ExcludedFiles::default(),
        })
    }

    /// Leaves out files of directories that suites name, by a test of the directory and the file.
    #[must_use]
    pub fn excluding(self, test: impl Fn(&Path, &Path) -> bool + Send + Sync + 'static) -> Self {
        Roots {
            excluded: ExcludedFiles(Some(Arc::new(test))),
            ..self
        }
    }

    /// Takes the contents of some files instead of what is on the disk, such as those that an editor has not saved.
    #[must_use]
    pub fn with_unsaved(self, contents: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Self {
        let contents = contents
            .into_iter()
            .filter_map(|(path, content)| Some((canonical_path(&path)?, content)));
        Roots {
            unsaved: Arc::new(contents.collect()),
            ..self
        }
    }

    /// Whether a path is one that suites in a directory can name.
    pub fn permit(&self, directory: &Path, path: &Path) -> bool {
        self.for_directory(directory).permit(path).is_ok()
    }

    /// The roots of the suites in a directory.
    pub(crate) fn for_directory(&self, directory: &Path) -> SuiteRoots {
        let local = absolute_path(directory)
            .canonicalize()
            .ok()
            .map(|canonical_directory| root_of(&canonical_directory));
        SuiteRoots {
            directories: local
                .into_iter()
                .chain(self.directories.iter().cloned())
                .collect(),
            unsaved: Arc::clone(&self.unsaved),
            excluded: self.excluded.clone(),
        }
    }
}

/// The root of a suite in a directory.
fn root_of(directory: &Path) -> PathBuf {
    if let Some(top) = repository_top(directory) {
        return top.to_path_buf();
    }
    // The root directory of the file system is not a suite's root.
    let is_root = |path: &Path| path.parent().is_some();
    let working = env::current_dir().and_then(|path| path.canonicalize()).ok();
    let working = working.filter(|path| directory.starts_with(path) && is_root(path));
    working.unwrap_or_else(|| directory.to_path_buf())
}

impl SuiteRoots {
    /// Checks that a path is below one of the roots. A missing file is reported when it is opened, but only if it would
    /// be below a root.
    pub(crate) fn permit(&self, path: &Path) -> Result<(), OutsidePath> {
        let canonical = canonical_path(path);
        let is_permitted =
            canonical.is_some_and(|target| self.directories.iter().any(|root| is_below(root, &target)));
        let root = || self.directories.first().map(|root| path_text(root));
        is_permitted.then_some(()).ok_or_else(|| OutsidePath {
            root: root().unwrap_or_else(|| "any directory that is there".to_owned()),
        })
    }

    /// The files at a path: the file itself, or those that `list` gives of a directory.
    pub(crate) fn files(
        &self,
        path: &Path,
        list: fn(&Path) -> io::Result<Vec<PathBuf>>,
    ) -> Result<Vec<PathBuf>, OpenError> {
        self.permit(path)?;
        if !path.is_dir() {
            return Ok(vec![path.to_owned()]);
        }
        let mut files = list(path)?;
        files.retain(|file| !self.excluded.has(path, file));
        Ok(files)
    }

    /// Reads a file below one of the roots. Entries of a directory may be symbolic links to others.
    pub(crate) fn open(&self, path: &Path) -> Result<ManifestFile, OpenError> {
        self.permit(path)?;
        Ok(self.read(path)?)
    }

    /// Reads a file: its unsaved content if there is one, else from the disk.
    fn read(&self, path: &Path) -> io::Result<ManifestFile> {
        let unsaved = if self.unsaved.is_empty() {
            None
        } else {
            canonical_path(path).and_then(|path| self.unsaved.get(&path))
        };
        match unsaved {
            Some(content) => Ok(ManifestFile {
                path: path_text(path),
                content: content.clone(),
            }),
            None => files::read(path),
        }
    }
}
