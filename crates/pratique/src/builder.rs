//! Collects what an [`Admission`] is made of.

use std::sync::Arc;

use pratique_manifest::{
    ConfigurationErrors, ConfigurationOptions, LoadErrors, ManifestFile, ManifestSet, Options, Plugin,
    load_configuration, load_directory, load_files,
};
use pratique_policy::OnUndecided;
use pratique_types::FeatureGates;
use pratique_types::admissionregistration::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use pratique_workers::Workers;

use crate::admission::Admission;
use crate::compilations::Compilations;
use crate::configurations::Configurations;
use crate::cores::Helpers;
use crate::expressions::Expressions;
use crate::ingredients::Ingredients;
#[cfg(feature = "watch")]
use crate::live::Directory;
use crate::live::LiveBuilder;
use crate::step::{AdmissionStep, Place, Steps};

/// Collects what an [`Admission`] is made of.
#[derive(Debug)]
pub struct Builder {
    expressions: Expressions,
    compilations: Compilations,
    feature_gates: FeatureGates,
    registry_checks: bool,
    on_undecided: OnUndecided,
    manifests: Vec<Arc<ManifestSet>>,
    #[cfg(feature = "watch")]
    directories: Vec<Directory>,
    api: Configurations,
    more: Vec<Arc<Configurations>>,
    steps: Steps,
    helpers: Helpers,
    #[cfg(feature = "webhooks")]
    callers: crate::hooks::Callers,
    /// What webhooks of a plugin are shown.
    #[cfg(feature = "webhooks")]
    credentials: Vec<(Plugin, pratique_types::KubeConfig)>,
    #[cfg(feature = "webhooks")]
    plain_http_redirects: bool,
}

