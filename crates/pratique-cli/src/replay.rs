//! `pratique replay`: evaluates policies for the requests of an audit log, and compares with what happened then.
//!
//! The steps are those of a review: `work` reads the logs and evaluates on all cores, `collect` counts and prints in order. What
//! `engine` loads, `impact` uses twice.

mod collect;
mod comparison;
pub(super) mod counters;
mod counts;
pub(super) mod decision;
pub(super) mod engine;
pub(super) mod faults;
mod finding;
pub(super) mod log;
pub(super) mod possible;
pub(crate) mod replay_error;
mod report;
mod row;
pub(super) mod share;
pub(super) mod subject;
pub(super) mod units;
mod work;

use std::sync::Arc;

use pratique_arrow::ResultRows;

use crate::acceptance::AcceptanceRules;
use crate::arguments::{ReplayArguments, ReplayFormat, tell_unprinted};
use crate::destination;
use crate::evaluation::results::ResultWriters;
use crate::evaluation::summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary, sources_of};
use crate::exit::{CliError, ExitStatus};
use crate::input::{FileSelection, format_paths};
use crate::output::notice::InputNotices;
use crate::output_target::{self, OutputTarget};
use crate::snapshot::StateSource;
use crate::stream::checkpoint::CheckpointWriter;
use crate::stream::digest::RunDigest;
use crate::stream::input_limits;
use crate::stream::ordered_work;
use crate::stream::read::UserInputs;
use collect::ReplayCollector;
use engine::{ReadyPolicies, ReplayEngine, StateInputs};
use faults::CountedFaults;
use log::LogReader;
use report::ReplayReport;
use share::ReadShare;
use units::LogPieces;
use work::ReplayWorker;

/// The namespace of objects of the cluster that name none.
const NAMESPACE: &str = "default";

/// Evaluates policies for every request of the logs; succeeds if none that was allowed is refused.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<ExitStatus, CliError> {
    let answers = &arguments.answers;
    let choices = answers.outputs.choices()?;
    output_target::verify(&choices)?;
    let written = answers.comparison.page.iter().chain(&answers.results.results);
    destination::verify(written.chain(&arguments.checkpoints.checkpoint))?;
    // A file of requests is written as a whole: one that is continued would lack the requests of before.
    let lists_requests = |format: &ReplayFormat| match format {
        ReplayFormat::Human => !answers.summary,
        ReplayFormat::Ndjson => true,
        ReplayFormat::Json | ReplayFormat::Parquet | ReplayFormat::Arrow => false,
    };
    let written = choices.iter().filter(|choice| choice.file.is_some());
    let writes_rows = answers.outputs.any(|format| format.columns().is_some())
        || written.map(|choice| &choice.format).any(lists_requests)
        || answers.results.results.is_some();
    if arguments.checkpoints.checkpoint.is_some() && writes_rows {
        return Err(CliError::NoCheckpoint);
    }
    let is_part = arguments.checkpoints.checkpoint.is_some();
    let mut acceptance = AcceptanceRules::read_for_run(&arguments.acceptance, "replay", is_part)?;
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let inputs = UserInputs::of_logs(&arguments.logs, &files)?;
    let state = &arguments.state;
    let mut source = StateSource::open(&state.client, state.snapshot.as_deref())?;
    let state = &state.of_server(&source)?;
    let is_listed = answers.outputs.is_printed(ReplayFormat::Human);
    let of_server = state.gates.report(is_listed);
    let state_name = source.name();
    let Some(policies) = ReadyPolicies::load(&arguments.policies, &files, state, &mut source, None)? else {
        tell_unprinted(&of_server, is_listed);
        return Ok(ExitStatus::Failure);
    };
    acceptance.add_policies(&policies.sets, state.gates.feature_gates.release());
    let inputs_of_state = StateInputs::read(source, state, &policies, &[], &files)?;
    let others = format!("{:?}{}", arguments.memory, acceptance.digest());
    let digest = inputs_of_state.digest(RunDigest::new(state, &others), &[&policies.sets]);
    let run = digest.run(
        "replay",
        format_paths(&arguments.logs),
        "",
        policies.scope.can_deny(),
    );
    let mut notices = InputNotices::default();
    // These were told before.
    notices.extend(of_server);
    notices.extend(inputs_of_state.notices());
    notices.extend(policies.scope.notices());
    acceptance.notices().for_each(|notice| notices.tell(notice));
    let evaluated = EvaluationSummary::new(&EvaluationFacts {
        policies: vec![EvaluatedPolicies {
            label: "",
            sources: sources_of(&arguments.policies, false, &state_name),
            builtin: policies.builtin,
            sets: &policies.sets,
            scope: &policies.scope,
        }],
        completes: true,
        validates: arguments.validation.validation,
        plugins: 0,
        calls_webhooks: false,
        servers: vec![state.gates.feature_gates],
    });
    let (cluster, errors) = inputs_of_state.into_cluster_of_requests(NAMESPACE, arguments.validation, |_| {});
    let mut report = ReplayReport::new(run, CountedFaults::new(errors));
    let (checkpoints, from) =
        CheckpointWriter::open(&arguments.checkpoints, || inputs.states(), &mut report)?;
    let engine = ReplayEngine { policies, cluster };
    let limits = input_limits(arguments.state.max_input);
    let (results, outputs) = ResultWriters::open_outputs(
        &answers.results,
        choices,
        ReplayFormat::columns,
        ResultRows::of_replay,
    )?;
    let worker = ReplayWorker {
        engine: &engine,
        evaluator: engine.evaluator(false),
        log: LogReader::new(&engine.cluster, arguments.memory.remember),
        findings: outputs
            .iter()
            .find(|output| output.format == ReplayFormat::Human && !answers.summary)
            .map(OutputTarget::style),
        prints_lines: answers.outputs.has(ReplayFormat::Ndjson),
        release: state.gates.feature_gates.release(),
        acceptance: &acceptance,
    };
    let share = ReadShare::new(&inputs);
    let pieces = LogPieces {
        limits,
        share: Arc::clone(&share),
        from,
        remembers: worker.log.remembers(),
    };
    let mut collector = ReplayCollector::new(answers, &acceptance, evaluated, report, share, checkpoints);
    notices.extend(files.notices());
    collector.notices = notices;
    collector.passed_over = files.passed_over();
    collector.lists_passed_over = arguments.files.verbose;
    collector.outputs = outputs;
    collector.results = results;
    ordered_work::in_order(
        worker.log.threads(),
        move |sender| pieces.send(&inputs, &sender),
        |unit, emit| worker.replay(unit, emit),
        |part| collector.collect(part),
    )?;
    let forgotten = worker.log.forgotten();
    collector.end(&engine.policies.scope, forgotten)
}
