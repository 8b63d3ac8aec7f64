//! Configures an [`Admission`].

mod error;
mod inputs;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::sync::Arc;

use pratique_manifest::{ManifestFile, ManifestPlugin, ManifestSet};
use pratique_plugin::PluginChain;
use pratique_policy::OnUndecided;
use pratique_schema::FeatureGates;
use pratique_workers::Workers;

use crate::admission::Admission;
use crate::admission_config::AdmissionConfig;
use crate::compilations::CompilationTimes;
use crate::configurations::Configurations;
use crate::cores::HelperWorkers;
use crate::expressions::Expressions;
use crate::plugins::AdmissionPlugins;
use crate::settings::AdmissionSettings;
use crate::step::{AdmissionStep, StepPlace};

pub use error::{BuildError, NotEvaluated};
#[cfg(feature = "watch")]
pub(crate) use inputs::WatchedDirectory;
use inputs::{LoadSettings, ManifestInput};

/// The settings of an [`Admission`] or a [`Live`](crate::Live).
///
/// Nothing is read or compiled before [`build`](Self::build), [`load`](Self::load) or
/// [`LiveBuilder::start`](crate::LiveBuilder::start), and the order of calls does not matter, but for the order in which
/// manifests and steps were added.
#[derive(Debug)]
#[must_use]
pub struct AdmissionBuilder {
    expressions: Expressions,
    compilations: CompilationTimes,
    settings: AdmissionSettings,
    inputs: Vec<ManifestInput>,
    api: Vec<Arc<Configurations>>,
    #[cfg(feature = "webhooks")]
    webhooks: webhooks::WebhookSettings,
}

impl Admission {
    /// A builder without policies, webhooks or steps.
    pub fn builder() -> AdmissionBuilder {
        AdmissionBuilder::new()
    }
}

impl AdmissionBuilder {
    fn new() -> Self {
        let compilations = CompilationTimes::default();
        AdmissionBuilder {
            expressions: Expressions::new(Arc::new(compilations.cache())),
            compilations,
            settings: AdmissionSettings::default(),
            inputs: Vec::new(),
            api: Vec::new(),
            #[cfg(feature = "webhooks")]
            webhooks: webhooks::WebhookSettings::default(),
        }
    }

    /// Bounds the memory that each load of manifests may take, in bytes, by an estimate that counts values as often as YAML
    /// aliases repeat them: [`DEFAULT_LOAD_BYTES`](crate::manifest::DEFAULT_LOAD_BYTES) unless set. What needs more is not
    /// loaded. Three eighths of a container's memory are a good bound for a server.
    pub fn max_load_bytes(self, bytes: u64) -> Self {
        AdmissionBuilder {
            expressions: self.expressions.with_max_load_bytes(bytes),
            ..self
        }
    }

    /// Sets feature gates of kube-apiserver, and its release.
    pub fn feature_gates(mut self, feature_gates: FeatureGates) -> Self {
        let release = feature_gates.release();
        if release != self.settings.feature_gates.release() {
            let cache = self.compilations.cache().of_release(release);
            self.expressions = self.expressions.with_cache(Arc::new(cache));
        }
        self.settings.feature_gates = feature_gates;
        self
    }

    /// Between the two phases, checks configuration of admission as the registry of an API server does: names that are
    /// reserved for static manifests are refused or warned of, and webhooks whose rules name what webhooks never see
    /// are warned of. An API server does that itself; this is for programs that stand in for one.
    pub fn registry_checks(mut self, registry_checks: bool) -> Self {
        self.settings.registry_checks = registry_checks;
        self
    }

    /// Sets how policies and webhooks are treated whose decision depends on something that is not given: the answer to an
    /// authorization check, more of a namespace than its name. Unless set, the request is
    /// [undecided](crate::AdmissionDecision::Undecided).
    pub fn on_undecided(mut self, on_undecided: OnUndecided) -> Self {
        self.settings.on_undecided = on_undecided;
        self
    }

    /// Loads and compiles on these threads, and evaluates requests that match very many policies on them. Unless set,
    /// these are [`ScopedThreads`](crate::workers::ScopedThreads) for the former and [`MachineCores`](crate::workers::MachineCores) for the latter.
    pub fn workers(mut self, workers: impl Workers + 'static) -> Self {
        self.settings.helpers = HelperWorkers::new(workers);
        self
    }

