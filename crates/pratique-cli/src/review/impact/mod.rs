//! `pratique impact`: evaluates two sets of policies for the same requests, and tells which decisions change.

mod change;
mod collect;
mod report;
mod sets;
mod survey;
mod work;

use std::sync::Arc;

use pratique_report::Run;

use super::checkpoint::Checkpoints;
use super::digest::Digest;
use super::read::Inputs;
use super::replay::engine::{Engine, GivenState};
use super::replay::faults::CountedFaults;
use super::replay::log::LogReader;
use super::replay::share::ReadShare;
use super::replay::units::Pieces;
use super::request::RequestBuilder;
use super::stored::Stored;
use super::{limits, ordered};
use crate::arguments::{ImpactArguments, RequestArguments, UserArguments};
use crate::exit::{CliError, ExitStatus};
use crate::input::shown;
use crate::snapshot::StateSource;
use crate::style::Style;
use collect::Collector;
use report::ImpactReport;
use work::{Side, Worker};

/// Evaluates both sets of policies for all inputs; succeeds unless too many requests are newly refused.
pub(crate) fn run(arguments: &ImpactArguments) -> Result<ExitStatus, CliError> {
    let inputs = Inputs::of_logs(&arguments.inputs)?;
    let known = &arguments.known;
    let state = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let Some((old, new)) = sets::load(arguments)? else {
        return Ok(ExitStatus::Failure);
    };
    let given = GivenState::read(state, known, &new, &[&old])?;
    let ImpactArguments {
        namespace,
        user,
        groups,
        memory,
        answers,
        ..
    } = arguments;
    let others = format!("{namespace:?} {user:?} {groups:?} {memory:?} {}", answers.explain);
    let digest = given.digest(Digest::of(known, &others), &[&old.sets, &new.sets]);
    let run = Run {
        command: "impact".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: arguments.inputs.iter().map(|path| shown(path)).collect(),
        operation: String::new(),
        policies: digest.text(),
        policy_count: digest.policies,
        can_deny: new.scope.can_deny(),
    };
    let names = run.inputs.join(", ");
    let limits = limits(known.max_input);
    let (known, errors) = given.known_to_requests(|state| survey::survey(&inputs, limits, state));
    let mut report = ImpactReport::new(run, CountedFaults::new(errors));
    let (checkpoints, from) = Checkpoints::open(&arguments.checkpoints, || inputs.states(), &mut report)?;
    let old = Engine {
        policies: old,
        known: Arc::clone(&known),
    };
    let new = Engine {
        policies: new,
        known: Arc::clone(&known),
    };
    let (stored, _) = Stored::new(&[], &arguments.namespace);
    let request = RequestArguments::creations(namespace, user, groups, &UserArguments::default());
    let side = |engine| Side {
        engine,
        evaluator: Engine::evaluator(engine, false),
    };
    let worker = Worker {
        old: side(&old),
        new: side(&new),
        explains: answers.explain.then(|| new.evaluator(true)),
        // A checkpoint keeps explanations without colours.
        style: checkpoints
            .as_ref()
            .map_or_else(Style::of_stdout, |_| Style::default()),
        builder: RequestBuilder::new(&request, stored),
        log: LogReader::new(&known, memory.remember),
    };
    let share = ReadShare::of(&inputs);
    let pieces = Pieces {
        limits,
        share: Arc::clone(&share),
        from,
        remembers: worker.log.remembers(),
    };
    let mut collector = Collector::new(answers, report, share, checkpoints);
    ordered::in_order(
        worker.log.threads(),
        move |intake| pieces.give(&inputs, &intake),
        |unit, give| worker.compare(unit, give),
        |part| collector.collect(part),
    )?;
    collector.end(&names)
}
