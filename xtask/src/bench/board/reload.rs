//! A directory of which one file changes: ours follows it, and knows what did not change; the reference reads and compiles
//! all of it again, which is what it does for every change.

use serde::Deserialize;

use super::material::Material;
use super::once::run;
use super::policies::Policies;
use super::rows::Row;
use super::{Measured, Programs, Settings};
use crate::bench::statistics::Spread;

#[derive(Deserialize)]
struct Nanos {
    nanos: Vec<u64>,
}

/// Changes in a round.
const CHANGES: usize = 20;

/// From the rename of a file until its policy judges. Theirs is a load of the directory; that the reference looks for
/// changes once a minute, where it is not told of them, is left out.
pub(super) fn measure(
    row: &Row,
    policies: &Policies,
    material: &Material,
    programs: &Programs,
    settings: &Settings,
) -> Result<Measured, String> {
    let directory = material.policies(row.name, policies)?;
    let mut measured = Measured::default();
    for _ in 0..settings.rounds {
        let [file, others] = material.others(row.name, policies, CHANGES)?;
        let ours: Nanos = run(&programs.ours, &["reload", "replace", &file, &others])?;
        measured.ours.extend(middle(ours));
        if let Some(theirs) = &programs.theirs {
            let theirs: Nanos = run(theirs, &["start", policies.plugin(), &directory])?;
            measured.theirs.extend(middle(theirs));
        }
    }
    Ok(measured)
}

fn middle(of: Nanos) -> Option<f64> {
    Spread::of(of.nanos.iter().map(|nanos| *nanos as f64)).map(|spread| spread.median)
}
