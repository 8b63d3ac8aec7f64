//! Makes a difference small: the expression, then its source, then the data.

use pratique_harness::Error;
use serde_json::Value;

use super::known;
use super::ours::Ours;
use super::outcome::{Kind, Outcome};
use super::reference::{Batch, Reference};
use super::tree::{Tree, shorter};
use super::world::World;

/// An expression on which the two sides differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// Where.
    pub(super) world: World,
    /// The source.
    pub(super) source: String,
    /// In what.
    pub(super) kind: Kind,
    /// Our outcome.
    pub(super) ours: Outcome,
    /// The reference's.
    pub(super) theirs: Outcome,
}

/// How many candidates are tried at once.
const AT_ONCE: usize = 64;

/// How often the reference is asked, so that what it leaves to chance shows.
const TIMES: usize = 30;

/// Looks which expressions differ: those on which the reference is of one mind, and we of another.
pub(super) fn differences(
    reference: &mut Reference,
    world: &World,
    sources: &[String],
    times: usize,
) -> Result<Vec<Option<Difference>>, Error> {
    reference.ask(&Batch {
        world,
        expressions: sources,
        times,
    })?;
    let ours = Ours::new(world);
    let ours: Vec<Outcome> = sources.iter().map(|source| ours.outcome(source)).collect();
    let theirs = reference.answer()?;
    let pairs = sources.iter().zip(ours).zip(theirs);
    let compared = pairs.map(|((source, ours), theirs)| {
        let [theirs] = <[Outcome; 1]>::try_from(theirs).ok()?;
        let kind = ours.differs(&theirs)?;
        if known::is_known(&ours, &theirs) {
            return None;
        }
        Some(Difference {
            world: world.clone(),
            source: source.clone(),
            kind,
            ours,
            theirs,
        })
    });
    Ok(compared.collect())
}

/// The smallest expression with the smallest data that still differ in the same way; none if they do not differ when
/// asked again and again.
pub(super) fn shrunk(
    reference: &mut Reference,
    world: &World,
    tree: &Tree,
    source: &str,
) -> Result<Option<Difference>, Error> {
    let Some(mut best) = first(reference, world, &[source.to_owned()], None)? else {
        return Ok(None);
    };
    if let Some(plain) = first(reference, world, &[tree.plain()], Some(best.kind))? {
        best = plain;
        best = simpler_tree(reference, tree.clone(), best)?;
    }
    best = shorter_source(reference, best)?;
    best = smaller_world(reference, best)?;
    best = shorter_source(reference, best)?;
    Ok(Some(best))
}

fn simpler_tree(
    reference: &mut Reference,
    mut tree: Tree,
    mut best: Difference,
) -> Result<Difference, Error> {
    'again: for _ in 0..200 {
        let simpler: Vec<Tree> = tree.simpler();
        let length = best.source.len();
        let simpler: Vec<Tree> = simpler
            .into_iter()
            .filter(|tree| tree.plain().len() < length)
            .collect();
        for candidates in simpler.chunks(AT_ONCE) {
            let sources: Vec<String> = candidates.iter().map(Tree::plain).collect();
            if let Some(found) = first(reference, &best.world, &sources, Some(best.kind))? {
                let chosen = candidates.iter().find(|tree| tree.plain() == found.source);
                tree = chosen.cloned().unwrap_or(tree);
                best = found;
                continue 'again;
            }
        }
        break;
    }
    Ok(best)
}

fn shorter_source(reference: &mut Reference, mut best: Difference) -> Result<Difference, Error> {
    'again: for _ in 0..200 {
        let candidates = shorter(&best.source);
        for candidates in candidates.chunks(AT_ONCE) {
            if let Some(found) = first(reference, &best.world, candidates, Some(best.kind))? {
                best = found;
                continue 'again;
            }
        }
        break;
    }
    Ok(best)
}

fn smaller_world(reference: &mut Reference, mut best: Difference) -> Result<Difference, Error> {
    'again: for _ in 0..200 {
        for world in smaller_worlds(&best.world) {
            let source = [best.source.clone()];
            if let Ok(Some(found)) = first(reference, &world, &source, Some(best.kind)) {
                best = found;
                continue 'again;
            }
        }
        break;
    }
    Ok(best)
}

/// The first of the sources that surely differs, in the given way.
fn first(
    reference: &mut Reference,
    world: &World,
    sources: &[String],
    kind: Option<Kind>,
) -> Result<Option<Difference>, Error> {
    let found = differences(reference, world, sources, 1)?;
    for difference in found.into_iter().flatten() {
        if kind.is_some_and(|kind| kind != difference.kind) {
            continue;
        }
        let again = differences(reference, world, std::slice::from_ref(&difference.source), TIMES)?;
        if let Some(sure) = again
            .into_iter()
            .flatten()
            .find(|sure| sure.kind == difference.kind)
        {
            return Ok(Some(sure));
        }
    }
    Ok(None)
}

/// The same world without one of the things in it.
fn smaller_worlds(world: &World) -> Vec<World> {
    let mut found = Vec::new();
    for index in 0..world.variables.len() {
        let mut smaller = world.clone();
        smaller.variables.remove(index);
        found.push(smaller);
    }
    for inputs in smaller_values(&world.inputs, 4) {
        found.push(World {
            inputs,
            ..world.clone()
        });
    }
    found
}

fn smaller_values(value: &Value, depth: usize) -> Vec<Value> {
    let mut found = Vec::new();
    if depth == 0 {
        return found;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let mut smaller = members.clone();
                smaller.remove(name);
                found.push(Value::Object(smaller));
                for replacement in smaller_values(member, depth - 1) {
                    let mut smaller = members.clone();
                    smaller.insert(name.clone(), replacement);
                    found.push(Value::Object(smaller));
                }
            }
        }
        Value::Array(elements) => {
            for index in 0..elements.len() {
                let mut smaller = elements.clone();
                smaller.remove(index);
                found.push(Value::Array(smaller));
            }
        }
        _ => {}
    }
    found
}
