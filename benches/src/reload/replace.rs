//! One file of a directory replaced by others, one after the other.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::live::{FollowingAdmission, LoadResult};
use pratique_benches::BenchError;

/// Files that changed a moment ago are read each time, as their times would not tell of another change. Those of a cluster
/// are older.
const FILE_AGE: Duration = Duration::from_millis(2_100);

/// How long from each rename until the directory is loaded with the file and evaluates by it.
pub(super) fn run(file: &Path, others: &Path) -> Result<Vec<u64>, BenchError> {
    let directory = file.parent().ok_or("the file is in no directory")?;
    std::thread::sleep(FILE_AGE);
    let (_live, results) = FollowingAdmission::start(directory)?;
    let entries = fs::read_dir(others)?;
    let others: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut others = others?;
    others.sort();
    let mut nanos = Vec::new();
    for other in others {
        let start = Instant::now();
        fs::rename(&other, file)?;
        loop {
            match results.recv_timeout(Duration::from_secs(30)) {
                Ok(LoadResult::Loaded) => break,
                Ok(LoadResult::Unchanged) => {}
                Ok(LoadResult::Failed) => return Err(format!("{} is not loaded", other.display()).into()),
                Err(error) => return Err(error.into()),
            }
        }
        nanos.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        // A thread that is woken by the same change must not run into the next round.
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(nanos)
}
