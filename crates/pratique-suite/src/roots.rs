//! Which files suites may name: those below a root. A suite may come with a change that nobody has looked at yet, and what
//! it names is shown where something is wrong with it.

use std::env;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Directories below which all suites may name files, besides the root that each has.
///
/// The root of a suite is the top of the Git repository that it stands in; else the working directory, if it stands
/// below; else its own directory.
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<PathBuf>);

/// The directories below which a suite may name files, without symbolic links.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuiteRoots(Vec<PathBuf>);

/// A path leads out of the directories below which a suite may name files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not below {}, as files that a suite names have to be", .root)]
pub(crate) struct Outside {
    root: String,
}

impl Outside {
    /// How to let the suite name it.
    pub(crate) const HELP: &'static str =
        "pratique test --allow-path DIR lets suites name files below DIR, too";
}

impl Roots {
    /// Lets suites name what is below some directories.
    ///
    /// # Errors
    /// A directory is not there.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let found = directories.into_iter().map(|directory| directory.canonicalize());
        found.collect::<io::Result<_>>().map(Roots)
    }

    /// Those of the suites in a directory.
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
    // All that there is, is no root.
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
    /// Whether a path leads to what is below one of them. What is not there is told when it is opened, but only of what
    /// would be below.
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

/// Where a path that leads nowhere would lead: from the last directory on that is there, without links.
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
