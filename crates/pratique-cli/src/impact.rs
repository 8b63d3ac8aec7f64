//! `pratique impact`: evaluates two sets of policies for the same requests, and reports which decisions change.

pub(super) mod change;
mod collect;
pub(crate) mod impact_error;
pub(super) mod part;
mod report;
mod sets;
pub(super) mod source;
pub(super) mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique_review::PodPolicies;
use pratique_schema::FeatureGates;
use pratique_types::Operation;

use crate::acceptance::AcceptanceRules;
use crate::arguments::{ImpactArguments, ImpactFormat, RequestArguments, tell_unprinted};
use crate::destination;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary};
use crate::evaluation::unmatched_policies;
use crate::exit::{CliError, ExitStatus};
use crate::input::rendering::name_stdin;
use crate::input::sources::{report_sources, summary};
use crate::input::{self, FileSelection};
use crate::output;
use crate::output::notice::InputNotices;
use crate::output::text::text;
use crate::output_target::{self, OutputTarget, style_of};
use crate::replay::engine::{ReadyPolicies, ReplayEngine, StateInputs};
use crate::replay::faults::CountedFaults;
use crate::replay::log::LogReader;
use crate::replay::units::LogPieces;
use crate::snapshot::StateSource;
use crate::snapshot::snapshot_error::SnapshotError;
use crate::stream::checkpoint::CheckpointWriter;
use crate::stream::digest::RunDigest;
use crate::stream::input_limits;
use crate::stream::object_source::ObjectSource;
use crate::stream::ordered_work;
use crate::stream::progress::is_shown;
use crate::stream::stored_objects::StoredObjects;
use collect::ImpactCollector;
use part::{InputComparison as _, WorkloadScope};
use report::ImpactReport;
use source::{ImpactSources, ListChoice};
use work::{ImpactWorker, PolicySide};

/// Evaluates both sets of policies for all inputs; succeeds unless too many requests are newly refused.
pub(crate) fn run(arguments: &ImpactArguments) -> Result<ExitStatus, CliError> {
    let page = arguments.answers.comparison.page.iter();
    destination::verify(page.chain(&arguments.checkpoints.checkpoint))?;
    let choices = arguments.answers.outputs.choices()?;
    output_target::verify(&choices)?;
    let is_part = arguments.checkpoints.checkpoint.is_some();
    // A file of lines is written as a whole: one that is continued would lack the lines of before.
    if is_part && arguments.answers.outputs.is_written(ImpactFormat::Ndjson) {
        return Err(CliError::NoCheckpoint);
    }
    let mut acceptance = AcceptanceRules::read_for_run(&arguments.acceptance, "impact", is_part)?;
    let state = &arguments.state;
    let state_source = StateSource::open(&state.client, state.snapshot.as_deref())?;
    let state = &state.of_server(&state_source)?;
    let is_listed = arguments.answers.outputs.is_printed(ImpactFormat::Human);
    let of_server = state.gates.report(is_listed);
    let stdin = arguments.stdin.stdin_filename.as_deref();
    name_stdin(stdin);
    let source = ObjectSource::new(&arguments.inputs, state, &state_source, "compare")?;
    let files = FileSelection::new(&arguments.excluded.exclude)?;
    let Some((old, new)) = sets::load(arguments, state, &files)? else {
        tell_unprinted(&of_server, is_listed);
        return Ok(ExitStatus::Failure);
    };
    acceptance.add_policies(&new.sets, state.gates.feature_gates.release());
    let inputs_of_state = StateInputs::read(state_source, state, &new, &[&old], &files)?;
    let choice = ListChoice {
        workloads: &arguments.workloads,
        all_kinds: false,
        #[cfg(feature = "kube")]
        list: &arguments.list,
    };
    let mut sources = ImpactSources::resolve((&source, stdin), [&old, &new], choice, &files)?;
    let ImpactArguments {
        sender,
        memory,
        answers,
        ..
    } = arguments;
    let others = format!(
        "{sender:?} {memory:?} {:?} {}{}",
        arguments.workloads,
        answers.explain,
        acceptance.digest()
    );
    let digest = inputs_of_state.digest(RunDigest::new(state, &others), &[&old.sets, &new.sets]);
    let run = digest.run("impact", source.names(), "", new.scope.can_deny());
    let passed_over = files.passed_over();
    if arguments.files.verbose {
        output::eprint(&passed_over.to_text(true));
    }
    let mut notes = notes(&source, [&old, &new]);
    report_sources(sources.not_evaluated());
    notes.extend(summary(sources.not_evaluated()));
    notes.extend(passed_over.line());
    let limits = input_limits(state.max_input);
    let mut notices = InputNotices::default();
    // These were told before.
    notices.extend(of_server);
    notices.extend(inputs_of_state.notices());
    notices.extend([&old, &new].into_iter().flat_map(|side| side.scope.notices()));
    let mut changes = Vec::new();
    let (cluster, errors) =
        inputs_of_state.into_cluster_of_requests(&sender.namespace, arguments.validation, |state| {
            changes = sources.survey(limits, state);
        });
    changes.into_iter().for_each(|change| notices.tell(change));
    acceptance.notices().for_each(|notice| notices.tell(notice));
    notices.extend(files.notices());
    let mut report = ImpactReport::new(run, CountedFaults::new(errors), notes, notices);
    let (checkpoints, from) =
        CheckpointWriter::open(&arguments.checkpoints, || sources.states(), &mut report)?;
    let old = ReplayEngine {
        policies: old,
        cluster: Arc::clone(&cluster),
    };
    let new = ReplayEngine {
        policies: new,
        cluster: Arc::clone(&cluster),
    };
    let (stored, _) = StoredObjects::new(&[], &sender.namespace);
    let request = RequestArguments::creations(sender);
    let side = |engine| PolicySide {
        engine,
        evaluator: ReplayEngine::evaluator(engine, false),
    };
    let both = [&old, &new].map(|engine| &engine.policies);
    let sets = both.into_iter().flat_map(|policies| &policies.sets);
    let pod_policies = PodPolicies::new(sets.map(|(_, set)| set), false);
    let is_evaluated = both.iter().any(|policies| policies.scope.can_deny());
    let release = state.gates.feature_gates.release();
    let worker = ImpactWorker {
        old: side(&old),
        new: side(&new),
        explains: answers.explain.then(|| new.evaluator(true)),
        // A checkpoint keeps explanations without colours.
        style: style_of(checkpoints.is_none() && answers.outputs.is_printed(ImpactFormat::Human)),
        builder: RequestBuilder::new(&request, stored),
        workloads: WorkloadScope {
            expansion: ExpansionRule::new(release, &arguments.workloads, &pod_policies, is_evaluated),
            is_of_files: matches!(sources, ImpactSources::Files(_)),
        },
        log: LogReader::new(&cluster, memory.remember),
        rendered: sources.take_rendered(),
        acceptance: &acceptance,
    };
    let share = sources.share(is_shown(answers.outputs.is_printed(ImpactFormat::Ndjson)));
    let pieces = LogPieces {
        limits,
        share: Arc::clone(&share),
        from,
        remembers: worker.log.remembers(),
    };
    let evaluated = evaluated(
        arguments,
        state.gates.feature_gates,
        [&old.policies, &new.policies],
    );
    let mut collector = ImpactCollector::new(answers, &acceptance, evaluated, report, share, checkpoints);
    collector.outputs = OutputTarget::open_all(&choices)?;
    let compared = ordered_work::in_order(
        worker.log.threads(),
        move |sender| sources.send(&pieces, &sender),
        |unit, emit| worker.compare(unit, emit),
        |part| collector.collect(part),
    );
    #[cfg(feature = "kube")]
    if matches!(compared, Err(CliError::Snapshot(SnapshotError::Cluster { .. }))) {
        collector.lost();
    }
    compared?;
    if let Some(notice) = worker.rendered.missing_notice() {
        collector.report.notices.tell(notice);
    }
    collector.end(&pod_policies)
}

