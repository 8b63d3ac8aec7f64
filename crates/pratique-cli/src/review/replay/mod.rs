//! `pratique replay`: evaluates policies for the requests of an audit log, and compares with what happened then.
//!
//! The steps are those of a review: `work` reads the logs and evaluates on all cores, `collect` counts and prints in order. What
//! `engine` loads, `impact` uses twice.

mod collect;
mod comparison;
mod counts;
pub(super) mod decided;
pub(super) mod engine;
pub(super) mod faults;
pub(super) mod log;
pub(super) mod possible;
mod row;
pub(super) mod share;
pub(super) mod subject;
pub(super) mod work;

use std::sync::Arc;

use pratique_arrow::ResultRows;

use super::read::Inputs;
use super::results::Results;
use super::{limits, ordered};
use crate::arguments::ReplayArguments;
use crate::exit::{CliError, ExitStatus};
use crate::snapshot::StateSource;
use collect::Collector;
use engine::{Engine, GivenState, Policies};
use log::LogReader;
use share::ReadShare;
use work::Worker;

/// Evaluates policies for every request of the logs; succeeds if none that was allowed is refused.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<ExitStatus, CliError> {
    let inputs = Inputs::of(&arguments.logs, None)?;
    let known = &arguments.known;
    let mut state = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let Some(policies) = Policies::load(&arguments.policies, known, &mut state)? else {
        return Ok(ExitStatus::Failure);
    };
    let (known, errors) = GivenState::read(state, known, &policies, &[])?.known_to_requests();
    let engine = Engine { policies, known };
    let limits = limits(arguments.known.max_input);
    let worker = Worker {
        engine: &engine,
        evaluator: engine.evaluator(false),
        log: LogReader::new(&engine.known, arguments.memory.remember),
        format: arguments.answers.output,
        summary: arguments.answers.summary,
    };
    let answers = &arguments.answers;
    let share = ReadShare::of(&inputs);
    let mut collector = Collector::new(answers, errors, Arc::clone(&share));
    collector.results = Results::open(&answers.results, answers.output.columns(), ResultRows::of_replay)?;
    ordered::in_order(
        worker.log.threads(),
        move |intake| work::give(&inputs, limits, &share, &intake),
        |unit, give| worker.replay(unit, give),
        |part| collector.collect(part),
    )?;
    let forgotten = worker.log.forgotten();
    collector.end(&arguments.logs, &engine.policies.scope, forgotten)
}
