//! `pratique upgrade`: evaluates requests as servers of two releases do, and reports what the new one breaks and changes.
//!
//! The steps are those of `impact`, whose inputs it reads: `policies` loads, `work` evaluates on all cores and `compare` tells what
//! differs, `collect` counts and prints in order. What depends on no request is in `webhooks`, `unmatched_rules`,
//! `server_command` and `versions`.

mod collect;
mod compare;
mod finding;
mod outputs;
mod policies;
mod report;
mod server_command;
mod unmatched_rules;
pub(crate) mod upgrade_error;
mod versions;
mod webhooks;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique_review::{PodPolicies, PolicyRecord};
use pratique_schema::{FeatureGates, Release};
use pratique_types::Operation;

use crate::arguments::{
    GateArguments, RequestArguments, StateArguments, UpgradeArguments, UpgradeFormat, report_server,
};
use crate::destination;
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary, sources_of};
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::evaluation::unmatched_policies;
use crate::exit::{CliError, ExitStatus};
use crate::impact::part::{InputComparison as _, WorkloadScope};
use crate::impact::source::{ImpactSources, ListChoice};
use crate::input::FileSelection;
use crate::input::rendering::name_stdin;
use crate::input::sources::{report_sources, summary};
use crate::output;
use crate::output::notice::{InputNotice, InputNotices, NOT_EVALUATED};
use crate::output::problems;
use crate::output::text::text;
use crate::output_target::{self, OutputTarget};
use crate::policies::{has_static, unread_manifests};
use crate::project;
use crate::replay::engine::{ReadyPolicies, ReplayEngine, StateInputs};
use crate::replay::faults::CountedFaults;
use crate::replay::log::LogReader;
use crate::replay::units::LogPieces;
use crate::snapshot::StateSource;
use crate::stream::input_limits;
use crate::stream::object_source::ObjectSource;
use crate::stream::ordered_work;
use crate::stream::progress::{ProgressLine, is_shown};
use crate::stream::read::UserInputs;
use crate::stream::repeated_objects::NamedInputs;
use crate::stream::stored_objects::StoredObjects;
use collect::UpgradeCollector;
use finding::UpgradeFinding;
use policies::{PolicyPair, is_named};
use report::UpgradeReport;
use server_command::{ServerCommand, accepted_gates, gate_refusals};
use upgrade_error::UpgradeError;
use work::{UpgradeSide, UpgradeWorker};

/// The text that every manifest of a kube-apiserver has.
const SERVER: &str = "kube-apiserver";

/// The note on what a cluster as the input leaves out.
#[cfg(feature = "kube")]
const OF_CLUSTER: &str =
    "of the cluster, each kind was listed in the version that it prefers, at a moment of its own";

