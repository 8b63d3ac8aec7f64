//! A watched directory of policies that changes: `pratique-benches reload change|swap DIRECTORY POLICIES ROUNDS` and
//! `pratique-benches reload alternate DIRECTORY RELOADS`, or of policies that are given, `pratique-benches reload replace FILE
//! OTHERS`.
//!
//! `change` has one file renamed over another, `swap` all files replaced at once, as in a mounted volume whose `..data` is
//! swapped. Both measure from the rename until a request that is evaluated again and again has the new decision.
//! `replace` has each file of the directory OTHERS renamed over FILE, and measures until its directory is loaded.
//! `alternate` measures requests while nothing changes and while two sets and a broken one take turns. Each prints a line
//! of JSON.

mod alternate;
mod live;
mod replace;
mod volume;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pratique_benches::BenchError;
use pratique_benches::policy;
use serde_json::json;

use live::FollowingAdmission;
use volume::MountedVolume;

/// Measures what the arguments say.
pub(crate) fn run(arguments: &[String]) -> Result<(), BenchError> {
    let number = |text: &String| {
        text.parse()
            .map_err(|error| BenchError::from(format!("{text}: {error}")))
    };
    let result = match arguments {
        [what, directory, policies, rounds] if what == "change" => {
            json!({"nanos": change(Path::new(directory), number(policies)?, number(rounds)?)?})
        }
        [what, directory, policies, rounds] if what == "swap" => {
            json!({"nanos": swap(Path::new(directory), number(policies)?, number(rounds)?)?})
        }
        [what, file, others] if what == "replace" => {
            json!({"nanos": replace::run(Path::new(file), Path::new(others))?})
        }
        [what, directory, reloads] if what == "alternate" => {
            alternate::run(Path::new(directory), number(reloads)?)?
        }
        _ => return Err("usage: pratique-benches reload change|swap|replace|alternate …".into()),
    };
    println!("{result}");
    Ok(())
}

/// Changes one expression of one policy of a directory in each round.
fn change(directory: &Path, policies: usize, rounds: usize) -> Result<Vec<u64>, BenchError> {
    let written = (0..policies)
        .try_for_each(|index| fs::write(directory.join(format!("policy-{index:04}.yaml")), policy(index)));
    written?;
    let (live, _) = FollowingAdmission::start(directory)?;
    let file = directory.join("policy-0000.yaml");
    let aside = directory.with_extension("next");
    let mut nanos = Vec::new();
    for round in 0..rounds {
        let text = policy(0).replace("'at most '", &format!("'round-{round}: at most '"));
        fs::write(&aside, text)?;
        let start = Instant::now();
        fs::rename(&aside, &file)?;
        nanos.push(until(&live, round, start)?);
    }
    Ok(nanos)
}

/// Changes nearly all expressions of all policies of a directory in each round.
fn swap(directory: &Path, policies: usize, rounds: usize) -> Result<Vec<u64>, BenchError> {
    let mut volume = MountedVolume::new(directory, policies)?;
    volume.put("before", policy)?;
    let (live, _) = FollowingAdmission::start(directory)?;
    let mut nanos = Vec::new();
    for round in 0..rounds {
        let set = format!("round-{round}");
        volume.prepare(&round.to_string(), |index| rewrite(&policy(index), &set))?;
        let start = Instant::now();
        volume.swap()?;
        nanos.push(until(&live, round, start)?);
    }
    Ok(nanos)
}

/// A policy with nearly all expressions changed, and with the name of its set in its messages.
fn rewrite(policy: &str, set: &str) -> String {
    policy
        .replace("'at most '", &format!("'{set}: at most '"))
        .replace("'policy ", &format!("'{set} policy "))
        .replace("sidecar-", &format!("sidecar-{set}-"))
        .replace("registry-", &format!("registry-{set}-"))
        .replace("mirror", &format!("mirror-{set}-"))
        .replace("team-", &format!("team-{set}-"))
}

/// Waits for the decision of a round; returns the nanoseconds since `start`.
fn until(live: &FollowingAdmission, round: usize, start: Instant) -> Result<u64, BenchError> {
    let expected = format!("round-{round}: at most");
    while !live
        .evaluate()?
        .is_some_and(|message| message.contains(&expected))
    {
        if start.elapsed() > Duration::from_secs(30) {
            return Err(format!("round {round} is not seen: {:?}", live.evaluate()).into());
        }
        std::thread::yield_now();
    }
    // Observers and other threads woken by the same change must not run into the next round.
    let took = start.elapsed();
    std::thread::sleep(Duration::from_millis(2));
    Ok(u64::try_from(took.as_nanos())?)
}
