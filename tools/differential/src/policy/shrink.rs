//! Makes a difference small: without policies, objects and fields, with simpler expressions.

use std::time::{Duration, Instant};

use pratique_harness::Error;
use serde_json::Value;

use super::known;
use super::ours;
use super::outcome::{Kind, differs, texts};
use super::reference::Reference;
use super::smaller::smaller;
use super::world::World;

/// A request on which the two sides differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// Policies and one request.
    pub(super) world: World,
    /// In what.
    pub(super) kind: Kind,
    /// Our outcome.
    pub(super) ours: Value,
    /// The reference's.
    pub(super) theirs: Value,
}

/// How many candidates are tried at once.
const AT_ONCE: usize = 24;

/// How often the reference is asked, so that what it leaves to chance shows: of two fields in a map, Go may come to the
/// second one first in one of eight times only.
const TIMES: usize = 128;

/// How often it is asked on the way.
const AGAIN: usize = 3;

/// How long a difference is made small, at most.
const LONGEST: Duration = Duration::from_secs(120);

/// The smallest world that still differs in the same way; none if it does not differ when asked again and again.
pub(super) fn shrunk(reference: &mut Reference, world: World) -> Result<Option<Difference>, Error> {
    let Some(whole) = sure(reference, world, TIMES)? else {
        return Ok(None);
    };
    let end = Instant::now() + LONGEST;
    let mut best = whole.clone();
    let mut skipped = 0;
    let mut found_any = false;
    while Instant::now() < end {
        let candidates = smaller(&best.world);
        let rest = candidates.get(skipped..).unwrap_or_default();
        match first(reference, rest, &best)? {
            Some((index, difference)) => {
                // What comes before could not be left out, and mostly cannot now.
                skipped += index;
                best = difference;
                found_any = true;
            }
            None if found_any => (skipped, found_any) = (0, false),
            None => break,
        }
    }
    let small = sure(reference, best.world, TIMES)?;
    Ok(small.or(Some(whole)))
}

/// The first of the worlds that surely differs in the given way, with its index.
fn first(
    reference: &mut Reference,
    worlds: &[World],
    best: &Difference,
) -> Result<Option<(usize, Difference)>, Error> {
    for (chunk, worlds) in worlds.chunks(AT_ONCE).enumerate() {
        for world in worlds {
            reference.ask(world, 1)?;
        }
        let mut likely = Vec::new();
        for (index, world) in worlds.iter().enumerate() {
            let ours = ours::outcomes(world);
            let theirs = reference.answer()?;
            let Some((ours, theirs)) = one_each(ours, theirs) else {
                continue;
            };
            if best.is_like(&ours, &theirs) && !known::is_known(&ours, &theirs) {
                likely.push(index);
            }
        }
        for index in likely {
            let Some(world) = worlds.get(index) else { continue };
            let difference = sure(reference, world.clone(), AGAIN)?;
            if let Some(difference) = difference.filter(|found| best.is_like(&found.ours, &found.theirs)) {
                return Ok(Some((chunk * AT_ONCE + index, difference)));
            }
        }
    }
    Ok(None)
}

fn one_each(
    ours: Result<Vec<Value>, Error>,
    theirs: Result<Vec<Vec<Value>>, Error>,
) -> Option<(Value, Value)> {
    let ours = ours.ok()?.into_iter().next()?;
    let theirs = theirs.ok()?.into_iter().next()?;
    let [theirs] = <[Value; 1]>::try_from(theirs).ok()?;
    Some((ours, theirs))
}

/// The difference of a world with one request, if the reference is of one mind and we of another.
fn sure(reference: &mut Reference, world: World, times: usize) -> Result<Option<Difference>, Error> {
    reference.ask(&world, times)?;
    let ours = ours::outcomes(&world);
    let Some((ours, theirs)) = one_each(ours, reference.answer()?) else {
        return Ok(None);
    };
    let kind = differs(&ours, &theirs).filter(|_| !known::is_known(&ours, &theirs));
    Ok(kind.map(|kind| Difference {
        world,
        kind,
        ours,
        theirs,
    }))
}

impl Difference {
    /// Whether two outcomes differ in the same way: a policy that does not compile is another matter than one that fails.
    fn is_like(&self, ours: &Value, theirs: &Value) -> bool {
        let traits = |outcome: &Value| {
            let texts = texts(outcome);
            let broken = ["compil", "must evaluate to"]
                .iter()
                .any(|part| texts.contains(part));
            (
                outcome.get("allowed").cloned(),
                outcome.pointer("/status/code").cloned(),
                broken,
            )
        };
        differs(ours, theirs) == Some(self.kind)
            && traits(ours) == traits(&self.ours)
            && traits(theirs) == traits(&self.theirs)
    }
}
