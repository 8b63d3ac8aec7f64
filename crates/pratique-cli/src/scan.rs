//! `pratique scan`: evaluates policies for every object that there is, and reports what they find.
//!
//! The steps are those of a review (`source` reads, `work` evaluates on all cores, `collect` consumes in order), but what comes
//! of an object is only counted, printed, or both: nothing is kept whose size grows with the number of objects.

#[cfg(feature = "kube")]
mod apply;
mod collect;
mod counts;
mod ending;
mod evaluation;
mod human;
mod merge;
pub(crate) mod metrics;
mod plugins;
pub(super) mod report_files;
pub(crate) mod scan_error;
mod source;
mod work;

use std::path::Path;
use std::sync::Arc;

use pratique_arrow::ResultRows;
use pratique_report::{InputShard, Limits, Report, Tally};
use pratique_review::PodPolicies;
use pratique_stream::Limits as StreamLimits;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::acceptance::AcceptanceRules;
use crate::arguments::{RequestArguments, ScanArguments, ScanFormat, tell_unprinted};
use crate::destination;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::phases::ObjectPhases;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::results::ResultWriters;
use crate::evaluation::state::{ClusterState, OF_CLUSTER_TO_PLUGINS};
use crate::evaluation::summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary, sources_of};
use crate::evaluation::unmatched_policies;
use crate::exit::{CliError, ExitStatus};
use crate::input::FileSelection;
use crate::input::rendering::name_stdin;
use crate::input::sources::{report_sources, summary};
use crate::output;
use crate::output::notice::InputNotice;
use crate::output::text::text;
use crate::output_target;
use crate::project;
use crate::replay::engine::{ReadyPolicies, StateInputs};
use crate::scan::scan_error::ScanError;
use crate::snapshot::StateSource;
use crate::snapshot::snapshot_error::SnapshotError;
use crate::stream::checkpoint::CheckpointWriter;
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{ClusterObjects, MatchedObjects};
use crate::stream::digest::RunDigest;
use crate::stream::input_limits;
use crate::stream::object_source::ObjectSource;
use crate::stream::ordered_work;
use crate::stream::progress::is_shown;
use crate::stream::read::UserInputs as FileInputs;
use crate::stream::stored_objects::StoredObjects;
use collect::ScanCollector;
use counts::ScanCounts;
pub(crate) use merge::run as report;
use pratique_review::{PolicyRecord, Reviewer};
use source::{ScanFiles, ScanSources};
use work::ObjectScanner;

/// The note on what a scan leaves out.
const NOT_RUN: &str = "webhooks and built-in plugins are not run";

/// The note on what a scan with plugins leaves out.
const OTHERS_NOT_RUN: &str =
    "webhooks are not run, nor built-in plugins that do not decide about what is there";

/// The inputs of a scan.
struct ScanInputs {
    source: ObjectSource,
    files: FileInputs,
}