/// Compares what servers of both releases do; succeeds unless something breaks.
pub(crate) fn run(arguments: &UpgradeArguments) -> Result<ExitStatus, CliError> {
    destination::verify(&arguments.answers.page)?;
    let choices = arguments.answers.outputs.choices()?;
    output_target::verify(&choices)?;
    let mut state_source = StateSource::open(&arguments.state.client, arguments.state.snapshot.as_deref())?;
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let has_others = is_named(&arguments.policies) && arguments.inputs.is_empty() && is_none(&state_source);
    let source = if has_others {
        ObjectSource::Paths(Vec::new())
    } else {
        ObjectSource::new(&arguments.inputs, &arguments.state, &state_source, "compare")?
    };
    let limits = input_limits(arguments.state.max_input);
    let stdin = arguments.stdin.stdin_filename.as_deref();
    name_stdin(stdin);
    let mut inputs = UserInputs::of_objects_or_logs(source.paths(), &files)?;
    inputs.expect_rendered(stdin);
    let command = server_command(&inputs, limits)?;
    let state = &of_server(arguments, &state_source, command.as_ref())?;
    let state_name = state_source.name();
    let to = arguments.to;
    let from = state.gates.feature_gates.release();
    if from == to {
        return Err(UpgradeError::SameRelease(to).into());
    }
    let mut notices = InputNotices::default();
    let gates = gates_of(&state.gates, command.as_ref(), [from, to], &mut notices);
    let Some(pair) = PolicyPair::load(arguments, &files, &mut state_source, gates)? else {
        return Ok(ExitStatus::Failure);
    };
    let builtin = pair.builtin();
    let refusals = gate_refusals(to, state.gates.written()).into_iter();
    let mut findings: Vec<UpgradeFinding> = refusals.map(UpgradeFinding::from).collect();
    if pair.is_new_refused {
        let message = format!("policies are not evaluated: Kubernetes {to} does not load them");
        notices.tell(InputNotice::new(NOT_EVALUATED, "", message));
    }
    let PolicyPair {
        old,
        new,
        findings: of_policies,
        ..
    } = pair;
    findings.extend(of_policies);
    let inputs_of_state = StateInputs::read(state_source, state, &new, &[&old], &files)?;
    let choice = ListChoice {
        workloads: &arguments.workloads,
        all_kinds: true,
        #[cfg(feature = "kube")]
        list: &arguments.list,
    };
    let mut sources = match &source {
        #[cfg(feature = "kube")]
        ObjectSource::Cluster(_) => ImpactSources::resolve((&source, stdin), [&old, &new], choice, &files)?,
        _ => {
            let _ = choice;
            ImpactSources::Files(Box::new(inputs))
        }
    };
    let passed_over = files.passed_over();
    if arguments.files.verbose {
        output::eprint(&passed_over.to_text(true));
    }
    report_sources(sources.not_evaluated());
    let mut notes = left_out(&source, [&old, &new]);
    notes.extend(gates.map(GateArguments::release_note_of).into_iter().flatten());
    notes.extend(GateArguments::ineffective_note_of(state.gates.feature_gates));
    for (policies, gates) in [&old, &new].into_iter().zip(gates) {
        let has_manifests = policies.builtin.is_none() && has_static(&policies.sets);
        notes.extend(unread_manifests(gates).filter(|_| has_manifests));
    }
    notes.extend(summary(sources.not_evaluated()));
    notes.extend(passed_over.line());
    let is_listed = arguments.answers.outputs.is_printed(UpgradeFormat::Human);
    notices.extend(report_server(state.gates.server_notice(), is_listed));
    // These were told before.
    notices.extend(old.scope.switched_off().notices());
    notices.extend(inputs_of_state.notices());
    notices.extend(new.scope.notices());
    notices.extend(project::notices("upgrade"));
    let mut changes = Vec::new();
    let namespace = &arguments.sender.namespace;
    let (cluster, errors) =
        inputs_of_state.into_cluster_of_requests(namespace, arguments.validation, |state| {
            changes = sources.survey(limits, state);
        });
    changes.into_iter().for_each(|change| notices.tell(change));
    notices.extend(files.notices());
    let [old_gates, new_gates] = gates;
    let engines = [(old, old_gates), (new, new_gates)].map(|(policies, gates)| ReplayEngine {
        policies,
        cluster: Arc::new(cluster.with_gates(gates)),
    });
    let [old, new] = &engines;
    let side = |engine, gates| UpgradeSide {
        engine,
        evaluator: ReplayEngine::recording(engine, PolicyRecord::Costs).keeping_prepared(),
        gates,
    };
    let sets = [old, new].into_iter().flat_map(|engine| &engine.policies.sets);
    let pod_policies = PodPolicies::new(sets.map(|(_, set)| set), builtin.is_some());
    let is_evaluated = [old, new].iter().any(|engine| engine.policies.scope.can_deny());
    let (stored, _) = StoredObjects::new(&[], namespace);
    let request = RequestArguments::creations(&arguments.sender);
    let worker = UpgradeWorker {
        old: side(old, old_gates),
        new: side(new, new_gates),
        builder: RequestBuilder::new(&request, stored),
        workloads: WorkloadScope {
            expansion: ExpansionRule::new(to, &arguments.workloads, &pod_policies, is_evaluated),
            is_of_files: matches!(sources, ImpactSources::Files(_)),
        },
        log: LogReader::new(&cluster, arguments.memory.remember),
        rendered: sources.take_rendered(),
        has_configuration: arguments.policies.admission_control_config_file.is_some(),
    };
    let prints_lines = arguments.answers.outputs.is_printed(UpgradeFormat::Ndjson);
    let share = sources.share(is_shown(prints_lines));
    let pieces = LogPieces {
        limits,
        share: Arc::clone(&share),
        from: None,
        remembers: worker.log.remembers(),
    };
    let has_more = has_others || !findings.is_empty();
    notices.leave_to_report(arguments.answers.outputs.is_printed(UpgradeFormat::Human));
    let mut collector = UpgradeCollector {
        arguments: &arguments.answers,
        report: UpgradeReport::new(CountedFaults::new(errors), notes, notices),
        named: NamedInputs::default(),
        outputs: OutputTarget::open_all(&choices)?,
        progress: ProgressLine::new(prints_lines),
        share,
        assumed: AssumedKinds::default(),
        limitations: ObjectLimitations::default(),
        unexpanded: UnexpandedWorkloads::default(),
        evaluated: evaluated(arguments, &state_name, [old, new], gates),
        releases: [from, to].map(ToString::to_string),
        inputs: source.names(),
        has_more,
    };
    collector.collect_findings(findings)?;
    ordered_work::in_order(
        worker.log.threads(),
        move |sender| sources.send(&pieces, &sender),
        |unit, emit| worker.compare(unit, emit),
        |part| collector.collect(part),
    )?;
    if let Some(notice) = worker.rendered.missing_notice() {
        collector.report.notices.tell(notice);
    }
    collector.end(&pod_policies)
}

