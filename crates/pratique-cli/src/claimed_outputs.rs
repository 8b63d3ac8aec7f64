//! The files that a command writes: each by one output, and none of them is read, as it would be lost.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_s3::StoreLocation;
use same_file::Handle;

use crate::project::applied_settings;

/// Those of the command that runs. Files are opened in many places, of which none knows the outputs.
static CLAIMED: Mutex<Vec<ClaimedOutput>> = Mutex::new(Vec::new());

/// A file that an output is written to.
struct ClaimedOutput {
    path: PathBuf,
    /// Whether it was to be read: an input that cannot be read ends no command, which would replace it in the end.
    is_input: bool,
}

fn claimed() -> MutexGuard<'static, Vec<ClaimedOutput>> {
    // Nothing is left half done.
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Claims a file for one output. What is no regular file keeps what is in it, and can be claimed by any.
///
/// # Errors
/// Another output has it, or it is the project file.
pub(crate) fn claim(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(());
    }
    let mut claimed = claimed();
    let place = place_of(path);
    if claimed.iter().any(|other| place_of(&other.path) == place) {
        return Err(io::Error::other("two outputs would be written to it"));
    }
    if applied_settings::project_path().is_some_and(|project| is_same_file(path, project)) {
        return Err(replaced());
    }
    claimed.push(ClaimedOutput {
        path: path.to_owned(),
        is_input: false,
    });
    Ok(())
}

/// Whether an output will replace a file.
pub(crate) fn is_claimed(path: &Path) -> bool {
    claimed().iter().any(|output| is_same_file(&output.path, path))
}

/// Gives all files back, for the next command of this process.
pub(crate) fn release_all() {
    claimed().clear();
}

/// Permits to read a file, unless an output of the command would replace it.
///
/// # Errors
/// It is claimed.
pub(crate) fn permit_reading(path: &Path) -> io::Result<()> {
    keep_input(|output| is_same_file(output, path))
}

/// [`permit_reading`] of what standard input was redirected from.
///
/// # Errors
/// It is claimed.
pub(crate) fn permit_stdin() -> io::Result<()> {
    if claimed().is_empty() {
        return Ok(());
    }
    let input = Handle::stdin()?;
    keep_input(|output| output.is_file() && Handle::from_path(output).is_ok_and(|output| output == input))
}

/// Keeps an input from being replaced, if it is an output.
fn keep_input(is_input: impl Fn(&Path) -> bool) -> io::Result<()> {
    match claimed().iter_mut().find(|output| is_input(&output.path)) {
        Some(output) => {
            output.is_input = true;
            Err(replaced())
        }
        None => Ok(()),
    }
}

/// Permits to replace a file by an output, unless it was to be read.
///
/// # Errors
/// It was.
pub(crate) fn permit_replacing(path: &Path) -> io::Result<()> {
    let claimed = claimed();
    if claimed
        .iter()
        .any(|output| output.is_input && output.path == path)
    {
        Err(replaced())
    } else {
        Ok(())
    }
}

fn replaced() -> io::Error {
    io::Error::other("it is read, and an output of this command would replace it: write that to another file")
}

/// Where a file is, by whichever path; objects of a store are as they are named, which paths compared as such are not.
pub(crate) fn place_of(file: &Path) -> OsString {
    if file.to_str().is_some_and(StoreLocation::is_meant) {
        return file.into();
    }
    let path = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    // A link in place of the file is replaced; one on the way to it is followed.
    let directory = path
        .parent()
        .and_then(|directory| fs::canonicalize(directory).ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name).into(),
        _ => path.into(),
    }
}

/// Whether two paths lead to one regular file. Files of different sizes, which most are, are not opened.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let size = |path| {
        let metadata = fs::metadata(path).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    let sizes = size(one).zip(size(other));
    sizes.is_some_and(|(one, other)| one == other) && same_file::is_same_file(one, other).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_directories() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("a")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("a"), path("b")).unwrap();
        #[cfg(unix)]
        assert_eq!(place_of(&path("a/x")), place_of(&path("b/x")));
        assert_ne!(place_of(&path("a/x")), place_of(&path("a/y")));
        assert_ne!(place_of(&path("nowhere/x")), place_of(&path("a/x")));
    }

    #[test]
    fn one_file_has_several_paths() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for (name, text) in [("a", "one"), ("b", "two"), ("c", "other")] {
            fs::write(path(name), text).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
        assert!(is_same_file(&path("a"), &directory.path().join(".").join("a")));
        #[cfg(unix)]
        assert!(is_same_file(&path("link"), &path("a")));
        for other in ["b", "c", "nowhere", "."] {
            assert!(!is_same_file(&path("a"), &path(other)), "{other}");
        }
    }
}
