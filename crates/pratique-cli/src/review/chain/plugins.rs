//! The plugins of the chain, started as an API server starts them.

use std::cell::RefCell;

use pratique::PluginChain;
use pratique::expressions::Expressions;
use pratique::plugins::{Plugin, PluginFactory, PluginGates, PluginSettings, StartError};
use pratique_manifest::{
    self as manifest, ConfigurationOptions, EnabledPlugins, Failure, GivenConfiguration, PluginConfiguration,
    Problem, Rule, load_configuration_of, load_kube_config,
};
use pratique_plugins::enabled;
use pratique_types::FeatureGates;

use crate::arguments::ChainArguments;
use crate::exit::CliError;
use crate::policies::LoadFailure;

/// The plugins of a chain, and the configuration of those for policies and webhooks.
pub(in super::super) struct Started {
    pub(in super::super) plugins: PluginChain,
    pub(in super::super) configurations: Vec<PluginConfiguration>,
}

/// Starts the plugins that are on, with what an AdmissionConfiguration file gives them.
pub(in super::super) fn start(
    arguments: &ChainArguments,
    configuration: Option<&str>,
    gates: FeatureGates,
    expressions: &Expressions,
) -> Result<Started, LoadFailure> {
    let names = enabled(
        &arguments.enable_admission_plugins,
        &arguments.disable_admission_plugins,
    );
    let names = names.map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        CliError::AdmissionPlugins(errors.join("\n"))
    })?;
    let mut dynamic = manifest::Plugin::START_ORDER
        .into_iter()
        .map(manifest::Plugin::name);
    if let Some(plugin) = dynamic.find(|name| !names.contains(name)) {
        return Err(CliError::DynamicPlugin { plugin }.into());
    }
    let started: RefCell<Vec<Box<dyn Plugin>>> = RefCell::default();
    let enabled = EnabledPlugins {
        is_on: &|plugin, _| names.contains(&plugin.name),
        start: &|name, given| {
            if let Some(factory) = factory(name) {
                let plugin = make(factory, arguments, given)?;
                started.borrow_mut().push(plugin);
            }
            Ok(())
        },
    };
    let options = ConfigurationOptions {
        manifests: expressions.options(),
        manifest_gate: gates.manifests,
    };
    let loaded = load_configuration_of("", configuration.unwrap_or_default(), &options, &enabled);
    let configurations = loaded.map_err(|refused| refused.errors)?.plugins;
    Ok(Started {
        plugins: PluginChain::new(started.into_inner()),
        configurations,
    })
}

/// Makes a plugin, or says why the server would not start.
fn make(
    factory: &PluginFactory,
    arguments: &ChainArguments,
    given: Option<&GivenConfiguration>,
) -> Result<Box<dyn Plugin>, Failure> {
    let gates = PluginGates::default();
    let check = |path: &str| {
        let loaded = load_kube_config(path);
        loaded.map(drop).map_err(|error| error.to_string())
    };
    let mut settings = PluginSettings::new(&gates)
        .with_given(given)
        .with_kubeconfig_check(&check);
    settings.not_ready_toleration_seconds = arguments.default_not_ready_toleration_seconds;
    settings.unreachable_toleration_seconds = arguments.default_unreachable_toleration_seconds;
    (factory.make)(&settings).map_err(|error| failure(factory.name, error))
}

/// The failure with which a server ends.
fn failure(plugin: &str, error: StartError) -> Failure {
    let text = error.of_plugin(plugin);
    let problems = match error {
        StartError::Refused(failure) | StartError::NotInitialized(failure) => failure.problems,
        StartError::Configuration(message) | StartError::Initialization(message) => {
            vec![Problem {
                rule: Rule::Configuration,
                message,
                field: None,
                object: None,
                location: None,
                help: None,
                summary: None,
            }]
        }
    };
    Failure { text, problems }
}

/// What makes a plugin; none for those for policies and webhooks.
fn factory(name: &str) -> Option<&'static PluginFactory> {
    let others: [&'static PluginFactory; 2] = [&pratique_pod_security::FACTORY, &pratique_quota::FACTORY];
    let found = others.into_iter().find(|factory| factory.name == name);
    found.or_else(|| pratique_plugins::factory(name))
}
