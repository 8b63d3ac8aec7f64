//! Runs suites again on changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use pratique_manifest::is_manifest;

use super::report::report;
use super::run::once;
use crate::arguments::TestArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::text::text;
use crate::test::test_error::TestError;

/// The quiet period before the suites run again: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Runs the suites, and again on every change, until the command is interrupted.
pub(super) fn watch(arguments: &TestArguments) -> Result<ExitStatus, CliError> {
    let (send, changes) = mpsc::channel();
    // The receiver is gone when the command ends.
    let mut watcher = notify::recommended_watcher(move |event| drop(send.send(event)))
        .map_err(|why| CliError::Test(TestError::Watch(why)))?;
    let mut watched = BTreeSet::new();
    loop {
        let mut directories: BTreeSet<PathBuf> = arguments.paths.iter().map(|path| home(path)).collect();
        match once(arguments) {
            Ok(run) => {
                report(&run, arguments)?;
                directories.extend(run.files.iter().map(|file| home(file)));
            }
            Err(error) => output::eprint(&error.to_text()),
        }
        follow(&mut watcher, &mut watched, directories)?;
        output::eprint(&text!("waiting for changes\n"));
        if !changed(&changes) {
            return Ok(ExitStatus::Failure);
        }
    }
}

/// The directory to watch for changes of a file, which may be replaced.
fn home(path: &Path) -> PathBuf {
    let directory = if path.is_dir() { Some(path) } else { path.parent() };
    let named = directory.filter(|directory| !directory.as_os_str().is_empty());
    named.unwrap_or(Path::new(".")).to_path_buf()
}

/// Watches directories that are not watched yet.
fn follow(
    watcher: &mut RecommendedWatcher,
    watched: &mut BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
) -> Result<(), CliError> {
    for directory in directories {
        if directory.is_dir() && watched.insert(directory.clone()) {
            watcher
                .watch(&directory, RecursiveMode::Recursive)
                .map_err(|why| CliError::Test(TestError::Watch(why)))?;
        }
    }
    Ok(())
}

/// Whether a change may affect a result: a possible suite, policy or object was written.
fn matters(event: &Event) -> bool {
    !event.kind.is_access() && event.paths.iter().any(|path| is_manifest(path))
}

/// Waits for a change and the quiet period; false if the watcher ended.
fn changed(changes: &Receiver<notify::Result<Event>>) -> bool {
    loop {
        match changes.recv() {
            Ok(Ok(event)) if !matters(&event) => {}
            Ok(_) => break,
            Err(_) => return false,
        }
    }
    loop {
        match changes.recv_timeout(QUIET) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}
