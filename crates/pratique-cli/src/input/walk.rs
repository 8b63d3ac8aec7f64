//! The files of a path.

mod gitignore;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{RepositoryLinks, read_directory};
use crate::exit::CliError;
use gitignore::Ignored;

/// Extensions of files with objects; each may be followed by `.gz`.
const EXTENSIONS: &[&str] = &["yaml", "yml", "json", "ndjson", "jsonl"];

/// The same with that of audit logs, which API servers rotate to `audit-TIME.log` beside `audit.log`: in the order of these names,
/// that of their events.
const WITH_LOGS: &[&str] = &["log", "yaml", "yml", "json", "ndjson", "jsonl"];

/// How deep directories may nest.
const MAX_DEPTH: usize = 100;

/// The files of a path: those of a directory and of the directories in it, in the order of their names, or the path itself.
/// As for `git`, what a `.gitignore` names is left out; so are hidden files. Links to directories are not followed.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let links = RepositoryLinks::below(path);
    walk(path, EXTENSIONS, Some(&Ignored::of(path)), &links, 0, &mut files)?;
    Ok(files)
}

/// The files of a path that has audit logs. Nothing is left out because of a `.gitignore`, which logs often stand in.
pub(crate) fn log_files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let links = RepositoryLinks::below(path);
    walk(path, WITH_LOGS, None, &links, 0, &mut files)?;
    Ok(files)
}

/// Recursion is bounded by the depth.
fn walk(
    directory: &Path,
    extensions: &[&str],
    ignored: Option<&Ignored>,
    links: &RepositoryLinks,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), CliError> {
    let unreadable = |error| CliError::unread(directory, error);
    let mut entries = read_directory(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable)?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_directory = entry.file_type().map_err(unreadable)?.is_dir();
        // The cheapest test comes first.
        let is_candidate = !is_hidden(&path) && (is_directory || has_extension(&path, extensions));
        let is_ignored = |ignored: &Ignored| ignored.ignores(&entry.file_name(), is_directory);
        if !is_candidate || ignored.is_some_and(is_ignored) {
            continue;
        }
        if is_directory {
            if depth >= MAX_DEPTH {
                return Err(unreadable(std::io::Error::other(
                    "directories are nested too deep",
                )));
            }
            let ignored = ignored.map(|ignored| ignored.within(&entry.file_name()));
            walk(&path, extensions, ignored.as_ref(), links, depth + 1, files)?;
            continue;
        }
        links
            .permit(&entry)
            .map_err(|error| CliError::unread(&path, error))?;
        // A dangling link is reported when it is read.
        let may_be_file = || fs::metadata(&path).map_or(true, |found| found.is_file());
        if may_be_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file or directory is hidden: its name begins with a dot.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Whether a file below a directory is one that a walk finds, by its name.
pub(crate) fn is_walked(below: &Path) -> bool {
    has_extension(below, EXTENSIONS) && !below.components().any(|part| is_hidden(Path::new(&part)))
}

/// Whether a file has one of some extensions, or one of them and `.gz`.
fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = |path: &Path| {
        path.extension()
            .map(OsStr::to_ascii_lowercase)
            .unwrap_or_default()
    };
    let is_known = |path: &Path| {
        let extension = extension(path);
        extensions.iter().any(|known| extension == *known)
    };
    match extension(path) == "gz" {
        true => path.file_stem().is_some_and(|stem| is_known(Path::new(stem))),
        false => is_known(path),
    }
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
        write(".git/HEAD", "");
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
        let found = files(&root.join("in")).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap())
            .collect();
        let expected = "in/a.yaml in/b.json.gz in/deep/er/e.ndjson in/keep.gen.yaml in/top.yaml";
        assert_eq!(found.join(" "), expected);
        fs::remove_dir_all(root).unwrap();
    }
}
