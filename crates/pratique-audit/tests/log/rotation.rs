//! Files that are renamed or removed while they are written.

use std::fs;
use std::time::Duration;

use pratique_audit::{Level, Log, LogOptions, Target};

use super::{DEADLINE, eventually, record, uids};

#[test]
fn a_renamed_file_is_closed_on_reopen() {
    let directory = tempfile::tempdir().unwrap();
    let (path, old) = (
        directory.path().join("audit.log"),
        directory.path().join("audit.log.1"),
    );
    fs::write(&path, "").unwrap();
    let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata)).unwrap();
    assert!(record(&log, "a"));
    eventually("a is written", || log.counts().written == 1);
    fs::rename(&path, &old).unwrap();
    log.reopen();
    eventually("there is a new file", || path.exists());
    assert!(record(&log, "b"));
    assert_eq!(log.close(DEADLINE).written, 2);
    assert_eq!(uids(&fs::read_to_string(&old).unwrap()), ["a"]);
    assert_eq!(uids(&fs::read_to_string(&path).unwrap()), ["b"]);
}

#[test]
#[cfg(unix)]
fn a_removed_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata)).unwrap();
    assert!(record(&log, "a"));
    eventually("a is written", || log.counts().written == 1);
    fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert!(record(&log, "b"));
    log.close(DEADLINE);
    assert_eq!(uids(&fs::read_to_string(&path).unwrap()), ["b"]);
}

#[test]
fn a_truncated_file_is_appended_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata)).unwrap();
    assert!(record(&log, "a"));
    eventually("a is written", || log.counts().written == 1);
    fs::write(&path, "").unwrap();
    assert!(record(&log, "b"));
    log.close(DEADLINE);
    assert_eq!(uids(&fs::read_to_string(&path).unwrap()), ["b"]);
}
