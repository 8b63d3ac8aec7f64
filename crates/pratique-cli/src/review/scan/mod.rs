//! `pratique scan`: evaluates policies for every object that there is, and reports what they find.
//!
//! The steps are those of a review (`source` reads, `work` evaluates on all cores, `collect` consumes in order), but what comes
//! of an object is only counted, printed, or both: nothing is kept whose size grows with the number of objects.

mod checkpoint;
mod collect;
mod digest;
mod etcd;
mod evaluation;
mod human;
mod merge;
mod metrics;
mod progress;
mod source;
mod state;
mod unmatched;
mod work;
pub(super) mod written;

use std::path::PathBuf;
use std::sync::Arc;

use pratique_manifest::path_text;
use pratique_report::{Limits, Report, Run, Shard, Tally};
use pratique_types::Operation;

use super::evaluate::Evaluator;
use super::left_out::NOT_SIMULATED;
use super::phases::Phases;
use super::read::Inputs;
use super::replay::engine::{GivenState, Policies};
use super::request::RequestBuilder;
use super::state::ClusterState;
use super::stored::Stored;
use super::{limits, ordered};
use crate::arguments::{RequestArguments, ScanArguments, ScanRequestArguments};
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::text::text;
use crate::snapshot::StateSource;
pub(crate) use checkpoint::CheckpointError;
use checkpoint::Checkpoints;
use collect::Collector;
use digest::Digest;
pub(crate) use merge::run as report;
use source::Sources;
use work::Scanner;

/// What a scan leaves out.
const NOT_RUN: &str = "webhooks and built-in plugins are not run";

/// What a snapshot as the input leaves out.
const OF_SNAPSHOT: &str = "a snapshot has what policies need of a cluster, and not all of its objects";

/// Evaluates every object of the inputs as it is read; succeeds if all of them are allowed.
pub(crate) fn run(arguments: &ScanArguments) -> Result<ExitStatus, CliError> {
    let known = &arguments.known;
    let namespace = arguments.request.namespace.as_str();
    let paths: Vec<PathBuf> = match (arguments.inputs.as_slice(), &known.snapshot) {
        ([], Some(snapshot)) => vec![snapshot.clone()],
        ([], None) => return Err(CliError::NoScanInput),
        (inputs, _) => inputs.to_vec(),
    };
    if arguments.checkpoints.checkpoint.is_some() && arguments.answers.output.lists_objects() {
        return Err(CliError::NoCheckpoint);
    }
    let inputs = Inputs::of(&paths, None)?;
    let mut source = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let Some(policies) = Policies::load(&arguments.policies, known, &mut source)? else {
        return Ok(ExitStatus::Failure);
    };
    let Policies {
        admission,
        sets,
        scope,
    } = &policies;
    let mut digest = Digest::of(sets, arguments);
    let given = GivenState::read(source, known, &policies, &[])?;
    given.objects().for_each(|object| digest.add(object));
    let limits = limits(known.max_input);
    let phases = Phases::of(&arguments.completion);
    let sources = Sources::of(&inputs, arguments.shard.unwrap_or(Shard::WHOLE))?;
    let survey = |cluster: &mut ClusterState| state::survey(&inputs, &sources, limits, cluster);
    let (known, errors) = given.known(phases, namespace, survey);
    let (stored, _) = Stored::new(&[], namespace);
    let ScanRequestArguments {
        as_update,
        namespace: _,
        user,
        groups,
        more_of_user,
    } = &arguments.request;
    // An update is made of its creation.
    let request = RequestArguments::creations(namespace, user, groups, more_of_user);
    let scanner = Scanner {
        builder: RequestBuilder::new(&request, stored),
        operation: match *as_update {
            false => Operation::Create,
            true => Operation::Update,
        },
        evaluator: Evaluator::policies(admission, known.authorizer, false),
        phases,
        format: arguments.answers.output,
        shard: sources.shard,
    };
    let run = Run {
        command: "scan".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: paths.iter().map(|path| path_text(path)).collect(),
        operation: scanner.operation.as_str().to_owned(),
        policies: digest.text(),
        policy_count: digest.policies,
        can_deny: scope.can_deny(),
    };
    let mut report = Report::new(run, sources.shard, Tally::new(Limits::default()));
    report.add_note(NOT_RUN);
    if arguments.completion.defaults {
        report.add_note(NOT_SIMULATED);
    }
    if arguments.inputs.is_empty() {
        report.add_note(OF_SNAPSHOT);
    }
    for note in unmatched::notes(sets, scanner.operation) {
        output::note(&output::warning(&text!("{}", note)));
        report.add_note(&note);
    }
    if let Some(unbound) = scope.count() {
        report.add_note(&unbound);
    }
    let kept = Checkpoints::open(&arguments.checkpoints, &sources, &mut report)?;
    let (checkpoints, from) = match kept {
        Some((checkpoints, from)) => (Some(checkpoints), from),
        None => (None, None),
    };
    if from.is_some() {
        let scanned = report.tally().total().requests();
        output::note(&text!(
            "continued from the checkpoint, after {} objects\n",
            scanned
        ));
    }
    let mut collector = Collector::new(&arguments.answers, report, user, sources.bytes(), checkpoints);
    // All shards read the state, and one counts what is wrong with it, when it begins.
    let errors = match (sources.shard.index, from) {
        (0, None) => errors.all(),
        _ => &[],
    };
    for error in errors {
        collector.count_error(&error.place, &error.message);
    }
    let start = Arc::new(known.state);
    let produced = sources.clone();
    ordered::in_order(
        ordered::cores(),
        move |intake| produced.give(limits, start, from, &intake),
        |unit, give| scanner.scan(unit, give),
        |scanned| collector.collect(scanned),
    )?;
    collector.end()
}
