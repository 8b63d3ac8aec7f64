//! `pratique scan`: evaluates policies for every object that there is, and reports what they find.
//!
//! The steps are those of a review (`source` reads, `work` evaluates on all cores, `collect` consumes in order), but what comes
//! of an object is only counted, printed, or both: nothing is kept whose size grows with the number of objects.

#[cfg(feature = "kube")]
mod apply;
mod collect;
mod evaluation;
mod human;
mod merge;
pub(crate) mod metrics;
mod plugins;
mod progress;
mod source;
mod state;
mod unmatched;
mod work;
pub(super) mod written;

use std::path::PathBuf;
use std::sync::Arc;

use pratique_arrow::ResultRows;
#[cfg(feature = "kube")]
use pratique_kube::ApiServer;
use pratique_report::{Limits, Report, Run, Shard, Tally};
use pratique_stream::Limits as StreamLimits;
use pratique_types::Operation;

use super::checkpoint::Checkpoints;
#[cfg(feature = "kube")]
use super::cluster_objects::{ClusterObjects, Matched};
use super::digest::Digest;
use super::evaluate::Evaluator;
use super::left_out::NOT_SIMULATED;
use super::phases::Phases;
use super::progress::is_shown;
use super::read::Inputs as FileInputs;
use super::replay::engine::{GivenState, Policies};
use super::request::RequestBuilder;
use super::results::Results;
use super::state::ClusterState;
use super::stored::Stored;
use super::{limits, ordered};
use crate::arguments::{RequestArguments, ScanArguments, ScanFormat, ScanRequestArguments};
use crate::exit::{CliError, ExitStatus};
use crate::input::shown;
use crate::output;
use crate::output::text::text;
use crate::snapshot::StateSource;
use collect::Collector;
pub(crate) use merge::run as report;
use source::{Files, Sources};
use work::Scanner;

/// What a scan leaves out.
const NOT_RUN: &str = "webhooks and built-in plugins are not run";

/// What a scan with plugins leaves out.
const OTHERS_NOT_RUN: &str =
    "webhooks are not run, nor built-in plugins that do not decide about what is there";

/// What a snapshot as the input leaves out.
const OF_SNAPSHOT: &str = "a snapshot has what policies need of a cluster, and not all of its objects";

/// What a cluster as the input leaves out.
#[cfg(feature = "kube")]
const OF_CLUSTER: &str =
    "of the cluster, the kinds were listed that policies match, each at a moment of its own";

/// What is scanned.
enum Inputs {
    Files {
        paths: Vec<PathBuf>,
        files: FileInputs,
    },
    /// A snapshot, which says of a cluster what policies need.
    Snapshot {
        paths: Vec<PathBuf>,
        files: FileInputs,
    },
    #[cfg(feature = "kube")]
    Cluster {
        server: ApiServer,
    },
}

/// Evaluates every object of the inputs as it is read; succeeds if all of them are allowed.
pub(crate) fn run(arguments: &ScanArguments) -> Result<ExitStatus, CliError> {
    let known = &arguments.known;
    let namespace = arguments.request.namespace.as_str();
    let answers = &arguments.answers;
    let lists_objects = answers.output.lists_objects() || answers.results.results.is_some();
    if arguments.checkpoints.checkpoint.is_some() && lists_objects {
        return Err(CliError::NoCheckpoint);
    }
    #[cfg(feature = "kube")]
    if answers.apply && !answers.output.has_reports() {
        return Err(CliError::NothingToApply);
    }
    let operation = match arguments.request.as_update {
        false => Operation::Create,
        true => Operation::Update,
    };
    let settings = plugins::settings(&arguments.chain, operation)?;
    let mut source = StateSource::open(&known.client, known.snapshot.as_deref())?;
    let inputs = Inputs::of(arguments, &source)?;
    #[cfg(feature = "kube")]
    let connected = source.server().cloned();
    let loaded = Policies::load(&arguments.policies, known, &mut source, settings.as_ref())?;
    let Some(mut policies) = loaded else {
        return Ok(ExitStatus::Failure);
    };
    if let Some(started) = &mut policies.plugins {
        started.state.keep_kinds(plugins::is_kept);
    }
    let Policies {
        admission,
        sets,
        scope,
        plugins,
    } = &policies;
    let given_to_plugins = plugins.as_ref().map(|plugins| &plugins.given);
    let others = format!(
        "{:?} {:?} {settings:?} {given_to_plugins:?}",
        arguments.request, arguments.completion
    );
    let given = GivenState::read(source, known, &policies, &[])?;
    let digest = given.digest(Digest::of(known, &others), &[sets]);
    let limits = limits(known.max_input);
    let phases = Phases::of(&arguments.completion);
    let ScanRequestArguments {
        as_update: _,
        namespace: _,
        user,
        groups,
        more_of_user,
    } = &arguments.request;
    let sources = inputs.sources(&policies, operation, arguments)?;
    let (known, errors) = given.known(phases, namespace, |cluster| {
        inputs.survey(&sources, limits, cluster)
    });
    let (stored, _) = Stored::new(&[], namespace);
    // An update is made of its creation.
    let request = RequestArguments::creations(namespace, user, groups, more_of_user);
    let scanner = Scanner {
        builder: RequestBuilder::new(&request, stored),
        operation,
        evaluator: Evaluator::policies(admission, known.authorizer, false),
        admission,
        phases,
        format: arguments.answers.output,
        shard: sources.shard(),
    };
    let run = Run {
        command: "scan".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: inputs.names(),
        operation: operation.as_str().to_owned(),
        policies: digest.text(),
        policy_count: digest.policies,
        can_deny: scope.can_deny(),
    };
    let mut report = Report::new(run, sources.shard(), Tally::new(Limits::default()));
    report.add_note(match settings {
        None => NOT_RUN,
        Some(_) => OTHERS_NOT_RUN,
    });
    if arguments.completion.defaults {
        report.add_note(NOT_SIMULATED);
    }
    if let Some(note) = inputs.note() {
        report.add_note(note);
    }
    for note in unmatched::notes(sets, operation) {
        output::note(&output::warning(&text!("{}", note)));
        report.add_note(&note);
    }
    if let Some(unbound) = scope.count() {
        report.add_note(&unbound);
    }
    let (checkpoints, from) = Checkpoints::open(&arguments.checkpoints, || sources.states(), &mut report)?;
    let total = sources.total(is_shown(arguments.answers.output == ScanFormat::Ndjson));
    let mut collector = Collector::new(&arguments.answers, report, user, total, checkpoints);
    #[cfg(feature = "kube")]
    if answers.apply {
        let client = &arguments.known.client;
        let connect = || crate::snapshot::connect(client.kubeconfig.as_deref(), client.context.as_deref());
        collector.server = Some(connected.map_or_else(connect, Ok)?);
    }
    collector.results = Results::open(&answers.results, answers.output.columns(), ResultRows::new)?;
    // All shards read the state, and one counts what is wrong with it, when it begins.
    let errors = match (sources.shard().index, &from) {
        (0, None) => errors.all(),
        _ => &[],
    };
    for error in errors {
        collector.count_error(&error.place, &error.message)?;
    }
    let start = Arc::new(known.state);
    let scanned = ordered::in_order(
        ordered::cores(),
        move |intake| sources.give(limits, start, from, &intake),
        |unit, give| scanner.scan(unit, give),
        |scanned| collector.collect(scanned),
    );
    #[cfg(feature = "kube")]
    if matches!(scanned, Err(CliError::Cluster { .. })) {
        collector.lost();
        return scanned.map(|()| ExitStatus::Success);
    }
    scanned?;
    collector.end()
}