/// Evaluates every object of the inputs as it is read; succeeds if all of them are allowed.
pub(crate) fn run(arguments: &ScanArguments) -> Result<ExitStatus, CliError> {
    let state = &arguments.state;
    let sender = &arguments.sender;
    let answers = &arguments.answers;
    let choices = answers.outputs.choices()?;
    output_target::verify(&choices)?;
    let reports = answers.reports.files.iter().chain(&answers.reports.metrics_file);
    let rows = reports.chain(&answers.results.results);
    destination::verify(rows.chain(&arguments.checkpoints.checkpoint))?;
    // A file of lines is written as a whole: one that is continued would lack the lines of before.
    let lists_objects = answers.outputs.any(ScanFormat::lists_objects)
        || answers.outputs.is_written(ScanFormat::Ndjson)
        || answers.results.results.is_some();
    if arguments.checkpoints.checkpoint.is_some() && lists_objects {
        return Err(CliError::NoCheckpoint);
    }
    #[cfg(feature = "kube")]
    if answers.apply && !answers.outputs.any(|format| format.report_api().is_some()) {
        return Err(CliError::Scan(ScanError::NothingToApply));
    }
    let operation = if arguments.as_update {
        Operation::Update
    } else {
        Operation::Create
    };
    let settings = plugins::settings(&arguments.chain, operation)?;
    let is_part = arguments.shard.is_some() || arguments.checkpoints.checkpoint.is_some();
    let mut acceptance = AcceptanceRules::read_for_run(&arguments.acceptance, "scan", is_part)?;
    let mut source = StateSource::open(&state.client, state.snapshot.as_deref())?;
    let state = &state.of_server(&source)?;
    let is_listed = answers.outputs.is_printed(ScanFormat::Human);
    let of_server = state.gates.report(is_listed);
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let stdin = arguments.stdin.stdin_filename.as_deref();
    name_stdin(stdin);
    let mut inputs = ScanInputs::resolve(
        ObjectSource::new(&arguments.inputs, state, &source, "scan")?,
        &files,
        stdin,
    )?;
    #[cfg(feature = "kube")]
    let connected = source.server().cloned();
    let state_name = source.name();
    let loaded = ReadyPolicies::load(&arguments.policies, &files, state, &mut source, settings.as_ref())?;
    let Some(mut policies) = loaded else {
        tell_unprinted(&of_server, is_listed);
        return Ok(ExitStatus::Failure);
    };
    if let Some(started) = &mut policies.plugins {
        started.state.keep_kinds(plugins::is_kept);
    }
    let ReadyPolicies {
        admission,
        sets,
        scope,
        builtin,
        plugins,
    } = &policies;
    acceptance.add_policies(sets, state.gates.feature_gates.release());
    let configurations = plugins.as_ref().map(|plugins| &plugins.configurations);
    let others = format!(
        "{sender:?} {:?} {:?} {settings:?} {configurations:?}{}",
        arguments.completion,
        arguments.workloads,
        acceptance.digest()
    );
    let inputs_of_state = StateInputs::read(source, state, &policies, &[], &files)?;
    let digest = inputs_of_state.digest(RunDigest::new(state, &others), &[sets]);
    let limits = input_limits(state.max_input);
    let phases = ObjectPhases::for_objects(&arguments.completion);
    let sources = inputs.sources(&policies, operation, arguments)?;
    let mut changes = Vec::new();
    let of_state = inputs_of_state.notices();
    let (cluster, errors) = inputs_of_state.into_cluster(phases, &sender.namespace, |cluster| {
        changes = inputs.survey(&sources, limits, cluster);
    });
    changes
        .iter()
        .for_each(|change: &InputNotice| output::eprint(&change.to_text()));
    let (stored, _) = StoredObjects::new(&[], &sender.namespace);
    // An update is made of its creation.
    let request = RequestArguments::creations(sender);
    let record = if answers.outputs.any(|format| format.report_api().is_some()) {
        PolicyRecord::Matches
    } else {
        PolicyRecord::Decisions
    };
    let is_of_files = matches!(inputs.source, ObjectSource::Paths(_));
    let mut evaluator = Reviewer::policies(admission, cluster.authorizer)
        .recording(record)
        .with_preparation(phases.preparation);
    let prints_lines = answers.outputs.has(ScanFormat::Ndjson);
    let shows_fields = prints_lines || answers.outputs.any(ScanFormat::lists_records);
    if !shows_fields {
        evaluator = evaluator.without_explained_causes();
    }
    // What a cluster has does not contradict itself. A run that goes on after an interruption says what it would have said without.
    if is_of_files {
        let is_part = sources.shard().of > 1 || arguments.checkpoints.checkpoint.is_some();
        evaluator = evaluator.keeping_services(is_part);
    }
    let pod_policies = PodPolicies::new(sets.iter().map(|(_, set)| set), builtin.is_some())
        .with_plugins(admission.plugin_names());
    let is_evaluated = scope.can_deny() || settings.is_some();
    let expansion = ExpansionRule::new(
        state.gates.feature_gates.release(),
        &arguments.workloads,
        &pod_policies,
        is_evaluated,
    );
    // An update that changes nothing makes no Pods.
    let expansion = match operation {
        Operation::Update => expansion.of_unchanged_objects(),
        _ => expansion,
    };
    let scanner = ObjectScanner {
        builder: RequestBuilder::new(&request, stored),
        operation,
        evaluator,
        admission,
        prints_lines,
        shows_fields,
        expansion,
        is_of_files,
        has_pods: inputs.source.has_pods(),
        shard: sources.shard(),
        acceptance: &acceptance,
        rendered: std::mem::take(&mut inputs.files.rendered),
    };
    let run = digest.run(
        "scan",
        inputs.source.names(),
        operation.as_str(),
        scope.can_deny(),
    );
    let mut report = Report::new(run, sources.shard(), Tally::new(Limits::default()));
    report.add_note(match settings {
        None => NOT_RUN,
        Some(_) => OTHERS_NOT_RUN,
    });
    if let Some(note) = inputs.source.note() {
        report.add_note(note);
    }
    let passed_over = files.passed_over();
    if arguments.files.verbose {
        output::eprint(&passed_over.to_text(true));
    }
    if let Some(note) = passed_over.line() {
        report.add_note(&note);
    }
    let help = match operation {
        Operation::Create => "with --as-update, those of updates are",
        _ => "without --as-update, those of creations are",
    };
    if let Some(note) = unmatched_policies::note(&[sets], operation, help) {
        output::eprint(&output::warning(&text!("{}", note)));
        report.add_note(&note);
    }
    scope.counts().for_each(|count| report.add_note(&count));
    report_sources(&inputs.files.sources);
    if let Some(note) = summary(&inputs.files.sources) {
        report.add_note(&note);
    }
    let mut counts = ScanCounts::new(report);
    let (checkpoints, from) =
        CheckpointWriter::open(&arguments.checkpoints, || sources.states(), &mut counts)?;
    let total = sources.total(is_shown(answers.outputs.is_printed(ScanFormat::Ndjson)));
    let mut collector = ScanCollector::new(
        (&arguments.answers, &acceptance),
        counts,
        &sender.user,
        total,
        checkpoints,
    );
    #[cfg(feature = "kube")]
    if answers.apply {
        let client = &arguments.state.client;
        let connect = || crate::snapshot::connect(client.kubeconfig.as_deref(), client.context.as_deref());
        collector.server = Some(connected.map_or_else(connect, Ok)?);
    }
    collector.sources.clone_from(&inputs.files.sources);
    (collector.results, collector.outputs) =
        ResultWriters::open_outputs(&answers.results, choices, ScanFormat::columns, ResultRows::new)?;
    // All shards read the state, and one counts what is wrong with it, when it begins.
    if let (0, None) = (sources.shard().index, &from) {
        for error in errors.as_slice() {
            collector.count_error(&error.place, &error.message)?;
        }
    }
    collector.of_state = errors;
    let told = of_server.into_iter().chain(of_state);
    let told = told.chain(changes).chain(files.notices());
    let told = told.chain(scope.notices()).chain(project::notices("scan"));
    told.for_each(|notice| collector.add_notice(notice));
    for notice in acceptance.notices() {
        output::eprint(&notice.to_text());
        collector.add_notice(notice);
    }
    let facts = EvaluationFacts {
        policies: vec![EvaluatedPolicies {
            label: "",
            sources: sources_of(&arguments.policies, false, &state_name),
            builtin: *builtin,
            sets,
            scope,
        }],
        completes: arguments.completion.defaults,
        validates: phases.preparation.validates && arguments.completion.defaults,
        plugins: admission.plugin_names().count(),
        calls_webhooks: false,
        servers: vec![state.gates.feature_gates],
    };
    collector.set_evaluated(EvaluationSummary::new(&facts));
    collector.set_release(state.gates.feature_gates.release());
    let start = Arc::new(cluster.state);
    let scanned = ordered_work::in_turns(
        ordered_work::cores(),
        move |sender| sources.send(limits, start, from, &sender),
        |unit, turn, emit| scanner.scan(unit, turn, emit),
        |scanned| collector.collect(scanned),
    );
    #[cfg(feature = "kube")]
    if matches!(scanned, Err(CliError::Snapshot(SnapshotError::Cluster { .. }))) {
        collector.lost();
    }
    scanned?;
    if let Some(notice) = scanner.rendered.missing_notice() {
        output::eprint(&notice.to_text());
        collector.add_notice(notice);
    }
    collector.end(&pod_policies)
}

