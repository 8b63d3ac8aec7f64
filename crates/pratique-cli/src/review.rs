//! `pratique review`: evaluates admission for objects.

mod assumed;
mod chain;
mod checkpoint;
#[cfg(feature = "kube")]
mod cluster_objects;
mod compared;
mod defaults;
mod definitions;
mod diff;
mod digest;
mod etcd;
mod excerpt;
mod findings;
mod github;
pub(crate) mod impact;
mod input_errors;
mod input_policies;
mod input_request;
mod junit;
mod limitations;
mod namespace_changes;
mod object_source;
mod ordered;
mod permissions;
mod phases;
mod placed_cause;
mod policies;
mod printer;
mod progress;
mod read;
mod record;
pub(crate) mod replay;
mod report;
mod request;
mod result;
mod results;
mod sarif;
pub(crate) mod scan;
mod since;
mod state;
mod stored;
mod summary;
mod surveyed;
mod tally;
mod unbound;
mod unexpanded;
mod unmatched;
mod work;

use std::path::Path;
use std::sync::Arc;

use pratique_expansion::Expander;
use pratique_manifest::path_text;
use pratique_review::{PodPolicies, PolicyRecord, Reviewer, SourceFiles, WholeChain};
use pratique_state::cluster::is_namespace;
use pratique_state::{PluginState, Rules, read_rules};
use pratique_stream::Limits;

use crate::arguments::{ExpandMode, ReviewArguments};
use crate::exit::{CliError, ExitStatus};
use crate::input::sources::{report_sources, without_sources};
use crate::input::{self, FileSelection, InputError, InputObject, ParsedObjects};
use crate::output::excerpt::Texts;
use crate::output::notice::{Notice, Notices};
use crate::output::text::text;
use crate::output::{self, problems};
use crate::snapshot::{self, StateSource};
pub(crate) use chain::shown as steps;
pub(crate) use checkpoint::CheckpointError;
use input_errors::InputErrors;
use permissions::Permissions;
use phases::Phases;
use policies::Loaded;
use printer::Printer;
use read::Inputs;
use record::SERVER_WARNING;
use request::RequestBuilder;
use state::ClusterState;
use stored::Stored;
use summary::{EvaluatedPolicies, EvaluationFacts, EvaluationSummary, sources_of};
use unbound::EvaluationScope;
use work::{DisplayOptions, ExpansionRule, InputReviewer};

