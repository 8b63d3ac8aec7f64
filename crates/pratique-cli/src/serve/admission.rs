//! Loads policies and webhooks, and keeps them current.

use std::sync::Arc;

use pratique::api_objects::ObjectDefaults;
use pratique::live::{AdmissionObserver, InMemory};
use pratique::policy::OnUndecided;
use pratique::{Admission, AdmissionBuilder, Configurations, Live, StartError};
use pratique_manifest::{LoadErrors, ManifestPlugin};
use pratique_metrics::Metrics;
use pratique_policy::Origin;
use pratique_schema::FeatureGates;
use pratique_server::{FollowedSource, LastReloads};

use super::cluster::{self, ClusterContext};
use super::followed_server::FollowedServer;
use super::plugins;
use super::policy_files::{self, InitialPolicies, PolicyFiles};
use super::registration;
use crate::arguments::ServeArguments;
use crate::baseline;
use crate::check::plugin_of;
use crate::exit::CliError;
use crate::input::{FileSelection, format_paths, openable, permit_directory};
use crate::memory;
use crate::output::excerpt::FileTexts;
use crate::output::problems;
use crate::output::text::PrintableText;
use crate::policies;
use crate::serve::serve_error::ServeError;
use crate::style::StreamStyle;

/// The admission chain, which is kept current.
pub(super) struct LiveAdmission {
    pub(super) live: Live,
    /// The release that it decides as.
    pub(super) gates: FeatureGates,
    pub(super) reloads: LastReloads,
    pub(super) cluster: ClusterContext,
    /// The policies of the API that were read from files.
    pub(super) api: Vec<Configurations>,
    /// Keeps the policies of files current.
    pub(super) policy_files: Option<PolicyFiles>,
    /// The policies of files, as they are reported.
    pub(super) followed_files: Option<FollowedSource>,
}

/// Why policies cannot be loaded.
pub(super) enum LoadFailure {
    /// A manifest is invalid; this is the report.
    Invalid(PrintableText),
    /// A file or cluster is not available.
    Cli(CliError),
}

impl From<CliError> for LoadFailure {
    fn from(error: CliError) -> Self {
        LoadFailure::Cli(error)
    }
}

/// Loads what the arguments name, by default the Pod Security Standards, and keeps it current. State of the cluster is
/// loaded in the background.
pub(super) fn start(arguments: &ServeArguments, metrics: &Metrics) -> Result<LiveAdmission, LoadFailure> {
    let reloads = LastReloads::default();
    // The printed configurations do not depend on the cluster, unless its configuration is followed.
    let asks_cluster = !arguments.registration.print_webhook_configuration || arguments.cluster.follows();
    let server = if asks_cluster {
        FollowedServer::connect(arguments)?
    } else {
        FollowedServer::none(&arguments.gates)?
    };
    let gates = server.gates;
    let named = &arguments.policies;
    if named.admission_control_config_file.is_none() && named.manifests.is_some() {
        policies::tell_unread_manifests(gates);
    }
    let (builder, of_paths) = builder(arguments, gates)?;
    let expressions = builder.expressions().clone();
    let config_file = arguments.policies.admission_control_config_file.as_deref();
    let served = plugins::start(&arguments.plugins, config_file, gates, &expressions, metrics);
    let live = match served.map_err(|refused| invalid(&refused.errors))? {
        None => builder.live(),
        Some(served) => {
            let live = builder.plugins(served.chain).live();
            match served.image_backend {
                Some(backend) => live.image_backend(backend),
                None => live,
            }
        }
    };
    // The API server defaulted the objects that it sends, but not what policies and webhooks make of them here.
    let live = live.object_model(ObjectDefaults::default().with_gates(gates));
    let live = live.observer(metrics.clone()).observer(reloads.clone());
    let configurations = policy_files::configurations(&of_paths.sets);
    let source = InMemory::new(configurations.clone());
    let followed_files = (!of_paths.sets.is_empty()).then(|| {
        let paths = format_paths(&arguments.policies.paths.policies).join(", ");
        policy_files::observe_initial(&of_paths.sets, &paths, &reloads);
        FollowedSource::new(
            source.clone(),
            &paths,
            registration::endpoint(&arguments.registration),
        )
    });
    let live = match &followed_files {
        Some(followed) => live.source(followed.clone()),
        None => live,
    };
    let (live, cluster) = if asks_cluster {
        cluster::configure(arguments, live, server)?
    } else {
        (live, ClusterContext::default())
    };
    let live = live.start().map_err(|error| match error {
        StartError::Load(errors) => invalid(&errors),
        StartError::Configuration(refused) => invalid(&refused.errors),
        error => CliError::Serve(ServeError::Serve(error.to_string())).into(),
    })?;
    let observers: Vec<Arc<dyn AdmissionObserver>> =
        vec![Arc::new(metrics.clone()), Arc::new(reloads.clone())];
    let paths = &arguments.policies.paths;
    let policy_files = PolicyFiles::start(paths, &expressions, of_paths, &source, observers);
    Ok(LiveAdmission {
        live,
        gates,
        reloads,
        cluster,
        api: vec![configurations],
        policy_files: policy_files?,
        followed_files,
    })
}

