//! One file of a directory replaced by others, one after the other.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::live::{Heard, Live};
use pratique_harness::Error;

/// How long from each rename until the directory is loaded with the file and evaluates by it.
pub(super) fn run(file: &Path, others: &Path) -> Result<Vec<u64>, Error> {
    let directory = file.parent().ok_or("the file is in no directory")?;
    let (_live, heard) = Live::start(directory)?;
    let entries = fs::read_dir(others).map_err(|error| error.to_string())?;
    let others: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut others = others.map_err(|error| error.to_string())?;
    others.sort();
    let mut nanos = Vec::new();
    for other in others {
        let start = Instant::now();
        fs::rename(&other, file).map_err(|error| error.to_string())?;
        loop {
            match heard.recv_timeout(Duration::from_secs(30)) {
                Ok(Heard::Loaded) => break,
                Ok(Heard::Unchanged) => {}
                Ok(Heard::Failed) => return Err(format!("{} is not loaded", other.display()).into()),
                Err(error) => return Err(error.to_string().into()),
            }
        }
        nanos.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        // A waiter that is woken by the same change shall not fall into the next round.
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(nanos)
}