/// Evaluates every input as it is read; succeeds if all of them are allowed. Inputs that cannot be read do not affect the
/// others.
pub(crate) fn run(arguments: &ReviewArguments) -> Result<ExitStatus, CliError> {
    let since = arguments.request.since.as_deref();
    let limits = limits(arguments.state.max_input);
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let mut inputs = Inputs::of(&arguments.inputs, since, &files)?;
    let of_inputs = match arguments.input_policies {
        true => Some(input_policies::files(&mut inputs, limits)?),
        false => None,
    };
    let mut state = StateSource::open(&arguments.state.client, arguments.state.snapshot.as_deref())?;
    let runs_chain = arguments.chain.is_on(state.has_plugin_objects());
    if runs_chain && arguments.workloads.expand != ExpandMode::Off {
        // The Pods of controllers find what comes after their workloads.
        inputs.copy_pipes()?;
    }
    chain::announce(&arguments.chain, &state, arguments.explain);
    let chain_settings = arguments.chain.settings();
    let policies = policies::load(
        (&arguments.policies, &files),
        of_inputs,
        arguments.state.gates.feature_gates,
        arguments.webhooks,
        arguments.state.bind,
        &mut state,
        Some(&chain_settings).filter(|_| runs_chain),
    );
    let Loaded {
        admission,
        sets,
        builtin,
        plugins,
    } = match policies {
        Ok(loaded) => loaded,
        Err(failure) => return failure.report().map(|()| ExitStatus::Failure),
    };
    let plugin_state = plugins.map(|plugins| plugins.state);
    let state_name = state.name();
    let scope = EvaluationScope::of(&sets, arguments.webhooks);
    scope.warn();
    let mut pod_policies = PodPolicies::new(sets.iter().map(|(_, set)| set), builtin.is_some());
    if arguments.webhooks {
        pod_policies = pod_policies.with_webhooks(sets.iter().map(|(_, set)| set));
    }
    pod_policies = pod_policies.with_plugins(admission.plugin_names());
    let mut loaded = state.state(&admission, &sets, plugin_state.as_ref().map(PluginState::kinds));
    let mut reader = Reader {
        mebibytes: arguments.state.max_input,
        errors: InputErrors::default(),
        notices: Notices::default(),
        files: files.clone(),
    };
    let old = match since {
        Some(revision) => since::stored(revision, &inputs, &mut reader)?,
        None => reader.all(&arguments.request.old)?,
    };
    let old = reader.existing(old)?;
    let namespaces = reader.all(&arguments.namespace_object)?;
    let mut supplied = reader.namespaces(namespaces)?;
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
    let objects = reader.all(&objects)?;
    supplied.extend(reader.existing(objects)?);
    let rules = reader.rules(arguments.state.authorizer.as_deref())?;
    let (stored, faults) = Stored::new(&old, &arguments.request.sender.namespace);
    faults.into_iter().try_for_each(|fault| reader.report(fault))?;
    let builder = RequestBuilder::new(&arguments.request, stored);
    let before = if builder.compares() { old.as_slice() } else { &[] };
    let phases = Phases::new(&arguments.completion, arguments);
    // A chain completes objects by itself.
    let objects = match plugin_state {
        Some(_) => None,
        None => phases.objects(&sets, arguments.state.gates.feature_gates),
    };
    let (mut cluster, others) = {
        let release = arguments.state.gates.feature_gates.release();
        ClusterState::new(&loaded, supplied, before, objects, plugin_state, release)
    };
    if cluster.plugins().is_some() {
        cluster.keep_order(arguments.workloads.expand != ExpandMode::Off);
    }
    for notice in inputs.survey(limits, &mut cluster, None) {
        reader.notices.tell(notice);
    }
    let complete = arguments.state.objects_complete;
    let others = cluster.placed(others, &arguments.request.sender.namespace);
    let permissions = Permissions::new(rules, &loaded, &others, complete);
    cluster.fill(&loaded, others, complete);
    let for_controllers = cluster.take_for_controllers(&arguments.request.sender.namespace);
    let chain = cluster.take_plugins().map(|state| {
        warn("--chain", state.faults());
        WholeChain::new(state, for_controllers, phases.preparation)
    });
    // Webhooks are called one after the other, as they may have side effects; a chain is run by one request after another,
    // as each may charge quotas and store what others look up.
    let plugins_run = chain.is_some();
    let threads = match arguments.webhooks || chain.is_some() {
        true => 1,
        false => ordered::cores(),
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
    let reviewer = InputReviewer {
        builder,
        reviewer: reviewer.with_preparation(phases.preparation),
        sets: &sets,
        display: DisplayOptions {
            format: arguments.answers.output,
            quiet: arguments.answers.quiet,
            summary: arguments.answers.summary,
            explain: arguments.explain,
        },
        expander: Expander {
            templates: arguments.workloads.pod_template.clone(),
        },
        expands: ExpansionRule {
            mode: arguments.workloads.expand,
            policies: &pod_policies,
            is_evaluated: scope.can_deny() || plugins_run,
        },
    };
    let mut printer = Printer::new(&arguments.answers, reader.errors, reader.notices);
    report_sources(&inputs.sources);
    printer.sources.clone_from(&inputs.sources);
    let state = Arc::new(cluster);
    let start = Arc::clone(&state);
    ordered::in_order(
        threads,
        move |sender| inputs.send(limits, start, &sender),
        |unit, emit| reviewer.review(unit, emit),
        |reviewed| printer.print(reviewed),
    )?;
    printer.end_progress();
    if reviewer.builder.compares() {
        printer.compare(&reviewer, &state)?;
    }
    input_policies::report(printer.policies, arguments.input_policies);
    // They were told before.
    printer.notices.extend(files.notices());
    let passed_over = files.passed_over();
    if printer.object_count == 0 && printer.errors.count() == 0 {
        output::eprint(&passed_over.text(arguments.files.verbose));
        let inputs = input::all_shown(&arguments.inputs).join(", ");
        if printer.empty_lists == 0 {
            return Err(CliError::NothingToReview { inputs });
        }
        output::eprint(&text!("{}: an empty List: there is nothing to review\n", inputs));
        return Ok(ExitStatus::Success);
    }
    let summary = EvaluationSummary::new(&EvaluationFacts {
        policies: vec![EvaluatedPolicies {
            label: "",
            sources: sources_of(&arguments.policies, arguments.input_policies, &state_name),
            builtin,
            sets: &sets,
            unbound: scope.unbound_count(),
        }],
        completes: arguments.completion.defaults || plugins_run,
        validates: phases.preparation.validates && (arguments.completion.defaults || plugins_run),
        plugins: admission.plugin_names().count(),
        calls_webhooks: arguments.webhooks,
        release: arguments.state.gates.feature_gates.release(),
    });
    printer.end(
        &scope,
        &pod_policies,
        &passed_over,
        arguments.files.verbose,
        summary,
    )
}

fn limits(mebibytes: u32) -> Limits {
    let document = u64::from(mebibytes) << 20;
    Limits {
        document: usize::try_from(document).unwrap_or(usize::MAX),
        ..Limits::default()
    }
}

/// Reads the state of the cluster, and collects errors and warnings.
struct Reader {
    mebibytes: u32,
    errors: InputErrors,
    notices: Notices,
    files: FileSelection,
}

impl Reader {
    fn all(&mut self, paths: &[impl AsRef<Path>]) -> Result<Vec<InputObject<'static>>, CliError> {
        let mut all = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let before = (all.len(), self.errors.count());
            self.add(path, &mut all)?;
            if before == (all.len(), self.errors.count()) {
                let notice = Notice::new("no-object", path_text(path), "there is no object in it");
                self.notices.tell(notice);
            }
        }
        Ok(all)
    }

    fn add(&mut self, path: &Path, all: &mut Vec<InputObject<'static>>) -> Result<(), CliError> {
        let files = self.files.files(path)?;
        let (files, sources) = without_sources(files, &mut SourceFiles::default(), &self.files);
        report_sources(&sources);
        for path in files {
            match input::read(&path, self.mebibytes) {
                Ok(objects) => self.take(objects, all)?,
                Err(error) => self.report(error)?,
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        objects: ParsedObjects<'static>,
        all: &mut Vec<InputObject<'static>>,
    ) -> Result<(), CliError> {
        objects
            .reading_warnings()
            .for_each(|notice| self.notices.tell(notice));
        all.extend(objects.objects);
        let mut faults = objects.faults.into_iter();
        faults.try_for_each(|fault| self.report(fault))
    }

    /// Keeps namespaces; other objects are errors.
    fn namespaces(
        &mut self,
        inputs: Vec<InputObject<'static>>,
    ) -> Result<Vec<InputObject<'static>>, CliError> {
        let (namespaces, others): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| is_namespace(&input.object));
        for other in others {
            let place = problems::place(&other.location);
            let why = "expected a Namespace of v1".to_owned();
            self.report(InputError::Faulty { place, why })?;
        }
        self.existing(namespaces)
    }

    /// Keeps objects that a server can decode; others are errors.
    fn existing(&mut self, inputs: Vec<InputObject<'static>>) -> Result<Vec<InputObject<'static>>, CliError> {
        let mut existing = Vec::with_capacity(inputs.len());
        for input in inputs {
            let place = problems::place(&input.location);
            match &input.received {
                Err(why) => self.report(InputError::Faulty {
                    place,
                    why: why.clone(),
                })?,
                Ok(warnings) => {
                    for warning in warnings {
                        self.notices.tell(Notice::new(SERVER_WARNING, &*place, warning));
                    }
                    existing.push(input);
                }
            }
        }
        Ok(existing)
    }

    /// Reads the authorizer rules of a file, if one is named.
    fn rules(&mut self, path: Option<&str>) -> Result<Option<Rules>, CliError> {
        let Some(path) = path else {
            return Ok(None);
        };
        let file = match input::read_file(Path::new(path), self.mebibytes) {
            Ok(file) => file,
            Err(error) => {
                self.report(error)?;
                return Ok(None);
            }
        };
        match read_rules(&file) {
            Ok(rules) => Ok(Some(rules)),
            Err(found) => {
                let mut texts = Texts::default();
                texts.insert(&file.path, &file.content);
                problems::report(&found, &mut texts);
                self.report(InputError::Faulty {
                    place: file.path.clone(),
                    why: "its rules cannot be read".to_owned(),
                })?;
                Ok(None)
            }
        }
    }

    /// Reports an error of an input; errors of the command are returned.
    fn report(&mut self, error: InputError) -> Result<(), CliError> {
        self.errors.add(error)
    }
}

/// Prints warnings about an input on standard error.
fn warn(place: &str, messages: &[String]) {
    for message in messages {
        output::eprint(&output::warning_at(place, message));
    }
}