fn is_none(state: &StateSource) -> bool {
    matches!(state, StateSource::None)
}

/// The command of a kube-apiserver whose static Pod is among the inputs that can be read twice: its feature gates are those of the
/// server.
fn server_command(
    inputs: &UserInputs,
    limits: pratique_stream::Limits,
) -> Result<Option<ServerCommand>, CliError> {
    for file in inputs.mentioning(SERVER, limits)? {
        // What cannot be read is told where it is compared.
        // Its image says of which release it is.
        for input in crate::input::objects(file, Release::latest()).objects {
            let place = problems::place(&input.location);
            if let Some(command) = ServerCommand::from_pod(&input.object, &place) {
                return Ok(Some(command));
            }
        }
    }
    Ok(None)
}

/// The state with the release of the server: the one that is named, or else that of the cluster or snapshot, or else that of the
/// image of a kube-apiserver.
fn of_server(
    arguments: &UpgradeArguments,
    source: &StateSource,
    command: Option<&ServerCommand>,
) -> Result<StateArguments, CliError> {
    let of_image = command.and_then(|command| {
        let version = command.image_version.clone()?;
        Some((command.place.clone(), version))
    });
    let server = source.server_version().or(of_image);
    if server.is_none() && !arguments.state.gates.is_named() {
        return Err(UpgradeError::NoRelease.into());
    }
    Ok(StateArguments {
        gates: arguments.state.gates.with_server(server)?,
        ..arguments.state.clone()
    })
}

/// The gates that both servers have: those of the command of a kube-apiserver, and then those of `--feature-gates`, as far as
/// each release accepts them.
fn gates_of(
    named: &GateArguments,
    command: Option<&ServerCommand>,
    releases: [&'static Release; 2],
    notices: &mut InputNotices,
) -> [FeatureGates; 2] {
    let of_command = command.map(ServerCommand::feature_gates).unwrap_or_default();
    let text = format!("{of_command},{}", named.written());
    let [from, _] = releases;
    let place = command.map(|command| command.place.clone()).unwrap_or_default();
    for refusal in gate_refusals(from, &of_command) {
        let message = format!(
            "the server of now would not start: {}: {}",
            refusal.flag, refusal.message
        );
        notices.tell(InputNotice::new("refused-flag", place.clone(), message));
    }
    releases.map(|release| {
        let (accepted, _) = accepted_gates(release, &text);
        FeatureGates::parse(release, &accepted).unwrap_or_else(|_| FeatureGates::new(release))
    })
}

/// Notes on what a comparison leaves out whose inputs are the objects of a cluster or snapshot, which are told.
fn left_out(source: &ObjectSource, sides: [&ReadyPolicies; 2]) -> BTreeSet<String> {
    let of_source = match source {
        #[cfg(feature = "kube")]
        ObjectSource::Cluster(_) => Some(OF_CLUSTER),
        _ => source.note(),
    };
    let Some(of_source) = of_source else {
        return BTreeSet::new();
    };
    let help = "those of updates and deletions are for audit logs";
    let unmatched = unmatched_policies::note(&sides.map(|policies| &policies.sets), Operation::Create, help);
    if let Some(note) = &unmatched {
        output::eprint(&output::warning(&text!("{}", note)));
    }
    std::iter::once(of_source.to_owned()).chain(unmatched).collect()
}

/// What is evaluated.
fn evaluated(
    arguments: &UpgradeArguments,
    state: &str,
    engines: [&ReplayEngine; 2],
    gates: [FeatureGates; 2],
) -> EvaluationSummary {
    let sides = engines.into_iter().zip(["now", "then"]).map(|(engine, label)| {
        let policies = &engine.policies;
        EvaluatedPolicies {
            label,
            sources: sources_of(&arguments.policies, false, state),
            builtin: policies.builtin,
            sets: &policies.sets,
            scope: &policies.scope,
        }
    });
    EvaluationSummary::new(&EvaluationFacts {
        policies: sides.collect(),
        completes: true,
        validates: arguments.validation.validation,
        plugins: 0,
        calls_webhooks: false,
        servers: gates.to_vec(),
    })
}
