//! Paths by their names alone: nothing is looked up, and links count as what they are called.

use std::path::{Component, Path, PathBuf};

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
    fn only_the_current_directory_is_left_out() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/b/../c"),
            ("/../a", "/../a"),
            ("/a/b/../../..", "/a/b/../../.."),
            ("./a", "a"),
            (".", ""),
        ] {
            assert_eq!(without_current(Path::new(path)), Path::new(expected));
        }
    }
}
