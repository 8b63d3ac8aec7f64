//! Walks directories for files.

mod gitignore;

use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::path::{Component, Path, PathBuf};

use pratique_manifest::path_text;
use pratique_review::may_have_object;

use super::passed_over::PassReason;
use super::permitted_paths::read_kept;
use super::read_directory;
use super::selection::FileSelection;
use crate::claimed_outputs::is_claimed;
use crate::exit::CliError;
use gitignore::IgnoredPatterns;

/// How deep directories may nest.
const MAX_DEPTH: usize = 100;

/// What is read of a directory.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(super) struct WalkRules {
    /// Extensions of files that are read.
    extensions: &'static [&'static str],
    /// Whether `.gz` may follow these.
    may_be_compressed: bool,
    /// Which files are read whose name begins with a dot or that are in such a directory, and whether these are entered.
    hidden: HiddenFiles,
    enters_hidden_directories: bool,
    /// Whether `.gitignore` files count.
    is_as_git: bool,
    /// Whether pipes and the like are given as files, which is an error when they are read.
    gives_special_files: bool,
}

/// Which files are read whose name begins with a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HiddenFiles {
    All,
    /// Those that `kubectl apply -R -f DIRECTORY` sends: manifests with an object, also in directories whose name begins with a dot.
    /// Repositories have the configurations of tools in others.
    // Upstream: cli-runtime/pkg/resource/visitor.go, ExpandPathsToFileVisitors
    Objects,
}

/// Objects.
pub(super) const OBJECTS: WalkRules = WalkRules {
    extensions: &["yaml", "yml", "json", "ndjson", "jsonl"],
    may_be_compressed: true,
    hidden: HiddenFiles::Objects,
    enters_hidden_directories: true,
    is_as_git: true,
    gives_special_files: false,
};

/// The same with audit logs, which API servers rotate to `audit-TIME.log` beside `audit.log`: in the order of these names, that of
/// their events.
pub(super) const LOGS: WalkRules = WalkRules {
    extensions: &["log", "yaml", "yml", "json", "ndjson", "jsonl"],
    enters_hidden_directories: false,
    is_as_git: false,
    ..OBJECTS
};

/// Policies.
pub(super) const POLICIES: WalkRules = WalkRules {
    extensions: MANIFESTS,
    may_be_compressed: false,
    hidden: HiddenFiles::All,
    enters_hidden_directories: false,
    is_as_git: false,
    gives_special_files: true,
};

/// Suites of tests.
pub(super) const SUITES: WalkRules = WalkRules {
    enters_hidden_directories: true,
    gives_special_files: false,
    ..POLICIES
};

const MANIFESTS: &[&str] = &["yaml", "yml", "json"];

/// What a repository has for itself, a directory or a file that names one: it is not counted.
const GIT: &str = ".git";

impl WalkRules {
    /// Why a file is passed over by its path below a directory, if it is.
    pub(super) fn reason_of_name(&self, below: &Path) -> Option<PassReason> {
        let mut directories = below.parent().into_iter().flat_map(Path::components);
        let is_in_hidden = directories.any(|part| is_hidden(Path::new(&part)));
        if is_in_hidden && !self.enters_hidden_directories {
            return Some(PassReason::Hidden);
        }
        self.reason_of_file(below, is_in_hidden)
    }

    fn reason_of_file(&self, path: &Path, is_in_hidden: bool) -> Option<PassReason> {
        if !self.has_extension(path) {
            Some(PassReason::Extension)
        } else if (is_in_hidden || is_hidden(path))
            && self.hidden == HiddenFiles::Objects
            && !is_manifest(path)
        {
            Some(PassReason::Hidden)
        } else {
            None
        }
    }

    /// Whether a file that its name does not pass over is hidden, and has no object.
    fn is_without_object(&self, path: &Path, is_in_hidden: bool) -> bool {
        let is_hidden = is_in_hidden || is_hidden(path);
        self.hidden == HiddenFiles::Objects && is_hidden && !may_hold_object(path, LARGEST_HIDDEN)
    }

    fn has_extension(&self, path: &Path) -> bool {
        let is_known = |path: &Path| {
            let extension = extension(path);
            self.extensions.iter().any(|known| extension == *known)
        };
        if self.may_be_compressed && extension(path) == "gz" {
            path.file_stem().is_some_and(|stem| is_known(Path::new(stem)))
        } else {
            is_known(path)
        }
    }
}

/// The extension of a file. As for clients and servers, which are written in Go, `.yaml` is one by itself.
fn extension(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let whole = || {
        MANIFESTS
            .iter()
            .find(|known| name == format!(".{known}").as_str())
    };
    match path.extension() {
        Some(extension) => extension.to_ascii_lowercase(),
        None => whole().copied().unwrap_or_default().into(),
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = extension(path);
    MANIFESTS.iter().any(|known| extension == *known)
}

/// The largest hidden file that is looked into, in bytes.
const LARGEST_HIDDEN: u64 = 256 << 10;

/// The largest report of an earlier run that is looked into, in bytes.
const LARGEST_REPORT: u64 = 64 << 20;

/// Whether a file may have an object; one that cannot be read is reported when it is.
fn may_hold_object(path: &Path, largest: u64) -> bool {
    match read_kept(path, largest) {
        Ok(content) => may_have_object(path, &content),
        Err(_) => true,
    }
}

/// Whether a file is hidden, or in a directory that is.
pub(crate) fn has_hidden_part(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b".")))
}

