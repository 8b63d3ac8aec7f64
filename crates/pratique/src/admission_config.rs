//! The configuration that an [`Admission`] is compiled from, and compiling it again after changes.

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_manifest::{Kind, ManifestPlugin, ManifestSet, SourcedObject};
use pratique_policy::{MutatingPolicies, Origin, Policies};
use pratique_types::admissionregistration::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
#[cfg(feature = "webhooks")]
use pratique_webhook::{MutatingWebhooks, ValidatingWebhooks};
use pratique_workers::{Sequential, Workers};

use crate::admission::Admission;
use crate::builder::NotEvaluated;
use crate::compilations::CompilationTimes;
use crate::configurations::Configurations;
use crate::settings::AdmissionSettings;
#[cfg(feature = "webhooks")]
use crate::webhooks::{CompiledWebhooks, WebhookCallers};

/// Static manifests, objects of the API, and settings.
#[derive(Clone, Debug)]
pub(crate) struct AdmissionConfig {
    pub(crate) cache: Arc<Cache>,
    /// The times that the cache measured.
    pub(crate) compilations: CompilationTimes,
    pub(crate) sets: Vec<Arc<ManifestSet>>,
    pub(crate) api: Vec<Arc<Configurations>>,
    pub(crate) settings: AdmissionSettings,
    #[cfg(feature = "webhooks")]
    pub(crate) callers: WebhookCallers,
}

impl AdmissionConfig {
    /// Compiles everything; policies and webhooks of `previous` whose objects are the same are reused.
    pub(crate) fn compile(&self, previous: Option<&Admission>) -> Result<Admission, NotEvaluated> {
        self.check_callers()?;
        Ok(Admission {
            mutating: self.mutating_policies(previous),
            validating: self.validating_policies(previous),
            names: self.names(),
            settings: self.settings.clone(),
            #[cfg(feature = "webhooks")]
            webhooks: self.webhooks(previous.map(|previous| &previous.webhooks)),
        })
    }

    fn mutating_policies(&self, previous: Option<&Admission>) -> [Arc<MutatingPolicies>; 2] {
        let (cache, workers) = (&*self.cache, self.workers(previous));
        let is_on = self.mutates_by_policies();
        compile_origins(
            previous.map(|previous| &previous.mutating),
            |origin| MutatingPolicies::compile([], [], origin, cache),
            |previous, origin| {
                let policies =
                    self.objects(origin, |set| &set.mutating_policies, |api| &api.mutating_policies);
                let bindings =
                    self.objects(origin, |set| &set.mutating_bindings, |api| &api.mutating_bindings);
                previous.recompile(
                    policies.filter(|_| is_on),
                    bindings.filter(|_| is_on),
                    cache,
                    workers,
                )
            },
        )
    }

    /// Whether the server evaluates mutating policies: before 1.36 it does not, unless the gate is set.
    // Upstream: apiserver/pkg/admission/plugin/policy/mutating/plugin.go, InspectFeatureGates
    fn mutates_by_policies(&self) -> bool {
        const GATE: &str = "MutatingAdmissionPolicy";
        let gates = self.settings.feature_gates;
        gates.release().gates().get(GATE).is_none() || gates.is_on(GATE)
    }

    fn validating_policies(&self, previous: Option<&Admission>) -> [Arc<Policies>; 2] {
        let (cache, workers) = (&*self.cache, self.workers(previous));
        compile_origins(
            previous.map(|previous| &previous.validating),
            |origin| Policies::compile([], [], origin, cache),
            |previous, origin| {
                let policies = self.objects(
                    origin,
                    |set| &set.validating_policies,
                    |api| &api.validating_policies,
                );
                let bindings = self.objects(
                    origin,
                    |set| &set.validating_bindings,
                    |api| &api.validating_bindings,
                );
                previous.recompile(policies, bindings, cache, workers)
            },
        )
    }

    #[cfg(feature = "webhooks")]
    fn webhooks(&self, previous: Option<&CompiledWebhooks>) -> CompiledWebhooks {
        let cache = &*self.cache;
        CompiledWebhooks {
            mutating: compile_origins(
                previous.map(|previous| &previous.mutating),
                |origin| MutatingWebhooks::compile([], origin, cache),
                |previous, origin| previous.recompile(self.mutating_webhooks(origin), cache),
            ),
            validating: compile_origins(
                previous.map(|previous| &previous.validating),
                |origin| ValidatingWebhooks::compile([], origin, cache),
                |previous, origin| previous.recompile(self.validating_webhooks(origin), cache),
            ),
            callers: self.callers.clone(),
        }
    }

