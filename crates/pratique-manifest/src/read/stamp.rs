//! How a file that was read is known to have the same content later, without opening it: by its metadata, as git knows the
//! files of its index.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use super::file::FileIdentity;

/// The metadata of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    identity: FileIdentity,
    length: u64,
    modified: Option<SystemTime>,
    /// When the content or the metadata changed last, which no program can set.
    changed: SystemTime,
}

/// How long ago a file must have changed when it is read. File systems record times in steps, of a tick of the clock or of
/// up to two seconds: a file that changes again in the same step has the same times, and may have the same length.
const MARGIN: Duration = Duration::from_secs(2);

impl FileStamp {
    /// The stamp of a file with this metadata, whose content is read after `now`. `None` if another content may have the same:
    /// the file changed a moment ago, or in the future of a clock that was wrong; its file system does not record when it
    /// changed; it has no length, as files that the system generates.
    pub(crate) fn new(metadata: &Metadata, now: SystemTime) -> Option<Self> {
        let stamp = Self::from_metadata(metadata)?;
        let age = now.duration_since(stamp.changed).ok()?;
        (age >= MARGIN).then_some(stamp)
    }

    fn from_metadata(metadata: &Metadata) -> Option<Self> {
        let changed = change_time(metadata)?;
        (metadata.is_file() && metadata.len() > 0).then(|| FileStamp {
            identity: FileIdentity::new(metadata),
            length: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
        })
    }

    /// Whether a file that has this metadata now is the same, with the same content.
    pub(crate) fn is_of(&self, metadata: &Metadata) -> bool {
        Self::from_metadata(metadata).as_ref() == Some(self)
    }
}

/// When a file changed; `None` where that is not recorded.
#[cfg(unix)]
fn change_time(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    let since_epoch = Duration::new(seconds, nanos);
    let changed = SystemTime::UNIX_EPOCH.checked_add(since_epoch)?;
    (!since_epoch.is_zero()).then_some(changed)
}

#[cfg(not(unix))]
fn change_time(_: &Metadata) -> Option<SystemTime> {
    None
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::{Path, PathBuf};
    use std::thread::sleep;

    use super::*;

    /// More than the steps in which file systems of today record times.
    const TICK: Duration = Duration::from_millis(20);
    const LATER: Duration = Duration::from_secs(3600);

    fn file() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "first").unwrap();
        (directory, path)
    }

    #[test]
    fn what_changed_a_moment_ago_is_not_known() {
        let (_directory, path) = file();
        let metadata = fs::metadata(&path).unwrap();
        let changed = FileStamp::from_metadata(&metadata).unwrap().changed;
        let since_epoch = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since_epoch.as_secs(), metadata.ctime().unsigned_abs());
        let check = |now, expected| assert_eq!(FileStamp::new(&metadata, now).is_some(), expected);
        check(changed - Duration::from_nanos(1), false);
        check(changed, false);
        check(changed + MARGIN - Duration::from_nanos(1), false);
        check(changed + MARGIN, true);
        check(changed + LATER, true);
    }

    #[test]
    fn only_files_with_a_length_are_known() {
        let (directory, path) = file();
        fs::write(directory.path().join("empty"), "").unwrap();
        symlink("file", directory.path().join("link")).unwrap();
        let later = SystemTime::now() + LATER;
        for (name, expected) in [("file", true), ("empty", false), ("link", false), ("", false)] {
            let metadata = fs::symlink_metadata(directory.path().join(name)).unwrap();
            assert_eq!(FileStamp::new(&metadata, later).is_some(), expected, "{name}");
        }
        drop(path);
    }

    /// Whether a file is still known after this was done to it.
    fn is_known_after(change: impl Fn(&Path)) -> bool {
        let (_directory, path) = file();
        let metadata = |path: &Path| fs::symlink_metadata(path).unwrap();
        let stamp = FileStamp::new(&metadata(&path), SystemTime::now() + LATER).unwrap();
        sleep(TICK);
        change(&path);
        stamp.is_of(&metadata(&path))
    }

    #[test]
    fn changes_show() {
        assert!(is_known_after(|path| drop(fs::read(path).unwrap())));
        // At the same length, with the time of before.
        assert!(!is_known_after(|path| {
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            let mut file = File::options().write(true).open(path).unwrap();
            file.write_all(b"other").unwrap();
            file.set_modified(modified).unwrap();
        }));
        assert!(!is_known_after(|path| {
            let other = path.with_extension("new");
            fs::write(&other, "first").unwrap();
            fs::rename(other, path).unwrap();
        }));
        assert!(!is_known_after(|path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }));
        assert!(!is_known_after(|path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            symlink(path.with_extension("old"), path).unwrap();
        }));
    }
}
