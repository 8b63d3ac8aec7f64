//! Paths by their names alone: nothing is looked up, and links count as what they are called.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// A path without its `.`: `./a` and `a` are the same, and so are `.` and the empty path. What `..` leads to, links decide.
pub(crate) fn without_current(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_by_their_names() {
        for (path, expected, current) in [
            ("/a/./b/../c", "/a/c", "/a/b/../c"),
            ("/../a", "/a", "/../a"),
            ("/a/b/../../..", "/", "/a/b/../../.."),
            ("./a", "a", "a"),
            (".", "", ""),
        ] {
            let path = Path::new(path);
            assert_eq!(without_dots(path), Path::new(expected));
            assert_eq!(without_current(path), Path::new(current));
        }
    }
}
