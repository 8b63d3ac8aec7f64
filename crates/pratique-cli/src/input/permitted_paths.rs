//! Opens files and directories, unless the project file named them and they lead out of its directory, a link of a repository
//! leads out of it, or an output of the command would replace them.
//!
//! All files of the user are opened here: names of files are no proof of what is behind them.

use std::fs::{self, File, ReadDir};
use std::io;
use std::path::Path;

use pratique_manifest::FileState;

use super::repository_links::RepositoryLinks;
use crate::claimed_outputs::permit_reading;
use crate::project::applied_settings::permit;

/// Permits to read a file that no output of the command replaces.
fn permit_input(path: &Path) -> io::Result<()> {
    permit(path)?;
    permit_reading(path)
}

/// Opens a file.
///
/// # Errors
/// It may not be opened, or cannot be.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    permit_input(path)?;
    File::open(path)
}

/// Opens a regular file; `None` where the path leads to something else, which is not waited for.
///
/// # Errors
/// It may not be opened, or [`open_regular`](pratique_manifest::open_regular) fails.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    permit_input(path)?;
    pratique_manifest::open_regular(path)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// It may not be opened, or [`read_regular`](pratique_manifest::read_regular) fails.
pub(crate) fn read_regular(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    permit_input(path)?;
    pratique_manifest::read_regular(path, limit)
}

/// [`read_regular`] of a file that the command may replace afterwards: what it keeps from one run to the next.
///
/// # Errors
/// Those of [`read_regular`].
pub(crate) fn read_kept(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    permit(path)?;
    pratique_manifest::read_regular(path, limit)
}

/// Reads a regular file of at most `limit` bytes, with what tells whether it is being written to.
///
/// # Errors
/// It may not be opened, or [`read_with_state`](pratique_manifest::read_with_state) fails.
pub(crate) fn read_with_state(path: impl AsRef<Path>, limit: u64) -> io::Result<(Vec<u8>, FileState)> {
    let path = path.as_ref();
    permit_input(path)?;
    pratique_manifest::read_with_state(path, limit)
}

/// Lists a directory.
///
/// # Errors
/// It may not be opened, or cannot be.
pub(crate) fn read_directory(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    permit(path)?;
    fs::read_dir(path)
}

/// Checks that a directory and what is directly in it may be opened, for those who open it elsewhere.
///
/// # Errors
/// Something in it may not be opened.
pub(crate) fn permit_directory(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    permit(path)?;
    let links = RepositoryLinks::below(path);
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.try_for_each(|entry| {
        permit(&entry.path())?;
        links.permit(&entry)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    /// The modules that open files themselves, and why what they open is not what the project file names.
    const OPENERS: &[(&str, &str)] = &[
        ("input/permitted_paths.rs", "it asks"),
        ("destination.rs", "it asks before it writes"),
        ("memory.rs", "files of the system"),
        ("serve/signals.rs", "files of the system"),
        (
            "playground/files.rs",
            "a command without a section in the project file",
        ),
        ("project.rs", "the project file itself, which asks"),
        (
            "serve/registration.rs",
            "a file that only a trusted project file names",
        ),
        ("snapshot/write.rs", "it asks before it writes"),
    ];

    /// How files are opened without asking.
    const CALLS: [&str; 8] = [
        "File::open(",
        "File::create(",
        "fs::read(",
        "fs::read_to_string(",
        "fs::read_dir(",
        "pratique_manifest::read_regular(",
        "pratique_manifest::read_with_state(",
        "pratique_manifest::open_regular(",
    ];

    fn sources(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        let below = directories.iter().flat_map(|directory| sources(directory));
        below.chain(files).collect()
    }

    #[test]
    fn nothing_else_opens_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut openers = BTreeSet::new();
        for path in sources(&root) {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("\nmod tests {").next().unwrap();
            let imports_reader = code.lines().any(|line| {
                let words = line.replace(['{', '}', ',', ';'], " ");
                line.starts_with("use pratique_manifest::")
                    && words
                        .split([' ', ':'])
                        .any(|word| ["read_regular", "read_with_state", "open_regular"].contains(&word))
            });
            if imports_reader || CALLS.iter().any(|call| code.contains(call)) {
                openers.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
        // Compiled for tests only.
        openers.retain(|path| path != "reference.rs" && !path.starts_with("reference/"));
        let expected: BTreeSet<String> = OPENERS.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(
            openers, expected,
            "files are opened with the functions of this module"
        );
    }
}
