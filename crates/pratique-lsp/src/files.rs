//! The files of directories, read again once they have changed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pratique_manifest::{is_manifest, read_regular};

/// Files of a directory that are looked at, at most.
const MOST_FILES: usize = 1_000;
/// The size of a file that is looked at, at most, in bytes.
pub(crate) const LARGEST: u64 = 4 << 20;
/// Times of files are as coarse as this, on any file system: a file that is younger may change without another time.
const COARSEST_TIME: Duration = Duration::from_secs(2);

/// A cache of files, which are read again once they change.
#[derive(Debug, Default)]
pub(crate) struct FileCache {
    read: HashMap<PathBuf, ReadFile>,
}

#[derive(Debug)]
struct ReadFile {
    stamp: FileStamp,
    content: Arc<[u8]>,
}

/// What changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    modified: SystemTime,
    length: u64,
}

impl FileCache {
    /// The content of a regular file, if it can be read.
    pub(crate) fn content(&mut self, path: &Path) -> Option<Arc<[u8]>> {
        let Some(stamp) = stamp(path) else {
            self.read.remove(path);
            return None;
        };
        if let Some(known) = self.read.get(path).filter(|known| known.stamp == stamp) {
            return Some(known.content.clone());
        }
        // A time in the future proves nothing.
        let is_settled = SystemTime::now()
            .duration_since(stamp.modified)
            .is_ok_and(|age| age > COARSEST_TIME);
        let content: Arc<[u8]> = read_regular(path, LARGEST).ok()?.into();
        if is_settled {
            let content = content.clone();
            self.read.insert(path.to_owned(), ReadFile { stamp, content });
        } else {
            self.read.remove(path);
        }
        Some(content)
    }

    /// Reads a file again, whatever its time says.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.read.remove(path);
    }

    /// Drops the files of other directories.
    pub(crate) fn retain(&mut self, is_open: impl Fn(&Path) -> bool) {
        self.read.retain(|path, _| path.parent().is_some_and(&is_open));
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(FileStamp {
        modified: metadata.modified().ok()?,
        length: metadata.len(),
    })
}

/// The manifests of a directory, by name.
pub(crate) fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_manifest(path))
        .collect();
    paths.sort_unstable();
    paths.truncate(MOST_FILES);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn written(path: &Path, text: &str, modified: SystemTime) {
        fs::write(path, text).unwrap();
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(modified)
            .unwrap();
    }

    /// As `pratique check DIRECTORY` takes them: an extension may be in upper case.
    #[test]
    fn manifests_are_listed_by_their_names() {
        let directory = std::env::temp_dir().join(format!("pratique-lsp-names-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for name in ["b.YAML", "a.json", "c.yml", "d.txt", "yaml"] {
            fs::write(directory.join(name), "").unwrap();
        }
        let names = ["a.json", "b.YAML", "c.yml"].map(|name| directory.join(name));
        assert_eq!(listed(&directory), names);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn files_are_read_again_once_they_change() {
        let directory = std::env::temp_dir().join(format!("pratique-lsp-files-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("a.yaml");
        let mut files = FileCache::default();
        let read = |files: &mut FileCache| String::from_utf8(files.content(&path)?.to_vec()).ok();
        let old = SystemTime::now() - Duration::from_secs(100);
        written(&path, "one", old);
        assert_eq!(read(&mut files).as_deref(), Some("one"));
        // Neither time nor length show this change: the file is not read until it is known to have changed.
        written(&path, "two", old);
        assert_eq!(read(&mut files).as_deref(), Some("one"));
        files.forget(&path);
        assert_eq!(read(&mut files).as_deref(), Some("two"));
        written(&path, "three", old);
        assert_eq!(read(&mut files).as_deref(), Some("three"));
        written(&path, "seven", old + Duration::from_secs(1));
        assert_eq!(read(&mut files).as_deref(), Some("seven"));
        // A file with a time in the future is read each time.
        let future = SystemTime::now() + Duration::from_secs(100);
        written(&path, "eight", future);
        assert_eq!(read(&mut files).as_deref(), Some("eight"));
        written(&path, "ninth", future);
        assert_eq!(read(&mut files).as_deref(), Some("ninth"));
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&mut files), None);
        fs::remove_dir_all(&directory).unwrap();
    }
}
