//! The plugins of the chain, started as an API server starts them.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use pratique::plugins::{Plugin, PluginChain, PluginFactory, PluginSettings, StartError};
use pratique_manifest::{
    ConfigurationErrors, ConfigurationLoader, ConfigurationOptions, EnabledPlugins, Failure,
    GivenConfiguration, PluginConfiguration, Problem, Rule, load_kube_config,
};
use pratique_schema::{FeatureGates, Release};
use pratique_types::admission_plugins::{BuiltIn, PluginSwitches, SwitchesError, built_in};

/// Which plugins of the server run, and the flags that they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSettings {
    /// Which are on.
    pub switches: PluginSwitches,
    /// `--default-not-ready-toleration-seconds`.
    pub not_ready_toleration_seconds: i64,
    /// `--default-unreachable-toleration-seconds`.
    pub unreachable_toleration_seconds: i64,
}

impl Default for ChainSettings {
    fn default() -> Self {
        ChainSettings {
            switches: PluginSwitches::default(),
            not_ready_toleration_seconds: 300,
            unreachable_toleration_seconds: 300,
        }
    }
}

/// The plugins of a chain, and the configuration of those for policies and webhooks.
#[derive(Debug)]
pub struct StartedPlugins {
    /// The plugins.
    pub plugins: PluginChain,
    /// Manifests of the others, and what their webhooks are shown.
    pub configurations: Vec<PluginConfiguration>,
    /// What plugins were given to read, by their names.
    pub given: Vec<(String, GivenConfiguration)>,
}

/// Why a server would not start.
#[derive(Debug, thiserror::Error)]
pub enum StartFailure {
    /// Plugins are both on and off.
    #[error(transparent)]
    Switches(#[from] SwitchesError),
    /// A plugin for policies or webhooks is to be off.
    #[error("{} cannot be disabled: do not name the manifests that it is for", plugin.name)]
    Dynamic {
        /// The plugin.
        plugin: &'static BuiltIn,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationErrors),
}

/// Permits a file to be opened, or says why not.
pub type PathPermit<'p> = dyn Fn(&Path) -> io::Result<()> + 'p;

/// Starts the plugins that are on in a server with these feature gates, with what an AdmissionConfiguration file gives them; the empty path stands for no file.
/// Of the files that it names, only those that `permit` accepts are opened.
///
/// # Errors
/// The server would not start.
pub fn start(
    settings: &ChainSettings,
    gates: FeatureGates,
    configuration: &str,
    options: &ConfigurationOptions<'_>,
    permit: &PathPermit<'_>,
) -> Result<StartedPlugins, StartFailure> {
    let switches = settings.switches.clone().of_release(gates.release().version());
    switches.validate()?;
    let dynamic = pratique_manifest::ManifestPlugin::START_ORDER
        .into_iter()
        .filter_map(|plugin| built_in(plugin.name()));
    if let Some(plugin) = dynamic.into_iter().find(|plugin| !switches.is_on(plugin, false)) {
        return Err(StartFailure::Dynamic { plugin });
    }
    let check_kubeconfig = |path: &str| {
        permit(Path::new(path)).map_err(|error| error.to_string())?;
        check_kube_config(path, gates.release())
    };
    let started: RefCell<Vec<Box<dyn Plugin>>> = RefCell::default();
    let all_given: RefCell<Vec<(String, GivenConfiguration)>> = RefCell::default();
    let enabled = EnabledPlugins {
        is_on: &|plugin, is_configured| switches.is_on(plugin, is_configured),
        start: &|name, given| {
            if let Some(factory) = pratique_plugins::factory(name) {
                let mut of_plugin = PluginSettings::new(gates).with_given(given);
                of_plugin.not_ready_toleration_seconds = settings.not_ready_toleration_seconds;
                of_plugin.unreachable_toleration_seconds = settings.unreachable_toleration_seconds;
                let plugin = make_plugin(factory, of_plugin, &check_kubeconfig)?;
                started.borrow_mut().push(plugin);
                let of_plugin = given.map(|given| (name.to_owned(), given.clone()));
                all_given.borrow_mut().extend(of_plugin);
            }
            Ok(())
        },
    };
    let loaded = ConfigurationLoader::new(options)
        .within(permit)
        .starting(enabled)
        .load(configuration)?;
    Ok(StartedPlugins {
        plugins: PluginChain::new(started.into_inner()),
        configurations: loaded.plugins,
        given: all_given.into_inner(),
    })
}

/// Checks a kubeconfig file, as a server of a release reads it.
///
/// # Errors
/// The message of the first problem.
pub fn check_kube_config(path: &str, release: &'static Release) -> Result<(), String> {
    load_kube_config(path, release)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Makes a plugin from what an AdmissionConfiguration gives it.
///
/// # Errors
/// The server would not start, with its message.
pub fn make_plugin(
    factory: &PluginFactory,
    settings: PluginSettings<'_>,
    check_kubeconfig: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Box<dyn Plugin>, Failure> {
    let settings = settings.with_kubeconfig_check(check_kubeconfig);
    factory
        .start(&settings)
        .map_err(|error| failure(factory.handler.name, error))
}

/// The failure with which a server ends.
pub fn failure(plugin: &str, error: StartError) -> Failure {
    let text = error.of_plugin(plugin);
    let problems = match error {
        StartError::Refused(failure) | StartError::NotInitialized(failure) => failure.problems,
        StartError::Configuration(message) | StartError::Initialization(message) => {
            vec![Problem::new(Rule::Configuration, message)]
        }
    };
    Failure { text, problems }
}
