//! The admission plugins that the server stands in for.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use pratique::PluginChain;
use pratique::expressions::Expressions;
use pratique::plugins::{HttpImageBackend, Plugin, PluginFactory, PluginSettings, StartError};
use pratique_manifest::{
    ConfigurationErrors, ConfigurationLoader, EnabledPlugins, Failure, GivenConfiguration, IgnoredPlugin,
    IgnoredReason, load_kube_config,
};
use pratique_metrics::Metrics;
use pratique_plugins::ImagePolicyBackend;
use pratique_pod_security::{PodCheckLimits, PodSecurity};
use pratique_review::chain::failure;
use pratique_schema::FeatureGates;
use pratique_server::WebhookPlugin;

use super::pod_security_metrics::PodSecurityMetrics;
use crate::plugins;
use crate::policies::configuration_options;

/// The plugins, and what they need besides the state of the cluster.
pub(super) struct ServedPlugins {
    pub(super) chain: PluginChain,
    /// Calls the backend of ImagePolicyWebhook.
    pub(super) image_backend: Option<HttpImageBackend>,
}

/// Starts plugins with what an AdmissionConfiguration file gives them; `None` if there are none.
pub(super) fn start(
    named: &[&WebhookPlugin],
    configuration: Option<&str>,
    gates: FeatureGates,
    expressions: &Expressions,
    metrics: &Metrics,
) -> Result<Option<ServedPlugins>, ConfigurationErrors> {
    if named.is_empty() {
        return Ok(None);
    }
    let started: RefCell<Vec<Box<dyn Plugin>>> = RefCell::default();
    let image_backend: RefCell<Option<HttpImageBackend>> = RefCell::default();
    let enabled = EnabledPlugins {
        is_on: &|plugin, _| named.iter().any(|named| named.name == plugin.name),
        start: &|name, given| {
            let Some(factory) = pratique_plugins::factory(name) else {
                return Ok(());
            };
            started.borrow_mut().push(make(factory, given, gates, metrics)?);
            if name == IMAGE_POLICY {
                *image_backend.borrow_mut() = Some(backend(given, gates)?);
            }
            Ok(())
        },
    };
    let options = configuration_options(expressions, gates);
    let loaded = ConfigurationLoader::new(&options)
        .starting(enabled)
        .load(configuration.unwrap_or_default())?;
    loaded.ignored.iter().for_each(warn_of_unused);
    Ok(Some(ServedPlugins {
        chain: PluginChain::new(started.into_inner()),
        image_backend: image_backend.into_inner(),
    }))
}

/// Warns of configuration of a plugin that could run and does not.
fn warn_of_unused(entry: &IgnoredPlugin) {
    if entry.reason == IgnoredReason::Off && WebhookPlugin::named(&entry.name).is_ok() {
        tracing::warn!(
            plugin = entry.name,
            "The configuration of a plugin is not used: --plugins does not name it"
        );
    }
}

/// The plugin whose backend is called.
const IMAGE_POLICY: &str = "ImagePolicyWebhook";

fn make(
    factory: &PluginFactory,
    given: Option<&GivenConfiguration>,
    gates: FeatureGates,
    metrics: &Metrics,
) -> Result<Box<dyn Plugin>, Failure> {
    let settings = PluginSettings::new(gates).with_given(given);
    if factory.handler.name != pratique_pod_security::NAME {
        return plugins::make(factory, settings, "", &|_| Ok(()));
    }
    let plugin = PodSecurity::configured(&settings).map_err(|error| failure(factory.handler.name, error))?;
    let limits = PodCheckLimits {
        clock: Some(running),
        ..PodCheckLimits::default()
    };
    let observer = Arc::new(PodSecurityMetrics(metrics.clone()));
    Ok(Box::new(plugin.with_limits(limits).with_observer(observer)))
}

/// How long the server runs.
fn running() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// The backend that the configuration of ImagePolicyWebhook names.
fn backend(given: Option<&GivenConfiguration>, gates: FeatureGates) -> Result<HttpImageBackend, Failure> {
    let failure = |error| failure(IMAGE_POLICY, error);
    let settings = PluginSettings::new(gates).with_given(given);
    let image_policy = ImagePolicyBackend::read(&settings).map_err(failure)?;
    let refused = |why: String| failure(StartError::Configuration(why));
    let config = load_kube_config(&image_policy.kube_config_file, gates.release());
    let config = config.map_err(|error| refused(error.to_string()))?;
    HttpImageBackend::new(&config.unwrap_or_default(), image_policy.retry_backoff)
        .map_err(|error| refused(format!("kubeconfig {}: {error}", image_policy.kube_config_file)))
}