    /// Adds the directories of static manifests and the credentials for webhooks that an AdmissionConfiguration file names.
    pub fn configuration(mut self, path: impl Into<String>) -> Self {
        self.inputs.push(ManifestInput::Configuration(path.into()));
        self
    }

    /// Adds a directory of static manifests of a plugin. A [`Live`](crate::Live) watches it.
    pub fn directory(mut self, path: impl Into<String>, plugin: ManifestPlugin) -> Self {
        self.inputs.push(ManifestInput::Directory(path.into(), plugin));
        self
    }

    /// Adds static manifests of a plugin that were read already; their paths are for messages.
    pub fn files(mut self, files: impl Into<Vec<ManifestFile>>, plugin: ManifestPlugin) -> Self {
        self.inputs.push(ManifestInput::Files(files.into(), plugin));
        self
    }

    /// Adds static manifests that were loaded already.
    pub fn manifests(mut self, set: ManifestSet) -> Self {
        self.inputs.push(ManifestInput::loaded(set));
        self
    }

    /// The compiler to load sets of manifests with elsewhere, so that their expressions are compiled once.
    pub fn expressions(&self) -> &Expressions {
        &self.expressions
    }

    /// Adds configuration of the API: policies, bindings and webhooks. It must be defaulted; what is invalid is evaluated as
    /// an API server does.
    pub fn configurations(mut self, configurations: Configurations) -> Self {
        self.api.push(Arc::new(configurations));
        self
    }

    /// Runs plugins around policies and webhooks, in the order of kube-apiserver 1.36, in place of those that were set
    /// before. What they look up in the cluster is in the [context](crate::AdmissionContext::with_plugins) of each request.
    pub fn plugins(mut self, chain: PluginChain) -> Self {
        self.settings.plugins = AdmissionPlugins::new(chain);
        self
    }

    /// Adds a step to the chain, after those at the same place.
    pub fn step(mut self, place: StepPlace, step: impl AdmissionStep + 'static) -> Self {
        self.settings.steps.add(place, Arc::new(step));
        self
    }

    /// Loads the manifests that were added so far, to report their errors before anything else. They are not read again.
    ///
    /// # Errors
    /// All errors of the first configuration, directory or list of files that does not load.
    pub fn load(self) -> Result<Self, BuildError> {
        self.load_inputs(false)
    }

    /// [`load`](Self::load) for programs that go on to a [`Live`](crate::Live): files of directories that were written to a moment
    /// ago are waited for, as they may be incomplete. That takes half a second after the last write, five seconds where a
    /// file is empty or a policy has no binding, and thirty at most.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_complete(self) -> Result<Self, BuildError> {
        self.load_inputs(true)
    }

    fn load_inputs(mut self, waits: bool) -> Result<Self, BuildError> {
        let inputs = std::mem::take(&mut self.inputs);
        let loading = LoadSettings {
            expressions: &self.expressions,
            workers: &*self.settings.helpers.starting,
            feature_gates: self.settings.feature_gates,
            waits,
        };
        for input in inputs {
            let loaded = loading.load(input)?;
            #[cfg(feature = "webhooks")]
            {
                self.webhooks.credentials.extend(loaded.credentials);
                self.settings.static_order = loaded.static_order.unwrap_or(self.settings.static_order);
            }
            self.inputs.extend(loaded.inputs);
        }
        Ok(self)
    }

    /// Loads and compiles everything.
    ///
    /// # Errors
    /// Manifests do not load, or there are webhooks and no caller for them.
    pub fn build(self) -> Result<Admission, BuildError> {
        let config = self.load()?.into_config();
        Ok(config.compile(None)?.without_reload_state())
    }

    /// The directories that were loaded.
    #[cfg(feature = "watch")]
    pub(crate) fn directories(&self) -> Vec<WatchedDirectory> {
        inputs::directories(&self.inputs)
    }

    /// The configuration to compile.
    pub(crate) fn into_config(self) -> AdmissionConfig {
        AdmissionConfig {
            cache: self.expressions.cache().clone(),
            compilations: self.compilations,
            sets: self
                .inputs
                .into_iter()
                .filter_map(ManifestInput::into_set)
                .collect(),
            api: self.api,
            settings: self.settings,
            #[cfg(feature = "webhooks")]
            callers: self.webhooks.into_callers(),
        }
    }
}
