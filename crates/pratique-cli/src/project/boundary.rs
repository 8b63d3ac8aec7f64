//! The directory below which the file names others, and which paths it named.
//!
//! What a path leads to is known only once it is opened: files are found by walking directories, and links lead elsewhere. So
//! a path of the file is asked about again by [`permit`](ProjectBoundary::permit) wherever something is opened.

use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use pratique_manifest::PathBoundary;
use pratique_manifest::path_text;

use crate::input::lexical_path::without_current;

/// The directory of the file, and the paths that the file named and that are used.
#[derive(Debug)]
pub(crate) struct ProjectBoundary {
    boundary: PathBoundary,
    named: Vec<PathBuf>,
}

/// A path of the file leads out of its directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not below the root of the repository, {root}, as files that a project file names have to be")]
pub(crate) struct OutsideError {
    root: String,
}

impl OutsideError {
    pub(super) fn new(boundary: &PathBoundary) -> Self {
        OutsideError {
            root: path_text(boundary.directory()),
        }
    }
}

impl ProjectBoundary {
    pub(super) fn new(boundary: PathBoundary, named: impl IntoIterator<Item = PathBuf>) -> Self {
        ProjectBoundary {
            boundary,
            named: named.into_iter().map(|path| without_current(&path)).collect(),
        }
    }

    /// Whether the file named a path, or a directory around it.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let path = without_current(path);
        let goes_down = |rest: &Path| {
            let first = rest.components().next();
            first.is_none_or(|part| matches!(part, Component::Normal(_)))
        };
        self.named
            .iter()
            .any(|named| path.strip_prefix(named).is_ok_and(goes_down))
    }

    /// Permits to open a path, unless the file named it and its links lead out of the directory.
    ///
    /// # Errors
    /// It leads out.
    pub(super) fn permit(&self, path: &Path) -> io::Result<()> {
        if self.covers(path) {
            self.permit_any(path)
        } else {
            Ok(())
        }
    }

    /// Permits to open a path that a file of the directory names.
    pub(super) fn permit_any(&self, path: &Path) -> io::Result<()> {
        if self.boundary.holds(path) {
            Ok(())
        } else {
            Err(io::Error::new(
                ErrorKind::PermissionDenied,
                OutsideError::new(&self.boundary),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_are_resolved_at_each_path() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for name in [
            "root/in/deep/file",
            "root/.git/config",
            "outside/file",
            "root/other",
        ] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
        }
        for (link, target) in [
            ("root/in/inside", "../other"),
            ("root/in/out", "../../outside/file"),
            ("root/in/deep/directory", "../../../outside"),
            ("root/in/of-git", "../.git/config"),
        ] {
            std::os::unix::fs::symlink(target, path(link)).unwrap();
        }
        let boundary = PathBoundary::new(&path("root")).unwrap();
        let boundary = ProjectBoundary::new(boundary, [path("root/in")]);
        for (name, expected) in [
            ("root/in", true),
            ("root/in/deep/file", true),
            ("root/in/./deep/../deep/file", true),
            ("root/in/inside", true),
            ("root/in/missing", true),
            ("root/in/out", false),
            ("root/in/deep/directory", false),
            ("root/in/deep/directory/file", false),
            ("root/in/of-git", false),
            // Not named by the file.
            ("outside/file", true),
            ("root/.git/config", true),
        ] {
            assert_eq!(boundary.permit(&path(name)).is_ok(), expected, "{name}");
        }
        // The whole directory does not cover what is around it.
        let whole = ProjectBoundary::new(boundary.boundary.clone(), [PathBuf::from("."), "..".into()]);
        for (name, expected) in [
            ("a", true),
            ("./a", true),
            ("/a", false),
            ("../a", true),
            ("../../a", false),
        ] {
            assert_eq!(whole.covers(Path::new(name)), expected, "{name}");
        }
        let message = boundary.permit(&path("root/in/out")).unwrap_err().to_string();
        assert!(message.ends_with("as files that a project file names have to be"));
    }
}