/// Webhooks that nobody calls. To go on without them would let in what they were meant to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} objects of plugin {plugin} load, but nobody is there to call webhooks")]
pub struct NotEvaluated {
    /// The plugin that evaluates them in an API server.
    pub plugin: Plugin,
    /// How many there are.
    pub count: usize,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let compilations = Compilations::default();
        Builder {
            expressions: Expressions::new(Arc::new(compilations.cache())),
            compilations,
            feature_gates: FeatureGates::default(),
            registry_checks: false,
            on_undecided: OnUndecided::default(),
            manifests: Vec::new(),
            #[cfg(feature = "watch")]
            directories: Vec::new(),
            api: Configurations::default(),
            more: Vec::new(),
            steps: Steps::default(),
            helpers: Helpers::default(),
            #[cfg(feature = "webhooks")]
            callers: crate::hooks::Callers::default(),
            #[cfg(feature = "webhooks")]
            credentials: Vec::new(),
            #[cfg(feature = "webhooks")]
            plain_http_redirects: false,
        }
    }

    /// Sets feature gates of kube-apiserver. Set them before what they decide about: manifests are loaded as they are
    /// added.
    pub fn feature_gates(self, feature_gates: FeatureGates) -> Self {
        Builder {
            feature_gates,
            ..self
        }
    }

    /// Between the two phases, checks configuration of admission as the registry of an API server does: names that are
    /// reserved for static manifests are refused or warned of, and webhooks whose rules name what webhooks never see
    /// are warned of. An API server does that itself; this is for those who stand in for one.
    pub fn registry_checks(self, registry_checks: bool) -> Self {
        Builder {
            registry_checks,
            ..self
        }
    }

    /// Sets what becomes of policies and webhooks whose decision depends on what is not given: the answer to an
    /// authorization check, more of a namespace than its name. Unless set, the request is
    /// [undecided](crate::AdmissionDecision::Undecided).
    pub fn on_undecided(self, on_undecided: OnUndecided) -> Self {
        Builder { on_undecided, ..self }
    }

    /// Has these help with what is loaded and compiled from here on, and with requests that meet very many policies.
    /// Without, [`Threads`](crate::Threads) help with the former and [`Cores`](crate::Cores) with the latter.
    pub fn workers(self, workers: impl Workers + 'static) -> Self {
        Builder {
            helpers: Helpers::of(workers),
            ..self
        }
    }

    /// Adds what an AdmissionConfiguration file names.
    ///
    /// # Errors
    /// All that is wrong with the file and the manifests it names.
    pub fn configuration(mut self, path: &str) -> Result<Self, ConfigurationErrors> {
        let options = ConfigurationOptions {
            manifests: self.options(),
            manifest_gate: self.feature_gates.manifests,
        };
        let loaded = load_configuration(path, &options)?;
        for plugin in loaded.plugins {
            if let Some(path) = &plugin.static_manifests_dir {
                self.note(path, plugin.plugin);
            }
            #[cfg(feature = "webhooks")]
            if let Some(credentials) = plugin.kube_config {
                self = self.credentials(plugin.plugin, credentials);
            }
            self.manifests.push(Arc::new(plugin.manifests));
        }
        Ok(self)
    }

    /// Adds a directory of static manifests.
    ///
    /// # Errors
    /// All that is wrong with the manifests.
    pub fn directory(mut self, path: &str, plugin: Plugin) -> Result<Self, LoadErrors> {
        let set = load_directory(path, plugin, &self.options())?;
        self.note(path, plugin);
        Ok(self.manifests(set))
    }

    fn options(&self) -> Options<'_> {
        Options::new(&self.expressions).with_workers(&*self.helpers.starting)
    }

    /// Remembers that the next set is that of a directory.
    fn note(&mut self, path: &str, plugin: Plugin) {
        #[cfg(feature = "watch")]
        self.directories.push(Directory {
            path: path.to_owned(),
            plugin,
            place: self.manifests.len(),
        });
        #[cfg(not(feature = "watch"))]
        let _ = (path, plugin);
    }

    /// Adds static manifests that were read already.
    ///
    /// # Errors
    /// All that is wrong with the manifests.
    pub fn files(self, files: &[ManifestFile], plugin: Plugin) -> Result<Self, LoadErrors> {
        let set = load_files(files, plugin, &self.options())?;
        Ok(self.manifests(set))
    }

    /// The compiler for sets that are loaded elsewhere: what it compiled need not be compiled again.
    pub fn expressions(&self) -> &Expressions {
        &self.expressions
    }

    /// Adds static manifests that were loaded already.
    pub fn manifests(mut self, set: ManifestSet) -> Self {
        self.manifests.push(Arc::new(set));
        self
    }

    /// Adds validating policies and bindings of the API: defaulted, and used as far as they go where they are not valid.
    pub fn api(
        mut self,
        policies: impl IntoIterator<Item = impl Into<Arc<ValidatingAdmissionPolicy>>>,
        bindings: impl IntoIterator<Item = impl Into<Arc<ValidatingAdmissionPolicyBinding>>>,
    ) -> Self {
        let own = &mut self.api;
        own.validating_policies
            .extend(policies.into_iter().map(Into::into));
        own.validating_bindings
            .extend(bindings.into_iter().map(Into::into));
        self
    }

    /// Adds mutating policies and bindings of the API, as [`api`](Self::api) does.
    pub fn api_mutating(
        mut self,
        policies: impl IntoIterator<Item = impl Into<Arc<MutatingAdmissionPolicy>>>,
        bindings: impl IntoIterator<Item = impl Into<Arc<MutatingAdmissionPolicyBinding>>>,
    ) -> Self {
        let own = &mut self.api;
        own.mutating_policies.extend(policies.into_iter().map(Into::into));
        own.mutating_bindings.extend(bindings.into_iter().map(Into::into));
        self
    }

    /// Puts a step of the caller's own into the chain, behind those that are at the same place already.
    pub fn step(mut self, place: Place, step: impl AdmissionStep + 'static) -> Self {
        self.steps.add(place, Arc::new(step));
        self
    }

    /// Has all webhooks called by `caller`.
    #[cfg(feature = "webhooks")]
    pub fn caller(mut self, caller: impl pratique_webhook::Caller + 'static) -> Self {
        let caller: Arc<dyn pratique_webhook::Caller> = Arc::new(caller);
        self.callers.mutating = Some(caller.clone());
        self.callers.validating = Some(caller);
        self
    }

    /// Shows the webhooks of a plugin the credentials that a kubeconfig has for them.
    #[cfg(feature = "webhooks")]
    pub fn credentials(mut self, plugin: Plugin, credentials: pratique_types::KubeConfig) -> Self {
        self.credentials.push((plugin, credentials));
        self
    }

    /// Has webhooks called over HTTPS, unless somebody was named to call them; they are shown the credentials of the
    /// kubeconfigs that an AdmissionConfiguration names. This is what [`live`](Self::live) does.
    #[cfg(feature = "webhooks")]
    pub fn https(mut self) -> Self {
        let caller = |plugin: Plugin| -> Arc<dyn pratique_webhook::Caller> {
            let mut credentials = self.credentials.iter();
            let own = credentials.find(|(of, _)| *of == plugin);
            let builder = pratique_webhook::HttpCaller::builder();
            let builder = builder.plain_http_redirects(self.plain_http_redirects);
            Arc::new(match own {
                Some((_, credentials)) => builder.credentials(Arc::new(credentials.clone())).build(),
                None => builder.build(),
            })
        };
        let callers = &self.callers;
        let mutating = callers.mutating.clone();
        let validating = callers.validating.clone();
        let mutating = mutating.unwrap_or_else(|| caller(Plugin::MutatingAdmissionWebhook));
        let validating = validating.unwrap_or_else(|| caller(Plugin::ValidatingAdmissionWebhook));
        self.callers.mutating = Some(mutating);
        self.callers.validating = Some(validating);
        self
    }

    /// Whether redirections of webhooks from https to http are followed, as an API server does; if not, they fail. Tell it
    /// before [`https`](Self::https) and [`live`](Self::live).
    #[cfg(feature = "webhooks")]
    pub fn plain_http_redirects(mut self, followed: bool) -> Self {
        self.plain_http_redirects = followed;
        self
    }

    /// Guards all calls of webhooks in ways that an API server does not.
    #[cfg(feature = "webhooks")]
    pub fn guards(mut self, guards: crate::guards::Guards) -> Self {
        self.callers.guards = guards;
        self
    }

    /// Finds the services that webhooks are behind in this way; without, that is left to the cluster's DNS.
    #[cfg(feature = "webhooks")]
    pub fn services(mut self, services: impl pratique_webhook::Services + 'static) -> Self {
        self.callers.services = Some(Arc::new(services));
        self
    }

    /// Adds other configuration of the API, webhooks included.
    pub fn configurations(mut self, configurations: Configurations) -> Self {
        self.more.push(Arc::new(configurations));
        self
    }

    /// Compiles everything.
    ///
    /// # Errors
    /// Webhooks that nobody calls.
    pub fn build(self) -> Result<Admission, NotEvaluated> {
        Ok(self.ingredients().compile(None)?.for_good())
    }

    /// Goes on to what a [`Live`](crate::Live) needs besides. The directories that were added stay current.
    pub fn live(self) -> LiveBuilder {
        #[cfg(feature = "webhooks")]
        {
            let refused = self.commands();
            self.https().into_live().refused(refused)
        }
        #[cfg(not(feature = "webhooks"))]
        self.into_live()
    }

    /// The first user of a kubeconfig for webhooks whose credentials a command gives, which is not run: every call would
    /// fail.
    #[cfg(feature = "webhooks")]
    fn commands(&self) -> Option<crate::live::StartError> {
        let is_called_by_others = |plugin: Plugin| match plugin {
            Plugin::MutatingAdmissionWebhook => self.callers.mutating.is_some(),
            _ => self.callers.validating.is_some(),
        };
        let credentials = self.credentials.iter();
        let mut credentials = credentials.filter(|(plugin, _)| !is_called_by_others(*plugin));
        credentials.find_map(|(plugin, config)| {
            let (user, _) = config.users.iter().find(|(_, user)| {
                let is_static =
                    !user.token.is_empty() || user.token_file.is_some() || !user.username.is_empty();
                user.has_exec && !is_static
            })?;
            Some(crate::live::StartError::ExecCredentials {
                plugin: *plugin,
                user: user.clone(),
            })
        })
    }

    #[cfg_attr(not(feature = "watch"), expect(unused_mut, reason = "nothing is taken out"))]
    fn into_live(mut self) -> LiveBuilder {
        #[cfg(feature = "watch")]
        let (directories, expressions) = (std::mem::take(&mut self.directories), self.expressions.clone());
        LiveBuilder::new(
            self.ingredients(),
            #[cfg(feature = "watch")]
            directories,
            #[cfg(feature = "watch")]
            expressions,
        )
    }

    fn ingredients(self) -> Ingredients {
        Ingredients {
            cache: self.expressions.cache().clone(),
            compilations: self.compilations,
            sets: self.manifests,
            api: std::iter::once(Arc::new(self.api)).chain(self.more).collect(),
            steps: self.steps,
            on_undecided: self.on_undecided,
            helpers: self.helpers,
            #[cfg(feature = "webhooks")]
            callers: self.callers.guarded(),
            feature_gates: self.feature_gates,
            registry_checks: self.registry_checks,
        }
    }
}
