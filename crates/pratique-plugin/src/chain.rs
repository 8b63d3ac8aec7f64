//! Plugins in their order.

use std::fmt::{self, Debug, Formatter};

use pratique_core::{AdmissionPhase, Attributes};

use crate::attributes::MutableAttributes;
use crate::context::PluginContext;
use crate::effects::Effects;
use crate::handler::Handler;
use crate::order::{is_after_dynamic, place};
use crate::plugin::Plugin;
use crate::rejection::Rejection;

/// Plugins in the order of the API server.
pub struct PluginChain {
    plugins: Vec<PlacedPlugin>,
    /// How many of them run before the plugins for policies and webhooks.
    before: usize,
}

/// A plugin with its handler.
struct PlacedPlugin {
    handler: Handler,
    plugin: Box<dyn Plugin>,
}

/// Which plugins of a chain run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All.
    All,
    /// Those before policies and webhooks.
    BeforeDynamic,
    /// Those after policies and webhooks.
    AfterDynamic,
}

/// Observes the plugins of a chain. It takes the time itself if it needs it.
pub trait PluginObserver {
    /// A half of a plugin begins.
    fn began(&mut self, plugin: &str, phase: AdmissionPhase) {
        let _ = (plugin, phase);
    }

    /// A half of a plugin has ended, with the object as it left it.
    fn ended(
        &mut self,
        plugin: &str,
        phase: AdmissionPhase,
        attributes: &Attributes<'_>,
        result: &Result<(), Rejection>,
    ) {
        let _ = (plugin, phase, attributes, result);
    }
}

impl PluginObserver for () {}

impl PluginChain {
    /// Puts plugins into the order of kube-apiserver 1.37. Those that are not built in keep their order, before policies.
    pub fn new(plugins: Vec<Box<dyn Plugin>>) -> Self {
        let plugins = plugins.into_iter().map(|plugin| PlacedPlugin {
            handler: *plugin.handler(),
            plugin,
        });
        let mut plugins: Vec<PlacedPlugin> = plugins.collect();
        plugins.sort_by_key(|placed| place(placed.handler.name));
        let dynamic_start = plugins.partition_point(|placed| !is_after_dynamic(placed.handler.name));
        PluginChain {
            plugins,
            before: dynamic_start,
        }
    }

    /// The plugins in their order.
    pub fn plugins(&self) -> impl ExactSizeIterator<Item = &dyn Plugin> {
        self.plugins.iter().map(|placed| &*placed.plugin)
    }

    /// Runs the mutating halves up to the first rejection.
    ///
    /// # Errors
    /// The rejection of the first plugin that does not let the request pass.
    pub fn admit(
        &self,
        stage: Stage,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
        observer: &mut dyn PluginObserver,
    ) -> Result<(), Rejection> {
        let operation = attributes.request.operation;
        let placed = self.placed(stage);
        for PlacedPlugin { handler, plugin } in placed.filter(|placed| placed.handler.admits(operation)) {
            observer.began(handler.name, AdmissionPhase::Mutating);
            let result = plugin.admit(attributes, context, effects);
            observer.ended(
                handler.name,
                AdmissionPhase::Mutating,
                &attributes.as_attributes(),
                &result,
            );
            result?;
        }
        Ok(())
    }

    /// Runs the validating halves up to the first rejection.
    ///
    /// # Errors
    /// The rejection of the first plugin that does not let the request pass.
    pub fn validate(
        &self,
        stage: Stage,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
        observer: &mut dyn PluginObserver,
    ) -> Result<(), Rejection> {
        let operation = attributes.request.operation;
        let placed = self.placed(stage);
        for PlacedPlugin { handler, plugin } in placed.filter(|placed| placed.handler.checks(operation)) {
            observer.began(handler.name, AdmissionPhase::Validating);
            let result = plugin.validate(attributes, context, effects);
            observer.ended(handler.name, AdmissionPhase::Validating, attributes, &result);
            result?;
        }
        Ok(())
    }

    /// The plugins of a stage, in their order: for callers that run them one by one.
    pub fn stage(&self, stage: Stage) -> impl Iterator<Item = &dyn Plugin> {
        self.placed(stage).map(|placed| &*placed.plugin)
    }

    fn placed(&self, stage: Stage) -> impl Iterator<Item = &PlacedPlugin> {
        let (before_dynamic, after_dynamic) = match self.plugins.split_at_checked(self.before) {
            Some((before_dynamic, after_dynamic)) => (before_dynamic, after_dynamic),
            None => (self.plugins.as_slice(), &[] as &[_]),
        };
        let none = before_dynamic.get(..0).unwrap_or_default();
        let (first, second) = match stage {
            Stage::All => (before_dynamic, after_dynamic),
            Stage::BeforeDynamic => (before_dynamic, none),
            Stage::AfterDynamic => (none, after_dynamic),
        };
        first.iter().chain(second)
    }
}

impl Debug for PluginChain {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let names = self.plugins.iter().map(|placed| placed.handler.name);
        formatter.debug_list().entries(names).finish()
    }
}
