//! Links of repositories, which do not lead out of them.
//!
//! A repository can come with a change of somebody else, and its links with it. That holds for those that are found where a
//! directory is walked, and for the path that a user names: `rendered` can be a directory in the target of a pull request, and a
//! link in the change.

use std::cell::RefCell;
use std::fs::DirEntry;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use pratique_manifest::{PathBoundary, path_text};

thread_local! {
    /// The directory that was permitted last: the files of one are opened one after the other.
    static LAST_DIRECTORY: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// A link leads out of the repository that it is in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a link that leads out of its repository, {top}, or to what git keeps: name what it leads to")]
struct OutsideLink {
    top: String,
}

/// Permits a path, unless a part of it is a link in a repository that leads out of it. Outside of repositories, links may lead
/// anywhere.
///
/// # Errors
/// A link leads out.
pub(crate) fn permit_links(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let directory = path.parent().unwrap_or(&path);
    let is_known = LAST_DIRECTORY.with_borrow(|last| last.as_deref() == Some(directory));
    if !is_known {
        let above: Vec<&Path> = directory.ancestors().collect();
        above.into_iter().rev().try_for_each(permit_one)?;
        LAST_DIRECTORY.set(Some(directory.to_owned()));
    }
    permit_one(&path)
}

/// Permits a path whose directory is permitted.
fn permit_one(path: &Path) -> io::Result<()> {
    // What is not there, or cannot be looked at, is told by whoever opens it.
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_symlink());
    let directory = path.parent().filter(|_| is_link);
    match directory.and_then(PathBoundary::of_repository) {
        Some(repository) if !repository.holds(path) => Err(refused(&repository)),
        _ => Ok(()),
    }
}

fn refused(repository: &PathBoundary) -> io::Error {
    let top = path_text(repository.directory());
    io::Error::new(ErrorKind::PermissionDenied, OutsideLink { top })
}

/// The links of a directory that is walked.
#[derive(Debug)]
pub(crate) struct RepositoryLinks(Option<PathBoundary>);

impl RepositoryLinks {
    /// Those below a directory.
    pub(crate) fn below(directory: &Path) -> Self {
        RepositoryLinks(PathBoundary::of_repository(directory))
    }

    /// Permits an entry of a directory, unless it is a link that leads out.
    ///
    /// # Errors
    /// It leads out.
    pub(crate) fn permit(&self, entry: &DirEntry) -> io::Result<()> {
        match &self.0 {
            Some(repository) if entry.file_type()?.is_symlink() && !repository.holds(&entry.path()) => {
                Err(refused(repository))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_of_a_repository_stay_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["change/.git", "change/real", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("outside/secret.yaml"), "").unwrap();
        let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
        link("../outside", "change/rendered");
        link("real", "change/inner");
        link(".git", "change/kept");
        link("../../outside/secret.yaml", "change/real/secret.yaml");
        link("../../outside/new.yaml", "change/real/new.yaml");
        link("change", "free");
        for (path, expected) in [
            ("change/real", true),
            ("change/inner/other.yaml", true),
            ("change/rendered", false),
            ("change/rendered/secret.yaml", false),
            ("change/real/secret.yaml", false),
            ("change/real/new.yaml", false),
            ("change/rendered/../outside", false),
            ("change/kept/config", false),
            ("free/real", true),
            ("free/rendered", false),
            ("outside/secret.yaml", true),
            ("nowhere/at/all", true),
        ] {
            assert_eq!(permit_links(&root.join(path)).is_ok(), expected, "{path}");
        }
    }
}
