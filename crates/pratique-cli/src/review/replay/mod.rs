//! `pratique replay`: evaluates policies for the requests of an audit log, and compares with what happened then.
//!
//! The steps are those of a review: `work` reads the logs and evaluates on all cores, `collect` counts and prints in order. What
//! `engine` loads, `impact` uses twice.

mod collect;
mod comparison;
mod counts;
pub(super) mod decided;
pub(super) mod engine;
pub(super) mod possible;
mod row;
pub(super) mod subject;
pub(super) mod work;

use std::sync::Mutex;

use pratique_replay::{Remembered, Replayer};

use super::read::Inputs;
use super::{limits, ordered};
use crate::arguments::ReplayArguments;
use crate::exit::{CliError, ExitStatus};
use crate::snapshot::StateSource;
use collect::Collector;
use engine::{Engine, KnownCluster, Policies};
use work::Worker;

/// Evaluates policies for every request of the logs; succeeds if none that was allowed is refused.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<ExitStatus, CliError> {
    let inputs = Inputs::of(&arguments.logs, None)?;
    let known = &arguments.known;
    let mut state = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let Some(policies) = Policies::load(&arguments.policies, known, &mut state)? else {
        return Ok(ExitStatus::Failure);
    };
    let (known, errors) = KnownCluster::read(state, known, &policies, &[])?;
    let engine = Engine { policies, known };
    let limits = limits(arguments.known.max_input);
    let remembered = remembered(arguments.remember);
    // Objects are remembered in the order of the log.
    let threads = match remembered.is_some() {
        true => 1,
        false => ordered::cores(),
    };
    let worker = Worker {
        engine: &engine,
        evaluator: engine.evaluator(false),
        replayer: replayer(&engine.known),
        remembered: remembered.map(Mutex::new),
        format: arguments.answers.output,
        summary: arguments.answers.summary,
    };
    let mut collector = Collector::new(&arguments.answers, errors);
    ordered::in_order(
        threads,
        move |intake| work::give(&inputs, limits, &intake),
        |unit, give| worker.replay(unit, give),
        |part| collector.collect(part),
    )?;
    let forgotten = worker.remembered.map(|remembered| {
        let remembered = remembered.into_inner();
        remembered.map_or_else(|held| held.into_inner().forgotten(), |held| held.forgotten())
    });
    collector.end(
        &arguments.logs,
        &engine.policies.scope,
        forgotten.unwrap_or_default(),
    )
}

/// A store of so many MiB; `None` if nothing is to be remembered.
pub(super) fn remembered(mebibytes: u32) -> Option<Remembered> {
    let bytes = usize::try_from(u64::from(mebibytes) << 20).unwrap_or(usize::MAX);
    (bytes > 0).then(|| Remembered::within(bytes))
}

/// A replayer that knows the custom resources of what is known.
pub(super) fn replayer(known: &KnownCluster) -> Replayer {
    let mut replayer = Replayer::default();
    for definition in &known.definitions {
        // What cannot be followed was told when the state was read.
        let _ = replayer.define(definition);
    }
    replayer
}
