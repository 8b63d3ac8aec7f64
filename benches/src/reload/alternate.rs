//! Requests while two sets of policies and a broken one alternate: which set they see, and how long they take.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pratique_benches::BenchError;
use pratique_benches::policy;
use serde_json::{Value, json};

use super::live::{FollowingAdmission, LoadResult};
use super::rewrite;
use super::volume::MountedVolume;

/// The policies of each set.
const POLICIES: usize = 100;
/// The warnings of a set for the request: each validation of each policy fails.
const WARNINGS: usize = 3 * POLICIES;
/// How often periods with reloads and without alternate.
const TURNS: usize = 50;
/// Between two reloads.
const PAUSE: Duration = Duration::from_millis(10);

/// Measures requests during a number of reloads.
pub(super) fn run(directory: &Path, reloads: usize) -> Result<Value, BenchError> {
    let volume = MountedVolume::new(directory, POLICIES)?;
    for set in ["A", "B", "broken"] {
        volume.write(set, |index| write_policy(set, index))?;
    }
    volume.choose("A")?;
    let (live, results) = FollowingAdmission::start(directory)?;
    let [over, reloading] = [const { AtomicBool::new(false) }; 2];
    let requests = std::thread::scope(|scope| {
        let requests = scope.spawn(|| {
            let requests = requests(&live, &over, &reloading);
            over.store(true, Ordering::Release);
            requests
        });
        let changed = take_turns(&volume, &results, [&over, &reloading], reloads);
        over.store(true, Ordering::Release);
        let requests = requests.join().map_err(|_| "evaluating panicked");
        let requests = requests?;
        changed.and(requests)
    })?;
    Ok(json!({"calm": requests.calm, "reloading": requests.reloading, "seen": requests.changes}))
}

/// Alternates between reloading the sets in turn and leaving them alone.
fn take_turns(
    volume: &MountedVolume,
    results: &Receiver<LoadResult>,
    [over, reloading]: [&AtomicBool; 2],
    reloads: usize,
) -> Result<(), BenchError> {
    let mut done = 0;
    for turn in 1..=TURNS {
        let start = Instant::now();
        reloading.store(true, Ordering::Release);
        while done < reloads * turn / TURNS && !over.load(Ordering::Acquire) {
            let (set, expected) = match done % 4 {
                0 => ("B", LoadResult::Loaded),
                2 => ("A", LoadResult::Loaded),
                _ => ("broken", LoadResult::Failed),
            };
            volume.choose(set)?;
            while results.recv_timeout(Duration::from_secs(30))? != expected {}
            done += 1;
            sleep(PAUSE);
        }
        reloading.store(false, Ordering::Release);
        sleep(start.elapsed());
    }
    Ok(())
}

/// A policy of a set, which only warns.
fn write_policy(set: &str, index: usize) -> String {
    if (set, index) == ("broken", POLICIES / 2) {
        return "{".to_owned();
    }
    rewrite(&policy(index), set)
        .replace("message: ", &format!("message: <{set}> "))
        .replace(&format!("'{set}: "), &format!("'<{set}> "))
        .replace(&format!("team: \"{index}\""), "team: \"0\"")
        .replace("[Deny, Audit]", "[Warn]")
}

/// Durations of requests, and the sets that they saw.
#[derive(Default)]
struct RequestTimes {
    calm: Vec<u64>,
    reloading: Vec<u64>,
    /// How often a request saw another set than the one before it.
    changes: usize,
}

/// Evaluates without a pause. An error is a request that failed, or that saw anything but one whole set.
fn requests(
    live: &FollowingAdmission,
    over: &AtomicBool,
    reloading: &AtomicBool,
) -> Result<RequestTimes, BenchError> {
    let mut requests = RequestTimes::default();
    let mut last = '?';
    while !over.load(Ordering::Acquire) {
        let is_reloading = reloading.load(Ordering::Acquire);
        let start = Instant::now();
        let outcome = live.outcome()?;
        let took = u64::try_from(start.elapsed().as_nanos())?;
        if is_reloading {
            requests.reloading.push(took)
        } else {
            requests.calm.push(took)
        }
        let is_of = |set: &char| {
            let of_set = outcome
                .warnings
                .iter()
                .filter(|warning| warning.contains(&format!("<{set}> ")));
            outcome.warnings.len() == WARNINGS && of_set.count() == WARNINGS
        };
        let set = ['A', 'B'].into_iter().find(is_of);
        let set = set.ok_or_else(|| format!("a mix: {} {:?}", outcome.warnings.len(), outcome.warnings))?;
        requests.changes += usize::from(set != last);
        last = set;
    }
    Ok(requests)
}
