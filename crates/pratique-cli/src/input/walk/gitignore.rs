//! Which files `git` ignores.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::Gitignore;

/// The largest `.gitignore` that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The patterns of the `.gitignore` files of a directory and of those around it.
#[derive(Clone, Debug)]
pub(super) struct Ignored {
    /// Where the directory is, without links.
    directory: PathBuf,
    /// From the outermost to the innermost.
    files: Vec<Arc<Gitignore>>,
}

impl Ignored {
    /// The rules for a directory, by its own file and by those above it, up to the root of its repository.
    pub(super) fn of(directory: &Path) -> Self {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let root = directory
            .ancestors()
            .position(|ancestor| ancestor.join(".git").exists());
        let around: Vec<&Path> = directory.ancestors().take(root.unwrap_or(0) + 1).collect();
        let files = around.into_iter().rev().filter_map(read).collect();
        Ignored { directory, files }
    }

    /// The rules for a directory within that is no link.
    pub(super) fn within(&self, name: &OsStr) -> Self {
        let mut ignored = self.clone();
        ignored.directory.push(name);
        ignored.files.extend(read(&ignored.directory));
        ignored
    }

    /// Whether an entry of the directory is ignored. The last pattern that matches counts, and inner files count before
    /// outer ones.
    pub(super) fn ignores(&self, name: &OsStr, is_directory: bool) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let path = self.directory.join(name);
        let files = self.files.iter().rev();
        files
            .map(|file| file.matched(&path, is_directory))
            .find(|found| !found.is_none())
            .is_some_and(|found| found.is_ignore())
    }
}

/// The patterns of a directory's own file. Those that `git` would not understand match nothing.
fn read(directory: &Path) -> Option<Arc<Gitignore>> {
    let path = directory.join(".gitignore");
    let is_small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    is_small.then(|| Arc::new(Gitignore::new(path).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, path: &str, expected: bool) {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("/root");
        builder.add_line(None, line).unwrap();
        let ignored = Ignored {
            directory: "/root".into(),
            files: vec![Arc::new(builder.build().unwrap())],
        };
        assert_eq!(
            ignored.ignores(OsStr::new(path), false),
            expected,
            "{line} {path}"
        );
    }

    #[test]
    fn patterns_match_as_for_git() {
        check("a.yaml", "a.yaml", true);
        check("a.yaml", "x/a.yaml", true);
        check("/a.yaml", "x/a.yaml", false);
        check("x/a.yaml", "x/a.yaml", true);
        check("x/a.yaml", "y/x/a.yaml", false);
        check("*.yaml", "x/a.yaml", true);
        check("*.yaml", "x/a.json", false);
        check("a*b*c", "aXbYbZc", true);
        check("**/x/*", "a/b/x/c", true);
        check("x/**", "x/a/b", true);
        check("x/**", "x", false);
        check("x/**/y", "x/y", true);
        check("x/**/y", "x/a/b/y", true);
        check("[a-c]?", "b1", true);
        check("[!a-c]?", "b1", false);
        check("[]]", "]", true);
        check("\\*", "*", true);
        check("\\*", "a", false);
        check("build/", "build", false);
        check("# no", "# no", false);
        check("a\\ ", "a ", true);
        check("a ", "a", true);
    }
}
