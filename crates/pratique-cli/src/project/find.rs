//! Finds the file: upward from the working directory to the top of its repository.

use std::path::{Path, PathBuf};

use super::FILE;

/// The directories in which the file may be, the nearest first, relative to the working directory.
pub(super) fn places() -> Vec<PathBuf> {
    let Ok(working) = std::env::current_dir() else {
        return Vec::new();
    };
    let upward = |count| std::iter::repeat_n("..", count).collect();
    (0..directories(&working).len()).map(upward).collect()
}

/// The directory of the file, relative to the working directory.
pub(super) fn find() -> Option<PathBuf> {
    places()
        .into_iter()
        .find(|directory| directory.join(FILE).is_file())
}

/// The directories from one upward to the top of its repository; outside of a repository only itself.
fn directories(working: &Path) -> Vec<PathBuf> {
    let top = working
        .ancestors()
        .position(|directory| directory.join(".git").exists());
    let count = top.map_or(1, |top| top + 1);
    working.ancestors().take(count).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_end_the_search() {
        let top = std::env::temp_dir().join(format!("pratique-find-{}", std::process::id()));
        let inner = top.join("repository/below");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(directories(&inner), std::slice::from_ref(&inner));
        std::fs::create_dir_all(top.join("repository/.git")).unwrap();
        assert_eq!(directories(&inner), [inner.clone(), top.join("repository")]);
        std::fs::remove_dir_all(&top).unwrap();
    }
}