/// Whether a file or directory is hidden: its name begins with a dot.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The files of a directory and of those in it, in the order of their names; what is passed over is counted.
pub(super) fn files(
    directory: &Path,
    rules: &WalkRules,
    selection: &FileSelection,
) -> Result<Vec<PathBuf>, CliError> {
    let mut walk = DirectoryWalk {
        rules,
        selection,
        files: Vec::new(),
        is_in_hidden: false,
    };
    let ignored = rules.is_as_git.then(|| IgnoredPatterns::new(directory));
    walk.directory(directory, ignored.as_ref(), 0)?;
    Ok(walk.files)
}

/// A walk so far.
struct DirectoryWalk<'a> {
    rules: &'a WalkRules,
    selection: &'a FileSelection,
    files: Vec<PathBuf>,
    /// Whether it is in a directory whose name begins with a dot.
    is_in_hidden: bool,
}

impl DirectoryWalk<'_> {
    /// Recursion is bounded by the depth.
    fn directory(
        &mut self,
        directory: &Path,
        ignored: Option<&IgnoredPatterns>,
        depth: usize,
    ) -> Result<(), CliError> {
        let unreadable = |error| CliError::unread(directory, error);
        if depth > MAX_DEPTH {
            return Err(CliError::TooDeep {
                path: path_text(directory),
            });
        }
        let mut entries = read_directory(directory)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(unreadable)?;
        entries.sort_unstable_by_key(DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let is_directory = entry.file_type().map_err(unreadable)?.is_dir();
            if entry.file_name() == GIT {
                continue;
            }
            if let Some(reason) = self.reason(&entry, &path, is_directory, ignored) {
                self.selection.pass(&path, reason, is_directory);
            } else if is_directory {
                let ignored = ignored.map(|ignored| ignored.within(&entry.file_name()));
                let is_in_hidden = self.is_in_hidden;
                self.is_in_hidden |= is_hidden(&path);
                self.directory(&path, ignored.as_ref(), depth + 1)?;
                self.is_in_hidden = is_in_hidden;
            } else {
                // A link that leads nowhere, or out of its repository, is reported when it is read.
                if self.rules.is_without_object(&path, self.is_in_hidden) {
                    self.selection.pass(&path, PassReason::Hidden, false);
                } else if is_claimed(&path) && !may_hold_object(&path, LARGEST_REPORT) {
                    self.selection.pass(&path, PassReason::Output, false);
                } else {
                    self.files.push(path);
                }
            }
        }
        Ok(())
    }

    /// Why an entry is passed over, if it is. The cheapest test comes first.
    fn reason(
        &self,
        entry: &DirEntry,
        path: &Path,
        is_directory: bool,
        ignored: Option<&IgnoredPatterns>,
    ) -> Option<PassReason> {
        let of_name = if !is_directory {
            self.rules.reason_of_file(path, self.is_in_hidden)
        } else if is_hidden(path) && !self.rules.enters_hidden_directories {
            Some(PassReason::Hidden)
        } else {
            None
        };
        if self.selection.excludes(path, is_directory) {
            return Some(PassReason::Excluded);
        }
        if is_directory_link(entry) {
            return Some(PassReason::Link);
        }
        if of_name.is_some() {
            return of_name;
        }
        if ignored.is_some_and(|ignored| ignored.ignores(&entry.file_name(), is_directory)) {
            return Some(PassReason::Ignored);
        }
        if is_directory {
            return None;
        }
        match fs::metadata(path) {
            // A link that leads nowhere is reported when it is read.
            Err(_) => None,
            Ok(metadata) if metadata.is_file() => None,
            Ok(_) => (!self.rules.gives_special_files).then_some(PassReason::Special),
        }
    }
}

/// Whether an entry is a link to a directory, whatever its name.
fn is_directory_link(entry: &DirEntry) -> bool {
    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
    is_link && entry.path().is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_walked_as_git_does() {
        let root = std::env::temp_dir().join(format!("pratique-walk-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".git/HEAD", "ref: refs/heads/main\n");
        write(".git/objects/info/x", "");
        write(".git/refs/heads/x", "");
        write(".gitignore", "build/\n/top.yaml\n*.gen.yaml\n!keep.gen.yaml\n");
        write("in/.gitignore", "secret*\n");
        for path in [
            "in/a.yaml",
            "in/b.json.gz",
            "in/c.txt",
            "in/build/d.yaml",
            "in/deep/er/e.ndjson",
            "in/deep/secret.yaml",
            "in/f.gen.yaml",
            "in/keep.gen.yaml",
            "in/.hidden/g.yaml",
            "in/top.yaml",
            "in/z.gz",
        ] {
            write(path, "");
        }
        const OBJECT: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n";
        write("in/.evil.yaml", OBJECT);
        write("in/deep/.yaml", OBJECT);
        write("in/.evil.yaml.gz", OBJECT);
        write("in/.hidden/.evil.yaml", OBJECT);
        write("in/.linter.yaml", "rules: []\n");
        let selection =
            FileSelection::new(&["deep/er/".parse().unwrap(), "*.json.gz".parse().unwrap()]).unwrap();
        let walked = |selection: &FileSelection| {
            let files = selection.files(&root.join("in")).unwrap();
            let below = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            files.iter().map(below).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            walked(&FileSelection::default()),
            "in/.evil.yaml in/.hidden/.evil.yaml in/a.yaml in/b.json.gz in/deep/.yaml in/deep/er/e.ndjson in/keep.gen.yaml in/top.yaml"
        );
        // A path is from the working directory, a name is not.
        assert_eq!(
            walked(&selection),
            "in/.evil.yaml in/.hidden/.evil.yaml in/a.yaml in/deep/.yaml in/deep/er/e.ndjson in/keep.gen.yaml in/top.yaml"
        );
        assert_eq!(
            selection.passed_over().line().unwrap(),
            "passed over: 3 hidden, 3 ignored by git, 3 of other extensions, 1 excluded; nothing by --exclude deep/er/"
        );
        fs::remove_dir_all(root).unwrap();
    }
}
