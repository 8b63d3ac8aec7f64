//! The files that suites can name: those below a root. A suite may come from an unreviewed change, and errors quote the
//! files that it names.

use std::env;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Directories below which all suites can name files, besides each suite's root.
///
/// The root of a suite is the top of its Git repository; else the working directory, if the suite is below it; else the
/// suite's directory.
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<PathBuf>);

/// The directories below which a suite can name files, canonicalized.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuiteRoots(Vec<PathBuf>);

/// A path is outside of the directories below which a suite can name files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not below {}, as files that a suite names have to be", .root)]
pub(crate) struct Outside {
    root: String,
}

impl Outside {
    /// How to allow the path.
    pub(crate) const HELP: &'static str =
        "pratique test --allow-path DIR lets suites name files below DIR, too";
}

impl Roots {
    /// Allows suites to name files below some directories.
    ///
    /// # Errors
    /// A directory does not exist.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let found = directories.into_iter().map(|directory| directory.canonicalize());
        found.collect::<io::Result<_>>().map(Roots)
    }

    /// Whether a file in a directory may name a path: it has to be below the file's root, as the root of a suite.
    pub fn permit(&self, directory: &Path, path: &Path) -> bool {
        self.of(directory).permit(path).is_ok()
    }

    /// The roots of the suites in a directory.
    pub(crate) fn of(&self, directory: &Path) -> SuiteRoots {
        let local = absolute(directory)
            .canonicalize()
            .ok()
            .map(|found| root_of(&found));
        SuiteRoots(local.into_iter().chain(self.0.iter().cloned()).collect())
    }
}

/// The root of a suite in a directory.
fn root_of(directory: &Path) -> PathBuf {
    // The root directory of the file system is not a suite's root.
    let is_root = |path: &&Path| path.parent().is_some();
    let mut above = directory.ancestors().filter(is_root);
    if let Some(top) = above.find(|path| path.join(".git").exists()) {
        return top.to_path_buf();
    }
    let working = env::current_dir().and_then(|path| path.canonicalize()).ok();
    let working = working.filter(|path| directory.starts_with(path) && is_root(&path.as_path()));
    working.unwrap_or_else(|| directory.to_path_buf())
}

impl SuiteRoots {
    /// Checks that a path is below one of the roots. A missing file is reported when it is opened, but only if it would
    /// be below a root.
    pub(crate) fn permit(&self, path: &Path) -> Result<(), Outside> {
        let found = path
            .canonicalize()
            .or_else(|_| absent(path).ok_or(io::ErrorKind::NotFound));
        let is_below = found.is_ok_and(|found| self.0.iter().any(|root| found.starts_with(root)));
        let root = || self.0.first().map(|root| pratique_manifest::path_text(root));
        is_below.then_some(()).ok_or_else(|| Outside {
            root: root().unwrap_or_else(|| "any directory that is there".to_owned()),
        })
    }
}

/// The canonical form of a path that does not exist: that of its last existing ancestor, with the rest appended.
fn absent(path: &Path) -> Option<PathBuf> {
    let path = absolute(path);
    let (there, rest) = path
        .ancestors()
        .filter_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)))
        .next()?;
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    rest.components().all(is_plain).then(|| there.join(rest))
}

fn absolute(path: &Path) -> PathBuf {
    match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),
    }
}
