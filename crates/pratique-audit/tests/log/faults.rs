//! What cannot be written: full disks, pipes without a reader, directories that are gone.

use std::fs;
use std::time::Instant;

use pratique_audit::{Counts, Level, Log, LogOptions, Target};

use super::{DEADLINE, eventually, record, uids};

fn options(path: impl Into<std::path::PathBuf>) -> LogOptions {
    LogOptions {
        events: 50,
        ..LogOptions::new(Target::File(path.into()), Level::Metadata)
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_holds_nobody_up() {
    let log = Log::start(options("/dev/full")).unwrap();
    let start = Instant::now();
    let taken = (0..10_000).filter(|uid| record(&log, &uid.to_string())).count();
    assert!(start.elapsed() < DEADLINE, "{:?}", start.elapsed());
    assert!((50..1000).contains(&taken), "{taken}");
    eventually("writing was tried again", || log.counts().failures >= 3);
    let start = Instant::now();
    let counts = log.close(10 * DEADLINE);
    assert!(start.elapsed() < DEADLINE, "it does not wait for all of its time");
    assert_eq!((counts.written, counts.dropped), (0, 10_000));
}

#[test]
#[cfg(target_os = "linux")]
fn what_waited_is_written_when_the_disk_has_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let log = Log::start(options(&path)).unwrap();
    for uid in 0..40 {
        assert!(record(&log, &uid.to_string()));
    }
    eventually("writing failed", || log.counts().failures > 0);
    fs::remove_file(&path).unwrap();
    eventually("writing succeeded", || log.counts().written == 40);
    let expected: Vec<String> = (0..40).map(|uid: i32| uid.to_string()).collect();
    assert_eq!(uids(&fs::read_to_string(&path).unwrap()), expected);
    assert_eq!(log.close(DEADLINE).dropped, 0);
}

#[test]
fn a_directory_that_is_removed_and_restored_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("logs");
    fs::create_dir(&inner).unwrap();
    let log = Log::start(options(inner.join("audit.log"))).unwrap();
    fs::remove_dir_all(&inner).unwrap();
    log.reopen();
    assert!(record(&log, "a"));
    eventually("opening failed", || log.counts().failures > 0);
    fs::create_dir(&inner).unwrap();
    eventually("writing succeeded", || log.counts().written == 1);
    assert_eq!(uids(&fs::read_to_string(inner.join("audit.log")).unwrap()), ["a"]);
}

#[test]
fn large_events_are_bounded_by_size() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::start(LogOptions {
        bytes: 1000,
        ..options(directory.path().join("audit.log"))
    })
    .unwrap();
    assert!(!record(&log, &"x".repeat(1000)));
    assert!(record(&log, "small"));
    let counts = log.close(DEADLINE);
    assert_eq!(
        counts,
        Counts {
            written: 1,
            dropped: 1,
            failures: 0
        }
    );
    assert!(!record(&log, "late"));
}

#[test]
fn what_cannot_be_opened_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none").join("audit.log");
    let error = Log::start(options(&path)).expect_err("it cannot be opened");
    let expected = format!("cannot open the audit log {}: ", path.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn many_threads_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let log = &log;
            scope.spawn(move || (0..1000).for_each(|uid| assert!(record(log, &format!("{thread}-{uid}")))));
        }
    });
    assert_eq!(log.close(DEADLINE).written, 4000);
    let mut found = uids(&fs::read_to_string(&path).unwrap());
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 4000);
}

#[test]
fn clones_are_one_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let log = Log::start(options(&path)).unwrap();
    drop(log.clone());
    assert!(record(&log, "a"), "it is open as long as there is one");
    let last = log.clone();
    drop(log);
    assert!(record(&last, "b"));
    drop(last);
    assert_eq!(uids(&fs::read_to_string(&path).unwrap()), ["a", "b"]);
}