    fn mutating_webhooks(&self, origin: Origin) -> impl Iterator<Item = &Arc<MutatingWebhookConfiguration>> {
        self.objects(origin, |set| &set.mutating_webhooks, |api| &api.mutating_webhooks)
    }

    fn validating_webhooks(
        &self,
        origin: Origin,
    ) -> impl Iterator<Item = &Arc<ValidatingWebhookConfiguration>> {
        self.objects(
            origin,
            |set| &set.validating_webhooks,
            |api| &api.validating_webhooks,
        )
    }

    /// The workers to compile on: all before the first request, and none while requests need the cores.
    fn workers(&self, previous: Option<&Admission>) -> &dyn Workers {
        match previous {
            None => &*self.settings.helpers.starting,
            Some(_) => &Sequential,
        }
    }

    /// The objects of one kind and origin.
    fn objects<'a, T: 'a>(
        &'a self,
        origin: Origin,
        of_set: impl Fn(&'a ManifestSet) -> &'a Vec<SourcedObject<T>> + 'a,
        of_api: impl Fn(&'a Configurations) -> &'a Vec<Arc<T>> + 'a,
    ) -> impl Iterator<Item = &'a Arc<T>> {
        let (sets, api): (&[_], &[_]) = match origin {
            Origin::Static => (&self.sets, &[]),
            Origin::Api => (&[], &self.api),
        };
        let loaded = sets.iter().flat_map(move |set| of_set(set));
        let stored = api.iter().flat_map(move |api| of_api(api));
        loaded.map(|loaded| &loaded.object).chain(stored)
    }

    /// The names of the static policies: mutating ones first, each kind in the order in which they act.
    fn names(&self) -> Arc<[String]> {
        let objects = self.sets.iter().flat_map(|set| set.objects());
        let policies = objects.filter(|object| object.kind.is_policy());
        let mut names: Vec<_> = policies
            .map(|policy| (policy.kind == Kind::ValidatingAdmissionPolicy, policy.name))
            .collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    /// Fails where there are webhooks and no caller for them.
    fn check_callers(&self) -> Result<(), NotEvaluated> {
        let of_both = [Origin::Static, Origin::Api].into_iter();
        let mutating = of_both.clone().flat_map(|origin| self.mutating_webhooks(origin));
        let validating = of_both.flat_map(|origin| self.validating_webhooks(origin));
        let counts = [
            (ManifestPlugin::MutatingAdmissionWebhook, mutating.count()),
            (ManifestPlugin::ValidatingAdmissionWebhook, validating.count()),
        ];
        let mut counts = counts.into_iter();
        match counts.find(|(plugin, count)| *count > 0 && !self.has_caller(*plugin)) {
            Some((plugin, count)) => Err(NotEvaluated { plugin, count }),
            None => Ok(()),
        }
    }

    #[cfg(feature = "webhooks")]
    fn has_caller(&self, plugin: ManifestPlugin) -> bool {
        match plugin {
            ManifestPlugin::MutatingAdmissionWebhook => self.callers.mutating.is_some(),
            _ => self.callers.validating.is_some(),
        }
    }

    #[cfg(not(feature = "webhooks"))]
    fn has_caller(&self, _: ManifestPlugin) -> bool {
        false
    }
}

/// Compiles one phase of each origin, in the order in which they run: `recompile` gets the previous set, or the one of
/// `empty`.
fn compile_origins<C>(
    previous: Option<&[Arc<C>; 2]>,
    empty: impl Fn(Origin) -> C,
    recompile: impl Fn(&C, Origin) -> C,
) -> [Arc<C>; 2] {
    match previous {
        Some([first, second]) => [(first, Origin::Static), (second, Origin::Api)]
            .map(|(previous, origin)| Arc::new(recompile(previous, origin))),
        None => [Origin::Static, Origin::Api].map(|origin| Arc::new(recompile(&empty(origin), origin))),
    }
}
