//! Which files `git` ignores.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::gitignore::Gitignore;

use crate::input::git::repository::{GitRepository, top_around};
use crate::input::git::tracked_files::TrackedFiles;
use crate::output;
use crate::output::text::text;

/// The largest `.gitignore` that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The patterns of the `.gitignore` files of a directory and of those around it, as far as git does not track what they match:
/// whoever adds a `.gitignore` takes nothing away that is there for all.
#[derive(Clone, Debug)]
pub(super) struct IgnoredPatterns {
    /// Where the directory is, without links.
    directory: PathBuf,
    /// From the outermost to the innermost.
    files: Vec<Arc<Gitignore>>,
    /// Whether the directory is ignored itself, and with it all in it. It is entered for what is tracked there.
    is_ignored: bool,
    /// The files that are tracked below the directory where the walk begins.
    index: Option<Arc<RepositoryIndex>>,
}

/// The files that a repository tracks below a directory, read when it is first asked for.
#[derive(Debug)]
struct RepositoryIndex {
    top: PathBuf,
    /// The directory from the top.
    below: PathBuf,
    tracked: OnceLock<TrackedFiles>,
}

impl IgnoredPatterns {
    /// The rules for a directory, by its own file and by those above it, up to the root of its repository.
    pub(super) fn new(directory: &Path) -> Self {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let top = top_around(&directory);
        let root = top.and_then(|top| directory.ancestors().position(|ancestor| ancestor == top));
        let around: Vec<&Path> = directory.ancestors().take(root.unwrap_or(0) + 1).collect();
        let files = around.into_iter().rev().filter_map(read).collect();
        let index = top.map(|top| {
            Arc::new(RepositoryIndex {
                top: top.to_owned(),
                below: directory.strip_prefix(top).unwrap_or(&directory).to_owned(),
                tracked: OnceLock::new(),
            })
        });
        IgnoredPatterns {
            directory,
            files,
            is_ignored: false,
            index,
        }
    }

    /// The rules for a directory within that is no link.
    pub(super) fn within(&self, name: &OsStr) -> Self {
        let mut ignored = self.clone();
        ignored.is_ignored = self.matches(name, true);
        ignored.directory.push(name);
        ignored.files.extend(read(&ignored.directory));
        ignored
    }

    /// Whether an entry of the directory is ignored, and neither it nor a file in it is tracked.
    pub(super) fn ignores(&self, name: &OsStr, is_directory: bool) -> bool {
        self.matches(name, is_directory)
            && !self
                .index
                .as_ref()
                .is_some_and(|index| index.has(&self.directory.join(name)))
    }

    /// Whether an entry is matched. The last pattern that matches counts, and inner files count before outer ones.
    fn matches(&self, name: &OsStr, is_directory: bool) -> bool {
        if self.is_ignored || self.files.is_empty() {
            return self.is_ignored;
        }
        let path = self.directory.join(name);
        let files = self.files.iter().rev();
        files
            .map(|file| file.matched(&path, is_directory))
            .find(|pattern_match| !pattern_match.is_none())
            .is_some_and(|pattern_match| pattern_match.is_ignore())
    }
}

impl RepositoryIndex {
    /// Whether a path without links is tracked, or one below it.
    fn has(&self, path: &Path) -> bool {
        let tracked = self.tracked.get_or_init(|| {
            let repository = GitRepository::at(self.top.clone());
            let tracked = repository.and_then(|repository| TrackedFiles::below(&repository, &self.below));
            tracked.unwrap_or_else(|error| {
                output::eprint(&output::warning(&text!(
                    "{}: which files are tracked is not known, so what a .gitignore names is passed over",
                    error.to_string()
                )));
                TrackedFiles::default()
            })
        });
        path.strip_prefix(&self.top).is_ok_and(|path| tracked.has(path))
    }
}

/// The patterns of a directory's own file. Those that `git` would not understand match nothing.
fn read(directory: &Path) -> Option<Arc<Gitignore>> {
    let path = directory.join(".gitignore");
    let is_small = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST);
    is_small.then(|| Arc::new(Gitignore::new(path).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, path: &str, expected: bool) {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("/root");
        builder.add_line(None, line).unwrap();
        let ignored = IgnoredPatterns {
            directory: "/root".into(),
            files: vec![Arc::new(builder.build().unwrap())],
            is_ignored: false,
            index: None,
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
