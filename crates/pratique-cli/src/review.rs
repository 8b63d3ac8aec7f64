//! `pratique review`: evaluates admission for objects.

mod answers;
mod ending;
mod input_policies;
mod nameless;
mod object_comparison;
mod object_files;
mod printer;
pub(crate) mod review_error;
mod since;
mod tally;
mod work;

use std::path::Path;
use std::sync::Arc;

use pratique_review::{PodPolicies, PolicyRecord, Reviewer, WholeChain};
use pratique_state::PluginState;

use crate::acceptance::AcceptanceRules;
use crate::arguments::{ExpandMode, ReviewArguments, ReviewFormat, tell_unprinted};
pub(crate) use crate::evaluation::chain::steps_output as steps;
use crate::evaluation::complete_kind::CompleteKind;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::permissions::UserPermissions;
use crate::evaluation::phases::ObjectPhases;
use crate::evaluation::policies::ReviewedPolicies;
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::state::ClusterState;
use crate::evaluation::state_reader::StateReader;
use crate::evaluation::summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary, sources_of};
use crate::evaluation::unbound::EvaluationScope;
use crate::exit::{CliError, ExitStatus};
use crate::input::rendering::{BuildOptions, name_stdin};
use crate::input::sources::report_sources;
use crate::input::{self, FileSelection};
use crate::output;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output_target;
use crate::review::review_error::ReviewError;
use crate::snapshot::{self, StateSource};
pub(crate) use crate::stream::checkpoint::CheckpointError;
use crate::stream::input_errors::InputErrors;
use crate::stream::input_limits;
use crate::stream::read::UserInputs;
use crate::stream::stored_objects::StoredObjects;
use printer::ReviewPrinter;
use work::{DisplayOptions, InputReviewer};

