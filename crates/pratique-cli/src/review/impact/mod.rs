//! `pratique impact`: evaluates two sets of policies for the same requests, and tells which decisions change.

mod change;
mod collect;
mod sets;
mod work;

use std::sync::Arc;

use super::read::Inputs;
use super::replay::engine::{Engine, GivenState};
use super::replay::log::LogReader;
use super::replay::share::ReadShare;
use super::replay::work::give;
use super::request::RequestBuilder;
use super::stored::Stored;
use super::{limits, ordered};
use crate::arguments::{ImpactArguments, RequestArguments, UserArguments};
use crate::exit::{CliError, ExitStatus};
use crate::input::shown;
use crate::snapshot::StateSource;
use collect::Collector;
use work::{Side, Worker};

/// Evaluates both sets of policies for all inputs; succeeds unless too many requests are newly refused.
pub(crate) fn run(arguments: &ImpactArguments) -> Result<ExitStatus, CliError> {
    let inputs = Inputs::of(&arguments.inputs, None)?;
    let known = &arguments.known;
    let state = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let Some((old, new)) = sets::load(arguments)? else {
        return Ok(ExitStatus::Failure);
    };
    let (known, errors) = GivenState::read(state, known, &new, &[&old])?.known_to_requests();
    let old = Engine {
        policies: old,
        known: Arc::clone(&known),
    };
    let new = Engine {
        policies: new,
        known: Arc::clone(&known),
    };
    let limits = limits(arguments.known.max_input);
    let (stored, _) = Stored::new(&[], &arguments.namespace);
    let ImpactArguments {
        namespace,
        user,
        groups,
        ..
    } = arguments;
    let request = RequestArguments::creations(namespace, user, groups, &UserArguments::default());
    let side = |engine| Side {
        engine,
        evaluator: Engine::evaluator(engine, false),
    };
    let worker = Worker {
        old: side(&old),
        new: side(&new),
        explains: arguments.answers.explain.then(|| new.evaluator(true)),
        builder: RequestBuilder::new(&request, stored),
        log: LogReader::new(&known, arguments.memory.remember),
    };
    let share = ReadShare::of(&inputs);
    let mut collector = Collector::new(&arguments.answers, errors, Arc::clone(&share));
    ordered::in_order(
        worker.log.threads(),
        move |intake| give(&inputs, limits, &share, &intake),
        |unit, give| worker.compare(unit, give),
        |part| collector.collect(part),
    )?;
    let inputs: Vec<String> = arguments.inputs.iter().map(|path| shown(path)).collect();
    collector.end(&inputs.join(", "))
}