impl ScanInputs {
    /// The inputs of a source; `stdin` is what standard input stands for.
    fn resolve(source: ObjectSource, files: &FileSelection, stdin: Option<&Path>) -> Result<Self, CliError> {
        let mut files = FileInputs::resolve(source.paths(), None, files)?;
        files.leave_out_repeated();
        files.expect_rendered(stdin);
        Ok(ScanInputs { source, files })
    }

    /// The parts of the inputs that are scanned.
    fn sources(
        &self,
        policies: &ReadyPolicies,
        operation: Operation,
        arguments: &ScanArguments,
    ) -> Result<ScanSources, CliError> {
        let shard = arguments.shard.unwrap_or(InputShard::WHOLE);
        #[cfg(feature = "kube")]
        if let ObjectSource::Cluster(server) = &self.source {
            let names: Vec<&str> = policies.admission.plugin_names().collect();
            let matched = MatchedObjects {
                sets: &[&policies.sets],
                operation,
                by_others: &|served: &ServedResource| {
                    let resource = served.resource.group_resource();
                    let mut names = names.iter();
                    names.any(|name| plugins::concerns(name, &resource))
                        || arguments.workloads.always_expands(&served.kind)
                },
            };
            let objects = Box::new(ClusterObjects::new(server, &matched, &arguments.list)?);
            return Ok(ScanSources::Cluster { objects, shard });
        }
        let _ = (policies, operation);
        ScanFiles::new(&self.files, shard).map(ScanSources::Files)
    }

    /// Adds what the inputs say of the cluster to what is known of it; a cluster was asked before.
    /// Gives notices of namespaces that they change.
    fn survey(
        &self,
        sources: &ScanSources,
        limits: StreamLimits,
        cluster: &mut ClusterState,
    ) -> Vec<InputNotice> {
        if cluster.plugins().is_some() {
            cluster.surveyed = &OF_CLUSTER_TO_PLUGINS;
        }
        match sources {
            ScanSources::Files(_) => self.files.survey(limits, cluster, None),
            // A namespace that was created since is one of which only the name is known.
            #[cfg(feature = "kube")]
            ScanSources::Cluster { .. } => {
                cluster.view.objects.assume_namespaces();
                Vec::new()
            }
        }
    }
}