/// Evaluates every input as it is read; succeeds if all of them are allowed. Inputs that cannot be read do not affect the
/// others.
pub(crate) fn run(arguments: &ReviewArguments) -> Result<ExitStatus, CliError> {
    output_target::verify(&arguments.answers.outputs.choices()?)?;
    let since = arguments.request.since.as_deref();
    let limits = input_limits(arguments.state.max_input);
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let rendering = &arguments.rendering;
    let stdin = rendering.stdin.stdin_filename.as_deref();
    name_stdin(stdin);
    let mut inputs = if rendering.render {
        let options = BuildOptions {
            values: &rendering.helm_values,
            namespace: &arguments.request.sender.namespace,
            release: &arguments.state.gates.feature_gates.release().to_string(),
        };
        UserInputs::built(&arguments.inputs, &files, options)?
    } else {
        UserInputs::resolve(&arguments.inputs, since, &files)?
    };
    inputs.expect_rendered(stdin);
    let rendered = std::mem::take(&mut inputs.rendered);
    let mut acceptance = AcceptanceRules::read(&arguments.acceptance, "review")?;
    let input_policies = if arguments.input_policies {
        Some(input_policies::files(&mut inputs, limits)?)
    } else {
        None
    };
    let mut state = StateSource::open(&arguments.state.client, arguments.state.snapshot.as_deref())?;
    let gate_arguments = arguments.state.gates.with_server(state.server_version())?;
    let gates = gate_arguments.feature_gates;
    let is_listed = arguments.answers.outputs.is_printed(ReviewFormat::Human);
    let of_server = gate_arguments.report(is_listed);
    let runs_chain = arguments.chain.is_on(state.has_plugin_objects());
    if runs_chain && arguments.workloads.expand != ExpandMode::Off {
        // The Pods of controllers find what comes after their workloads.
        inputs.copy_pipes()?;
    }
    crate::evaluation::chain::announce(&arguments.chain, &state, arguments.explain);
    let chain_settings = arguments.chain.settings();
    let policies = crate::evaluation::policies::load(
        (&arguments.policies, &files),
        input_policies,
        gates,
        arguments.webhooks,
        arguments.state.bind,
        &mut state,
        Some(&chain_settings).filter(|_| runs_chain),
    );
    let ReviewedPolicies {
        admission,
        sets,
        builtin,
        plugins,
    } = match policies {
        Ok(loaded) => loaded,
        Err(failure) => {
            tell_unprinted(&of_server, is_listed);
            return failure.report().map(|()| ExitStatus::Failure);
        }
    };
    acceptance.add_policies(&sets, gates.release());
    let plugin_state = plugins.map(|plugins| plugins.state);
    let state_name = state.name();
    let scope = EvaluationScope::new(&sets, gates, arguments.webhooks);
    scope.warn();
    let mut pod_policies = PodPolicies::new(sets.iter().map(|(_, set)| set), builtin.is_some());
    if arguments.webhooks {
        pod_policies = pod_policies.with_webhooks(sets.iter().map(|(_, set)| set));
    }
    pod_policies = pod_policies.with_plugins(admission.plugin_names());
    let mut loaded = state.state(&admission, &sets, plugin_state.as_ref().map(PluginState::kinds));
    let none = &arguments.state.none;
    loaded
        .said_complete
        .extend(none.iter().flat_map(CompleteKind::versions).cloned());
    let mut reader = StateReader {
        release: gates.release(),
        mebibytes: arguments.state.max_input,
        errors: InputErrors::default(),
        notices: InputNotices::default(),
        files: files.clone(),
    };
    reader.notices.extend(of_server);
    if let Some(notice) = CompleteKind::notice(none) {
        reader.notices.tell(notice);
    }
    let old = match since {
        Some(revision) => since::stored(revision, &inputs, &mut reader)?,
        None => reader.read_all(&arguments.request.old)?,
    };
    let old = reader.existing(old)?;
    let namespaces = reader.read_all(&arguments.namespace_object)?;
    let mut state_objects = reader.namespaces(namespaces)?;
    let mut objects = Vec::new();
    for path in &arguments.state.objects {
        match snapshot::found(Path::new(path))? {
            Some(snapshot) => {
                snapshot.warn(path);
                loaded.overlays.push(snapshot);
            }
            None => objects.push(path),
        }
    }
    let objects = reader.read_all(&objects)?;
    state_objects.extend(reader.existing(objects)?);
    let rules = reader.rules(arguments.state.authorizer.as_deref())?;
    let (stored, faults) = StoredObjects::new(&old, &arguments.request.sender.namespace);
    faults.into_iter().try_for_each(|fault| reader.report(fault))?;
    let builder = RequestBuilder::new(&arguments.request, stored);
    let old_objects = if builder.compares() { old.as_slice() } else { &[] };
    let phases = ObjectPhases::new(&arguments.completion, arguments);
    // A chain completes objects by itself.
    let objects = match plugin_state {
        Some(_) => None,
        None => phases.objects(&sets, gates),
    };
    let (mut cluster, others) = {
        let release = gates.release();
        ClusterState::new(
            &loaded,
            state_objects,
            old_objects,
            objects,
            plugin_state,
            release,
            &files,
        )
    };
    if cluster.plugins().is_some() {
        cluster.keep_order(arguments.workloads.expand != ExpandMode::Off);
    }
    let complete = arguments.state.objects_complete;
    if complete {
        cluster.complete();
    }
    for notice in inputs.survey(limits, &mut cluster, None) {
        reader.notices.tell(notice);
    }
    for notice in nameless::notices(gates.release(), arguments.request.operation, &sets) {
        reader.notices.tell(notice);
    }
    let others = cluster.placed(others, &arguments.request.sender.namespace);
    let permissions = UserPermissions::new(rules, &loaded, &others, complete);
    cluster.fill(&loaded, others);
    let for_controllers = cluster.take_for_controllers(&arguments.request.sender.namespace);
    let chain = cluster.take_plugins().map(|state| {
        warn("--chain", state.faults());
        WholeChain::new(state, for_controllers, phases.preparation)
    });
    // Webhooks are called one after the other, as they may have side effects. A chain is run by one request after another, in its
    // turn, as each may charge quotas and store what others look up.
    let plugins_run = chain.is_some();
    let threads = if arguments.webhooks {
        1
    } else {
        crate::stream::ordered_work::cores()
    };
    let reviewer = if arguments.webhooks || chain.is_some() {
        Reviewer::chain(&admission, permissions.decider(), chain).map_err(CliError::Thread)?
    } else {
        let record = if arguments.explain {
            PolicyRecord::Explanation
        } else {
            PolicyRecord::Decisions
        };
        Reviewer::policies(&admission, permissions.authorizer()).recording(record)
    };
    let mut printer = ReviewPrinter::new(&arguments.answers, reader.errors, reader.notices)?;
    let reviewer = InputReviewer {
        builder,
        reviewer: reviewer
            .with_preparation(phases.preparation)
            .keeping_services(false),
        sets: &sets,
        display: DisplayOptions {
            outputs: printer.displayed_outputs(),
            release: gates.release(),
            quiet: arguments.answers.quiet,
            summary: arguments.answers.summary,
            explain: arguments.explain,
            all: arguments.answers.all,
            keeps_objects: arguments.answers.output_dir.is_some(),
        },
        expansion: ExpansionRule::new(
            gates.release(),
            &arguments.workloads,
            &pod_policies,
            scope.can_deny() || plugins_run,
        ),
        acceptance: &acceptance,
        rendered,
    };
    for notice in acceptance.notices() {
        printer.notices.tell(notice);
    }
    report_sources(&inputs.sources);
    printer.sources.clone_from(&inputs.sources);
    let state = Arc::new(cluster);
    let start = Arc::clone(&state);
    crate::stream::ordered_work::in_turns(
        threads,
        move |sender| inputs.send(limits, start, &sender),
        |unit, turn, emit| reviewer.review(unit, turn, emit),
        |reviewed| printer.print(reviewed),
    )?;
    printer.end_progress();
    if let Some(notice) = reviewer.rendered.missing_notice() {
        printer.notices.tell(notice);
    }
    if reviewer.builder.compares() {
        printer.compare(&reviewer, &state)?;
    }
    printer.report_policies(arguments.input_policies, builtin.is_some());
    // They were told before.
    printer.notices.extend(files.notices());
    let passed_over = files.passed_over();
    if printer.object_count == 0 && printer.errors.count() == 0 {
        let paths = input::format_paths(&arguments.inputs);
        if printer.empty_lists == 0 {
            output::eprint(&passed_over.to_text(arguments.files.verbose));
            let inputs = paths.join(", ");
            return Err(CliError::Review(ReviewError::NothingToReview { inputs }));
        }
        for path in paths {
            let told = InputNotice::new("no-object", path, "an empty List: there is nothing to review");
            printer.notices.tell(told);
        }
    }
    let summary = EvaluationSummary::new(&EvaluationFacts {
        policies: vec![EvaluatedPolicies {
            label: "",
            sources: sources_of(&arguments.policies, arguments.input_policies, &state_name),
            builtin,
            sets: &sets,
            scope: &scope,
        }],
        completes: arguments.completion.defaults || plugins_run,
        validates: phases.preparation.validates && (arguments.completion.defaults || plugins_run),
        plugins: admission.plugin_names().count(),
        calls_webhooks: arguments.webhooks,
        servers: vec![gates],
    });
    let accepted = printer.accepted(&acceptance)?;
    printer.end(
        (&scope, &accepted),
        &pod_policies,
        &passed_over,
        arguments.files.verbose,
        summary,
    )
}

/// Prints warnings about an input on standard error.
fn warn(place: &str, messages: &[String]) {
    for message in messages {
        output::eprint(&output::warning_at(place, message));
    }
}
