//! A directory that untrusted files may not lead out of.

use std::io;
use std::path::{Component, Path, PathBuf};

/// A directory below which an untrusted file names others. Links are resolved first, so that none leads out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathBoundary {
    directory: PathBuf,
}

impl PathBoundary {
    /// The boundary around a directory.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn new(directory: &Path) -> io::Result<Self> {
        let directory = absolute_path(directory).canonicalize()?;
        Ok(PathBoundary { directory })
    }

    /// The boundary around the repository that a directory is in; `None` if it is in none.
    pub fn of_repository(directory: &Path) -> Option<Self> {
        let directory = absolute_path(directory).canonicalize().ok()?;
        let directory = repository_top(&directory)?.to_path_buf();
        Some(PathBoundary { directory })
    }

    /// The directory, canonicalized.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether a path leads below the directory, whether there is something or not.
    pub fn holds(&self, path: &Path) -> bool {
        canonical_path(path).is_some_and(|path| is_below(&self.directory, &path))
    }
}

/// Whether a canonicalized path is below a directory, but not among what git keeps there: `.git/config` can hold the
/// credentials of a checkout, and nothing in `.git` is part of a change.
pub fn is_below(directory: &Path, path: &Path) -> bool {
    let is_of_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    path.strip_prefix(directory)
        .is_ok_and(|below| !below.components().any(is_of_git))
}

/// The top of the repository around a canonicalized directory. The root directory of the file system is none.
pub fn repository_top(directory: &Path) -> Option<&Path> {
    let mut above = directory.ancestors().filter(|path| path.parent().is_some());
    above.find(|path| path.join(".git").exists())
}

/// The canonical form of a path, whether there is a file or not.
pub fn canonical_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| resolve_absent(&absolute_path(path), MOST_LINKS))
}

/// As many links as Linux follows in a path.
const MOST_LINKS: u8 = 40;

/// The canonical form of a path that does not exist: that of its last existing ancestor, with the rest appended. Where the rest
/// begins with a link to what is not there, it is what a file would be written through, and so it is followed.
fn resolve_absent(path: &Path, links: u8) -> Option<PathBuf> {
    let (there, rest) = path
        .ancestors()
        .filter_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)))
        .next()?;
    let mut parts = rest.components();
    let next = there.join(parts.next()?);
    if let Ok(target) = next.read_link() {
        return resolve_link(&there.join(target).join(parts), links);
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    rest.components().all(is_plain).then(|| there.join(rest))
}

/// The canonical form of where a link leads.
fn resolve_link(path: &Path, links: u8) -> Option<PathBuf> {
    let links = links.checked_sub(1)?;
    path.canonicalize().ok().or_else(|| resolve_absent(path, links))
}

/// The absolute form of a path; the empty one is the working directory.
pub fn absolute_path(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_to_what_is_not_there_lead_where_it_would_be() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["change/.git", "change/real", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for (target, name) in [
            ("../outside/new", "out"),
            ("../nowhere", "nowhere"),
            ("out", "twice"),
            ("real/new", "inside"),
            ("circle", "circle"),
        ] {
            symlink(target, root.join("change").join(name)).unwrap();
        }
        let boundary = PathBoundary::of_repository(&root.join("change")).unwrap();
        for (path, expected) in [
            ("new", true),
            ("real/new/deep", true),
            ("inside", true),
            ("out", false),
            ("twice", false),
            ("nowhere/new", false),
            ("circle", false),
        ] {
            assert_eq!(
                boundary.holds(&root.join("change").join(path)),
                expected,
                "{path}"
            );
        }
    }
}
