//! `pratique check`: checks that an API server would load manifests, and lints them.

pub(crate) mod check_error;
mod checked_path;
mod connect;
mod empty;
mod hashes;
mod human;
mod json;
pub(crate) mod levels;
mod loaded_plugin;
mod plugin;
pub(crate) mod report;
mod sorted_input;
mod subject;
mod subjects;
mod whole;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique::expressions::{Cache, Expressions};
use pratique_review::sorted_objects::SortedPolicies;

use crate::arguments::{CheckArguments, CheckFormat};
use crate::check::check_error::CheckError;
use crate::exit::{CliError, ExitStatus};
use crate::input::{self, FileSelection, WithPassedOver, sources};
use crate::memory;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::{self, sarif};
use crate::output_target::{self, OutputTarget};
use crate::policies::tell_unread_manifests;
use crate::project;
use crate::snapshot::{StateSource, WebhookUse};
use checked_path::CheckedPath;
use levels::WarningLevels;
pub(crate) use plugin::plugin_of;
use subject::CheckSubject;
pub(crate) use subject::configuration_findings;

/// Checks every path; succeeds if all of them load without a denied warning.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitStatus, CliError> {
    let choices = arguments.outputs.choices()?;
    output_target::verify(&choices)?;
    let levels = WarningLevels::new(&arguments.warnings);
    // A cluster says its own release.
    let state = StateSource::open(&arguments.client, None)?;
    let gates = arguments.gates.with_server(state.server_version())?;
    let release = gates.feature_gates.release();
    let switches = arguments.admission_plugins.switches();
    switches.of_release(release.version()).validate()?;
    let cache = Cache::new().of_release(release);
    let expressions = Expressions::new(Arc::new(cache)).with_max_load_bytes(memory::load());
    let mut checked = Vec::new();
    let files = FileSelection::new(&arguments.excluded.exclude)?;
    let mut subjects = subjects::of_paths(
        &arguments.paths,
        arguments.plugin,
        arguments.origin.origin,
        &files,
        &expressions,
    )?;
    // Hashes are printed alone.
    let is_listed = arguments.outputs.is_printed(CheckFormat::Human) && !arguments.hash_only;
    let of_server = gates.report(is_listed);
    subjects.extend(of_cluster(state)?);
    if subjects.is_empty() {
        return Err(CliError::Check(CheckError::NothingToCheck));
    }
    for (paths, mut subject) in subjects {
        subject.report(&files);
        if subject.has_manifests() {
            tell_unread_manifests(gates.feature_gates);
        }
        let root = arguments.root.as_deref().unwrap_or_default();
        let loaded = subject.load(
            &expressions,
            gates.feature_gates,
            &arguments.admission_plugins,
            root,
        );
        let mut outcome = CheckedPath::new(&paths, loaded, &levels, (arguments, gates.feature_gates));
        outcome.sources = subject.sources().to_vec();
        if let (true, Ok(plugins)) = (arguments.connect, &outcome.loaded) {
            outcome.connections = connect::connect(plugins)?;
        }
        let is_transient =
            paths.iter().any(|path| path == Path::new(input::STDIN)) || subject.is_of_cluster();
        outcome.texts = subject.texts(is_transient);
        checked.push(outcome);
    }
    // Opened earlier, they would be among the files of directories.
    let outputs = OutputTarget::open_all(&choices)?;
    if arguments.hash_only {
        let mut status = ExitStatus::Success;
        output_target::print_all(outputs, |format, _| {
            status = hashes::print(&checked, format)?;
            Ok(())
        })?;
        return Ok(status);
    }
    let (passed_over, lists) = (files.passed_over(), arguments.files.verbose);
    let of_server = InputNotices::from_iter(of_server);
    let of_files: Vec<InputNotice> = of_server.list().into_iter().chain(files.notices()).collect();
    let is_denied = levels.denies_warnings() && of_files.iter().any(InputNotice::is_counted);
    let passes = checked.iter().all(|checked| checked.passes(&levels)) && !is_denied;
    let notices: Vec<InputNotice> = of_files
        .iter()
        .cloned()
        .chain(project::notices("check"))
        .collect();
    output_target::print_all(outputs, |format, is_stdout| {
        if is_stdout && !matches!(format, CheckFormat::Human | CheckFormat::Json) {
            output::eprint(&passed_over.to_text(lists));
        }
        match format {
            CheckFormat::Human => {
                let mut text = human::checked_text(&checked, &levels);
                text.push(&passed_over.to_text(lists));
                text.push(&of_server.lines_of_server());
                output::print(&text)
            }
            CheckFormat::Json => {
                let report = WithPassedOver {
                    value: json::CheckReport::new(&checked, gates.feature_gates, &of_files, &levels),
                    passed_over: passed_over.json(lists),
                };
                project::print_with_report("check", &report)
            }
            CheckFormat::Sarif => {
                let findings: Vec<_> = checked
                    .iter()
                    .flat_map(|checked| checked.findings_with_webhooks(&levels))
                    .collect();
                let sources = checked.iter().flat_map(|checked| &checked.sources).cloned();
                let notifications = sources::notifications(&sources.collect::<Vec<_>>()).collect();
                let log = sarif::SarifLog::of_findings(&findings, &notices, notifications, passes);
                output::print_sarif(&log)
            }
            CheckFormat::Junit => output::print_xml(&report::junit(&checked, &notices, &levels)),
            CheckFormat::Github => output::print_github(&report::github(&checked, &notices, &levels)),
        }
    })?;
    Ok(ExitStatus::from_holds(passes))
}

/// The policies and webhook configurations of a cluster.
fn of_cluster(mut state: StateSource) -> Result<Option<(Vec<PathBuf>, CheckSubject)>, CliError> {
    let Some(files) = state.policies(WebhookUse::Taken)? else {
        return Ok(None);
    };
    let source_name = state.name();
    if files.is_empty() {
        return Err(CliError::NoManifests {
            path: source_name,
            count: 0,
        });
    }
    let subject = CheckSubject::OfCluster(source_name.clone(), SortedPolicies::of_api(files));
    Ok(Some((vec![PathBuf::from(source_name)], subject)))
}
