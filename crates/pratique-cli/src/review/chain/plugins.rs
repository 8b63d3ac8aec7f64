//! The plugins of the chain, started as an API server starts them.

use std::cell::RefCell;

use pratique::PluginChain;
use pratique::expressions::Expressions;
use pratique::plugins::{Plugin, PluginGates, PluginSettings};
use pratique_manifest::{
    self as manifest, ConfigurationOptions, EnabledPlugins, PluginConfiguration, load_configuration_of,
};
use pratique_types::FeatureGates;
use pratique_types::admission_plugins::built_in;

use crate::arguments::ChainArguments;
use crate::exit::CliError;
use crate::plugins;
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
    let selected = arguments.admission_plugins.switches();
    selected.validate().map_err(CliError::from)?;
    let dynamic = manifest::Plugin::START_ORDER
        .into_iter()
        .filter_map(|plugin| built_in(plugin.name()));
    if let Some(off) = dynamic.into_iter().find(|plugin| !selected.is_on(plugin, false)) {
        return Err(CliError::DynamicPlugin { plugin: off.name }.into());
    }
    let plugin_gates = PluginGates::default();
    let started: RefCell<Vec<Box<dyn Plugin>>> = RefCell::default();
    let enabled = EnabledPlugins {
        is_on: &|plugin, is_configured| selected.is_on(plugin, is_configured),
        start: &|name, given| {
            if let Some(factory) = pratique_plugins::factory(name) {
                let mut settings = PluginSettings::new(&plugin_gates).with_given(given);
                settings.not_ready_toleration_seconds = arguments.default_not_ready_toleration_seconds;
                settings.unreachable_toleration_seconds = arguments.default_unreachable_toleration_seconds;
                let plugin = plugins::make(factory, settings, "")?;
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