/// The builder, which has static manifests only, and the policies of paths.
fn builder(
    arguments: &ServeArguments,
    gates: FeatureGates,
) -> Result<(AdmissionBuilder, InitialPolicies), LoadFailure> {
    let max_load_memory = arguments.limits.max_load_memory;
    let builder = Admission::builder()
        .max_load_bytes(max_load_memory.map_or_else(memory::load, |mebibytes| u64::from(mebibytes) << 20))
        .feature_gates(gates)
        .registry_checks(true)
        .guards(arguments.guards.guards())
        .plain_http_redirects(arguments.guards.follow_plain_http_redirects)
        .on_undecided(OnUndecided::FailurePolicy);
    let named = &arguments.policies;
    let builder = match (&named.admission_control_config_file, &named.manifests) {
        (Some(path), _) => {
            openable(path)?;
            builder.configuration(path)
        }
        (None, Some(path)) => {
            openable(path)?;
            permit_directory(path).map_err(|error| CliError::unread(path, error))?;
            let plugin = named.plugin.map_or_else(|| plugin_of(path), Ok)?;
            builder.directory(path, plugin)
        }
        (None, None) if arguments.has_policies() || !named.paths.policies.is_empty() => builder,
        (None, None) => builder.files(
            baseline::files(named.level),
            ManifestPlugin::ValidatingAdmissionPolicy,
        ),
    };
    let of_paths =
        InitialPolicies::load(&named.paths, builder.expressions()).map_err(|error| match error {
            policies::LoadFailure::Cli(error) => error.into(),
            policies::LoadFailure::Invalid { errors, mut texts } => {
                LoadFailure::Invalid(problems::human(&errors, &mut texts, StreamStyle::of_stderr()))
            }
        })?;
    log_passed_over("--policies", &of_paths.selection);
    let of_static = of_paths
        .sets
        .iter()
        .filter(|(origin, _)| *origin == Origin::Static);
    let builder = of_static.fold(builder, |builder, (_, set)| builder.manifests(set.clone()));
    // Before anything else is done, so that faults of manifests are reported first.
    let loaded = builder
        .load_complete()
        .map_err(|error| match error.load_errors() {
            Some(errors) => invalid(errors),
            None => CliError::Serve(ServeError::Serve(error.to_string())).into(),
        })?;
    Ok((loaded, of_paths))
}

/// Logs how many files of what a flag names were passed over.
pub(super) fn log_passed_over(flag: &str, files: &FileSelection) {
    if let Some(counts) = files.passed_over().line() {
        tracing::info!(paths = flag, "{counts}");
    }
}

pub(super) fn invalid(errors: &LoadErrors) -> LoadFailure {
    LoadFailure::Invalid(problems::human(
        errors,
        &mut FileTexts::default(),
        StreamStyle::of_stderr(),
    ))
}