impl Inputs {
    /// The files that are named, or else the cluster, or else the snapshot.
    fn of(arguments: &ScanArguments, source: &StateSource) -> Result<Self, CliError> {
        #[cfg(feature = "kube")]
        if let ([], Some(server)) = (arguments.inputs.as_slice(), source.server()) {
            let server = server.clone();
            return Ok(Inputs::Cluster { server });
        }
        let _ = source;
        match (arguments.inputs.as_slice(), &arguments.known.snapshot) {
            ([], Some(snapshot)) => {
                let paths = vec![snapshot.clone()];
                let files = FileInputs::of(&paths, None)?;
                Ok(Inputs::Snapshot { paths, files })
            }
            ([], None) => Err(CliError::NoScanInput),
            (inputs, _) => {
                let paths = inputs.to_vec();
                let files = FileInputs::of(&paths, None)?;
                Ok(Inputs::Files { paths, files })
            }
        }
    }

    /// The parts of the inputs that are scanned.
    fn sources(
        &self,
        policies: &Policies,
        operation: Operation,
        arguments: &ScanArguments,
    ) -> Result<Sources, CliError> {
        let shard = arguments.shard.unwrap_or(Shard::WHOLE);
        #[cfg(not(feature = "kube"))]
        let _ = (policies, operation);
        match self {
            Inputs::Files { files, .. } | Inputs::Snapshot { files, .. } => {
                Files::of(files, shard).map(Sources::Files)
            }
            #[cfg(feature = "kube")]
            Inputs::Cluster { server } => {
                let names: Vec<&str> = policies.admission.plugin_names().collect();
                let matched = Matched {
                    sets: &[&policies.sets],
                    operation,
                    by_others: &|resource| names.iter().any(|name| plugins::concerns(name, resource)),
                };
                let objects = Box::new(ClusterObjects::of(server, &matched, &arguments.list)?);
                Ok(Sources::Cluster { objects, shard })
            }
        }
    }

    /// Adds what the inputs say of the cluster to what is known of it; a cluster was asked before.
    fn survey(&self, sources: &Sources, limits: StreamLimits, cluster: &mut ClusterState) {
        if cluster.plugins().is_some() {
            cluster.surveyed = plugins::SURVEYED;
        }
        match (self, sources) {
            (
                Inputs::Files { files: inputs, .. } | Inputs::Snapshot { files: inputs, .. },
                Sources::Files(files),
            ) => state::survey(inputs, files, limits, cluster),
            // A namespace that was created since is one of which only the name is known.
            #[cfg(feature = "kube")]
            _ => cluster.objects.assume_namespaces(),
        }
    }

    /// How they are named in the report.
    fn names(&self) -> Vec<String> {
        match self {
            Inputs::Files { paths, .. } | Inputs::Snapshot { paths, .. } => {
                paths.iter().map(|path| shown(path)).collect()
            }
            #[cfg(feature = "kube")]
            Inputs::Cluster { server } => vec![server.url().trim_end_matches('/').to_owned()],
        }
    }

    /// What the report says of them.
    fn note(&self) -> Option<&'static str> {
        match self {
            Inputs::Files { .. } => None,
            Inputs::Snapshot { .. } => Some(OF_SNAPSHOT),
            #[cfg(feature = "kube")]
            Inputs::Cluster { .. } => Some(OF_CLUSTER),
        }
    }
}
