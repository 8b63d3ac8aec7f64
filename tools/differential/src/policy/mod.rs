//! Random policies, params, objects and users: what becomes of requests here and in the API server's plugins.
//!
//! A `world` has policies (`policies`, their expressions from `writer`), a cluster and requests (`requests`, `objects` of
//! `kinds`); `ours` and `reference` answer for its requests, `shrink` makes what differs small by `smaller` worlds, and
//! what is printed is a case as conformance suites have them.

pub(super) mod kinds;
mod known;
pub(super) mod objects;
mod ours;
pub(super) mod outcome;
mod policies;
pub(super) mod reference;
mod report;
pub(super) mod requests;
mod shrink;
mod smaller;
mod world;
mod writer;

use std::collections::VecDeque;
use std::time::Instant;

use pratique_harness::Error;
use serde_json::{Value, json};

pub use self::ours::outcomes;
pub use self::outcome::{Kind, differs};
pub use self::reference::Reference;
use self::report::Report;
pub use self::world::World;
use super::Span;
use super::outcomes::shrunk;

/// What to compare.
#[derive(clap::Args)]
pub(super) struct Run {
    #[command(flatten)]
    span: Span,
    /// How many requests share policies.
    #[arg(long, default_value_t = 16)]
    batch: usize,
}

/// How many worlds the reference works at: most of setting one up is waiting.
const AHEAD: usize = 16;

/// Runs until the time is over; whether there was a difference.
pub(super) fn compare(run: &Run) -> Result<bool, Error> {
    let mut reference = Reference::start()?;
    let mut second = Reference::start()?;
    let (mut dice, end) = run.span.begin();
    let mut report = Report::default();
    let mut open: VecDeque<(World, Result<Vec<Value>, Error>)> = VecDeque::new();
    loop {
        let more = Instant::now() < end;
        if more {
            let world = world::world(&mut dice, run.batch);
            reference.ask(&world, 1)?;
            let ours = ours::outcomes(&world);
            open.push_back((world, ours));
        }
        if more && open.len() < AHEAD {
            continue;
        }
        let Some((world, ours)) = open.pop_front() else {
            break;
        };
        report.world();
        match (ours, reference.answer()?) {
            (Err(_), _) => report.refused += 1,
            (Ok(_), Err(error)) => report.lost(&json!(world), &error.to_string()),
            (Ok(ours), Ok(theirs)) => settle(&mut second, &world, &ours, &theirs, &mut report)?,
        }
    }
    print!("{report}");
    Ok(report.has_differences())
}

/// Compares the outcomes of a world, and makes what differs small.
fn settle(
    reference: &mut Reference,
    world: &World,
    ours: &[Value],
    theirs: &[Vec<Value>],
    report: &mut Report,
) -> Result<(), Error> {
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let Some(theirs) = theirs.first() else { continue };
        report.count(theirs);
        let Some(kind) = differs(ours, theirs) else {
            continue;
        };
        if known::is_known(ours, theirs) {
            report.known += 1;
        } else if report.found.wants(kind, ours, theirs) {
            match shrunk(reference, world.with_request(index))? {
                Some(difference) => report.add(&difference),
                None => report.varies += 1,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
