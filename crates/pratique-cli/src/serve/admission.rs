//! Loads policies and webhooks, and keeps them current.

use pratique::policy::OnUndecided;
use pratique::{Admission, AdmissionBuilder, Live, StartError};
use pratique_manifest::{LoadErrors, Plugin};
use pratique_metrics::Metrics;
use pratique_server::Reloads;

use super::cluster::{self, ClusterContext};
use crate::arguments::ServeArguments;
use crate::baseline;
use crate::check::plugin_of;
use crate::exit::CliError;
use crate::input::openable;
use crate::memory;
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::output::text::Text;
use crate::style::Style;

/// The admission chain, which is kept current.
pub(super) struct LiveAdmission {
    pub(super) live: Live,
    pub(super) reloads: Reloads,
    pub(super) cluster: ClusterContext,
}

/// Why policies cannot be loaded.
pub(super) enum LoadFailure {
    /// A manifest is invalid; this is the report.
    Invalid(Text),
    /// A file or cluster is not available.
    Cli(CliError),
}

/// Loads what the arguments name, by default the Pod Security Standards, and keeps it current. State of the cluster is
/// loaded in the background.
pub(super) fn start(arguments: &ServeArguments, metrics: &Metrics) -> Result<LiveAdmission, LoadFailure> {
    let reloads = Reloads::default();
    let live = builder(arguments)?
        .live()
        .observer(metrics.clone())
        .observer(reloads.clone());
    // The printed configurations do not depend on the cluster, unless its configuration is followed.
    let prints = arguments.registration.print_webhook_configuration;
    let (live, cluster) = match prints && !arguments.cluster.follows() {
        true => (live, ClusterContext::default()),
        false => cluster::configure(arguments, live)?,
    };
    let live = live.start().map_err(|error| match error {
        StartError::Load(errors) => invalid(&errors),
        StartError::Configuration(refused) => invalid(&refused.errors),
        error => LoadFailure::Cli(CliError::Serve(error.to_string())),
    })?;
    Ok(LiveAdmission {
        live,
        reloads,
        cluster,
    })
}

fn builder(arguments: &ServeArguments) -> Result<AdmissionBuilder, LoadFailure> {
    let max_load_memory = arguments.limits.max_load_memory;
    let builder = Admission::builder()
        .max_load_bytes(max_load_memory.map_or_else(memory::load, |mebibytes| u64::from(mebibytes) << 20))
        .feature_gates(arguments.feature_gates)
        .registry_checks(true)
        .guards(arguments.guards.guards())
        .plain_http_redirects(arguments.guards.follow_plain_http_redirects)
        .on_undecided(OnUndecided::FailurePolicy);
    let policies = &arguments.policies;
    let builder = match (&policies.admission_control_config_file, &policies.manifests) {
        (Some(path), _) => {
            openable(path).map_err(LoadFailure::Cli)?;
            builder.configuration(path)
        }
        (None, Some(path)) => {
            openable(path).map_err(LoadFailure::Cli)?;
            let plugin = policies
                .plugin
                .map_or_else(|| plugin_of(path), Ok)
                .map_err(LoadFailure::Cli)?;
            builder.directory(path, plugin)
        }
        (None, None) if arguments.cluster.follows() => builder,
        (None, None) => builder.files(baseline::files(policies.level), Plugin::ValidatingAdmissionPolicy),
    };
    // Before anything else is done, so that faults of manifests are the first to be told.
    builder.load().map_err(|error| match error.load_errors() {
        Some(errors) => invalid(errors),
        None => LoadFailure::Cli(CliError::Serve(error.to_string())),
    })
}

pub(super) fn invalid(errors: &LoadErrors) -> LoadFailure {
    LoadFailure::Invalid(problems::human(errors, &mut Texts::default(), Style::of_stderr()))
}
