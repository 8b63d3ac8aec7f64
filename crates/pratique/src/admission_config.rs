//! What an [`Admission`] is compiled from, and how it is compiled again when some of it changed.

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_manifest::{Loaded, ManifestSet, Plugin};
use pratique_policy::{MutatingPolicies, OnUndecided, Origin, Policies};
use pratique_types::FeatureGates;
use pratique_workers::{Sequential, Workers};

use crate::admission::Admission;
use crate::builder::NotEvaluated;
use crate::compilations::Compilations;
use crate::configurations::Configurations;
use crate::cores::Helpers;
use crate::step::Steps;

/// Sets of static manifests, objects of the API, and what holds for all of them.
#[derive(Clone, Debug)]
pub(crate) struct AdmissionConfig {
    pub(crate) cache: Arc<Cache>,
    /// Those of the cache.
    pub(crate) compilations: Compilations,
    pub(crate) sets: Vec<Arc<ManifestSet>>,
    pub(crate) api: Vec<Arc<Configurations>>,
    pub(crate) steps: Steps,
    pub(crate) helpers: Helpers,
    pub(crate) feature_gates: FeatureGates,
    pub(crate) registry_checks: bool,
    pub(crate) on_undecided: OnUndecided,
    #[cfg(feature = "webhooks")]
    pub(crate) callers: crate::hooks::Callers,
}

impl AdmissionConfig {
    /// Compiles everything; what `previous` has of it is taken over.
    pub(crate) fn compile(&self, previous: Option<&Admission>) -> Result<Admission, NotEvaluated> {
        self.evaluated()?;
        Ok(Admission {
            mutating: self.mutating(previous),
            validating: self.validating(previous),
            names: self.names(),
            feature_gates: self.feature_gates,
            registry_checks: self.registry_checks,
            on_undecided: self.on_undecided,
            steps: self.steps.clone(),
            helpers: self.helpers.clone(),
            #[cfg(feature = "webhooks")]
            hooks: crate::hooks::Hooks::compile(self, previous.map(|previous| &previous.hooks)),
        })
    }

    fn mutating(&self, previous: Option<&Admission>) -> [Arc<MutatingPolicies>; 2] {
        let workers = self.workers(previous);
        let none = |origin| Arc::new(MutatingPolicies::compile([], [], origin, &self.cache));
        let previous = previous.map(|previous| previous.mutating.clone());
        let [first, second] = previous.unwrap_or_else(|| [Origin::Static, Origin::Api].map(none));
        let policies = self.of_sets(|set| &set.mutating_policies);
        let bindings = self.of_sets(|set| &set.mutating_bindings);
        let first = first.recompile(policies, bindings, &self.cache, workers);
        let policies = self.api.iter().flat_map(|api| &api.mutating_policies);
        let bindings = self.api.iter().flat_map(|api| &api.mutating_bindings);
        let second = second.recompile(policies, bindings, &self.cache, workers);
        [first, second].map(Arc::new)
    }

    fn validating(&self, previous: Option<&Admission>) -> [Arc<Policies>; 2] {
        let workers = self.workers(previous);
        let none = |origin| Arc::new(Policies::compile([], [], origin, &self.cache));
        let previous = previous.map(|previous| previous.validating.clone());
        let [first, second] = previous.unwrap_or_else(|| [Origin::Static, Origin::Api].map(none));
        let policies = self.of_sets(|set| &set.validating_policies);
        let bindings = self.of_sets(|set| &set.validating_bindings);
        let first = first.recompile(policies, bindings, &self.cache, workers);
        let policies = self.api.iter().flat_map(|api| &api.validating_policies);
        let bindings = self.api.iter().flat_map(|api| &api.validating_bindings);
        let second = second.recompile(policies, bindings, &self.cache, workers);
        [first, second].map(Arc::new)
    }

    /// Who helps: at the start all who can, and nobody while requests need the cores.
    fn workers(&self, previous: Option<&Admission>) -> &dyn Workers {
        match previous {
            None => &*self.helpers.starting,
            Some(_) => &Sequential,
        }
    }

    /// The objects of a kind in the static manifests.
    pub(crate) fn of_sets<'a, T: 'a>(
        &'a self,
        list: impl Fn(&'a ManifestSet) -> &'a Vec<Loaded<T>> + 'a,
    ) -> impl Iterator<Item = &'a Arc<T>> {
        let lists = self.sets.iter().flat_map(move |set| list(set));
        lists.map(|loaded| &loaded.object)
    }

    /// The names of the static policies: mutating ones first, each kind in the order in which they act.
    fn names(&self) -> Arc<[String]> {
        let mutating = self.of_sets(|set| &set.mutating_policies);
        let validating = self.of_sets(|set| &set.validating_policies);
        let mut mutating: Vec<_> = mutating
            .filter_map(|policy| policy.metadata.name.clone())
            .collect();
        let mut validating: Vec<_> = validating
            .filter_map(|policy| policy.metadata.name.clone())
            .collect();
        mutating.sort();
        validating.sort();
        mutating.into_iter().chain(validating).collect()
    }

    /// Whether there is somebody to call the webhooks.
    fn evaluated(&self) -> Result<(), NotEvaluated> {
        let mutating = self.of_sets(|set| &set.mutating_webhooks).count()
            + self
                .api
                .iter()
                .map(|api| api.mutating_webhooks.len())
                .sum::<usize>();
        let validating = self.of_sets(|set| &set.validating_webhooks).count()
            + self
                .api
                .iter()
                .map(|api| api.validating_webhooks.len())
                .sum::<usize>();
        let uncalled = [
            (Plugin::MutatingAdmissionWebhook, mutating),
            (Plugin::ValidatingAdmissionWebhook, validating),
        ];
        match uncalled
            .into_iter()
            .find(|(plugin, count)| *count > 0 && !self.calls(*plugin))
        {
            Some((plugin, count)) => Err(NotEvaluated { plugin, count }),
            None => Ok(()),
        }
    }

    #[cfg(feature = "webhooks")]
    fn calls(&self, plugin: Plugin) -> bool {
        match plugin {
            Plugin::MutatingAdmissionWebhook => self.callers.mutating.is_some(),
            _ => self.callers.validating.is_some(),
        }
    }

    #[cfg(not(feature = "webhooks"))]
    fn calls(&self, _: Plugin) -> bool {
        false
    }
}