/// What is evaluated of the policies that are compared.
fn evaluated(
    arguments: &ImpactArguments,
    gates: FeatureGates,
    [old, new]: [&ReadyPolicies; 2],
) -> EvaluationSummary {
    let named = &arguments.sets;
    let of_revision = |revision: &Option<String>| {
        let paths = input::format_paths(&named.policies);
        match revision {
            Some(revision) => paths.iter().map(|path| format!("{revision}:{path}")).collect(),
            None => paths,
        }
    };
    let (old_sources, new_sources) = match named.old_rev {
        Some(_) => (of_revision(&named.old_rev), of_revision(&named.new_rev)),
        None => (
            input::format_paths(&named.old),
            input::format_paths(named.new_paths()),
        ),
    };
    EvaluationSummary::new(&EvaluationFacts {
        policies: vec![side("old", old_sources, old), side("new", new_sources, new)],
        completes: true,
        validates: arguments.validation.validation,
        plugins: 0,
        calls_webhooks: false,
        servers: vec![gates],
    })
}

fn side<'p>(label: &'static str, sources: Vec<String>, policies: &'p ReadyPolicies) -> EvaluatedPolicies<'p> {
    EvaluatedPolicies {
        label,
        sources,
        builtin: None,
        sets: &policies.sets,
        scope: &policies.scope,
    }
}

/// Reports what a comparison leaves out whose inputs are the objects of a cluster or snapshot.
fn notes(source: &ObjectSource, sets: [&ReadyPolicies; 2]) -> BTreeSet<String> {
    let Some(of_source) = source.note() else {
        return BTreeSet::new();
    };
    let help = "those of updates and deletions are for audit logs";
    let unmatched = unmatched_policies::note(&sets.map(|policies| &policies.sets), Operation::Create, help);
    if let Some(note) = &unmatched {
        output::eprint(&output::warning(&text!("{}", note)));
    }
    std::iter::once(of_source.to_owned()).chain(unmatched).collect()
}
