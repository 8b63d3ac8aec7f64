//! Requests while two sets of policies and a broken one take turns: what they see, and how long they take.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pratique_benches::policy;
use pratique_harness::Error;
use serde_json::{Value, json};

use super::live::{Heard, Live};
use super::rewrite;
use super::volume::Volume;

/// The policies of each set.
const POLICIES: usize = 100;
/// What a policy says of the request: each of its validations fails.
const WARNINGS: usize = 3 * POLICIES;
/// How often requests are measured with reloads and without, in turns.
const TURNS: usize = 50;
/// Between two reloads.
const PAUSE: Duration = Duration::from_millis(10);

/// Measures, with so many reloads.
pub(super) fn run(directory: &Path, reloads: usize) -> Result<Value, Error> {
    let volume = Volume::new(directory, POLICIES)?;
    for set in ["A", "B", "broken"] {
        volume.write(set, |index| text(set, index))?;
    }
    volume.choose("A")?;
    let (live, heard) = Live::start(directory)?;
    let [over, reloading] = [const { AtomicBool::new(false) }; 2];
    let requests = std::thread::scope(|scope| {
        let requests = scope.spawn(|| {
            let requests = requests(&live, &over, &reloading);
            over.store(true, Ordering::Release);
            requests
        });
        let changed = take_turns(&volume, &heard, [&over, &reloading], reloads);
        over.store(true, Ordering::Release);
        let requests = requests
            .join()
            .map_err(|_| Error::from("evaluating panicked".to_owned()));
        let requests = requests?;
        changed.and(requests)
    })?;
    Ok(json!({"calm": requests.calm, "reloading": requests.reloading, "seen": requests.seen}))
}

/// Has the sets take turns, in turns with nothing.
fn take_turns(
    volume: &Volume,
    heard: &Receiver<Heard>,
    [over, reloading]: [&AtomicBool; 2],
    reloads: usize,
) -> Result<(), Error> {
    let mut done = 0;
    for turn in 1..=TURNS {
        let start = Instant::now();
        reloading.store(true, Ordering::Release);
        while done < reloads * turn / TURNS && !over.load(Ordering::Acquire) {
            let (set, expected) = match done % 4 {
                0 => ("B", Heard::Loaded),
                2 => ("A", Heard::Loaded),
                _ => ("broken", Heard::Failed),
            };
            volume.choose(set)?;
            while heard
                .recv_timeout(Duration::from_secs(30))
                .map_err(|error| error.to_string())?
                != expected
            {}
            done += 1;
            sleep(PAUSE);
        }
        reloading.store(false, Ordering::Release);
        sleep(start.elapsed());
    }
    Ok(())
}

/// A policy of a set, which only warns.
fn text(set: &str, index: usize) -> String {
    if (set, index) == ("broken", POLICIES / 2) {
        return "{".to_owned();
    }
    rewrite(&policy(index), set)
        .replace("message: ", &format!("message: <{set}> "))
        .replace(&format!("'{set}: "), &format!("'<{set}> "))
        .replace(&format!("team: \"{index}\""), "team: \"0\"")
        .replace("[Deny, Audit]", "[Warn]")
}

/// What requests saw and took.
#[derive(Default)]
struct Requests {
    calm: Vec<u64>,
    reloading: Vec<u64>,
    /// How often another set than before was seen.
    seen: usize,
}

/// Evaluates without a pause. An error is a request that failed, or that saw anything but one whole set.
fn requests(live: &Live, over: &AtomicBool, reloading: &AtomicBool) -> Result<Requests, Error> {
    let mut requests = Requests::default();
    let mut last = '?';
    while !over.load(Ordering::Acquire) {
        let is_reloading = reloading.load(Ordering::Acquire);
        let start = Instant::now();
        let outcome = live.outcome()?;
        let took = u64::try_from(start.elapsed().as_nanos()).map_err(|error| error.to_string())?;
        match is_reloading {
            true => requests.reloading.push(took),
            false => requests.calm.push(took),
        }
        let is_of = |set: &char| {
            let said = outcome
                .warnings
                .iter()
                .filter(|warning| warning.contains(&format!("<{set}> ")));
            outcome.warnings.len() == WARNINGS && said.count() == WARNINGS
        };
        let set = ['A', 'B'].into_iter().find(is_of);
        let set = set.ok_or_else(|| format!("a mix: {} {:?}", outcome.warnings.len(), outcome.warnings))?;
        requests.seen += usize::from(set != last);
        last = set;
    }
    Ok(requests)
}
