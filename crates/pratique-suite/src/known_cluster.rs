//! Suites over the known state of a cluster, to which they add their own.

use std::sync::Arc;

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique::authorization::Authorizer;
use pratique_json::Value;
use pratique_request::ResourceResolver;
use pratique_state::cluster::with_name_label;
use pratique_state::{
    ClusterBase, KnownCluster, PluginState, Rules, StoredState, authorizer_of, completeness,
};

use crate::load::Policies;

impl Policies {
    /// Evaluates over the state of a cluster. What a suite gives itself counts instead of what the cluster has of that name,
    /// and what is not known of the cluster is undecided. Gives the reasons for which custom resources are not defaulted.
    pub fn over(&mut self, known: &KnownCluster) -> Vec<String> {
        let (base, faults) = ClusterBase::new(known);
        if let Some(plugins) = &mut self.plugin_state {
            complete_plugins(plugins, known);
        }
        self.base = Some(base.with_release(self.gates.release()));
        for policies in self.of_releases() {
            // Their faults are the same.
            policies.over(known);
        }
        faults
    }

    /// The cluster of a request, with the objects of its suite and case.
    pub(crate) fn cluster<'o>(&self, objects: impl IntoIterator<Item = &'o Value<'static>>) -> Objects {
        let mut cluster = match &self.base {
            Some(base) => base.objects().clone(),
            None => Objects::of_release(self.gates.release()),
        };
        for object in objects {
            // What has no name is no object of a cluster.
            drop(cluster.insert(with_name_label(object.clone())));
        }
        if !self.base.as_ref().is_some_and(ClusterBase::has_all_namespaces) {
            cluster.assume_namespaces();
        }
        cluster
    }

    /// The authorizer: the rules of the suite and the case if they have some, else that of the cluster; roles and bindings of
    /// the suite allow more.
    pub(crate) fn authorizer<'o>(
        &'o self,
        rules: Option<Rules>,
        objects: impl IntoIterator<Item = &'o Value<'static>>,
        snapshots: impl Iterator<Item = &'o StoredState>,
    ) -> Arc<dyn Authorizer> {
        let mut snapshots = snapshots.peekable();
        match (&self.base, &rules) {
            (Some(base), None) => base.authorizer(objects, snapshots.peek().is_some()),
            // The roles and bindings of a suite are all there are.
            _ => authorizer_of(rules, objects, completeness(snapshots)),
        }
    }

    /// The resources of the cluster.
    pub(crate) fn resolver(&self) -> ResourceResolver {
        let base = self.base.as_ref();
        base.map(|base| base.resolver.clone()).unwrap_or_default()
    }

    /// The kinds whose objects are completed, by the definitions of the cluster.
    pub(crate) fn api_objects(&self) -> ApiObjects {
        let base = self.base.as_ref();
        base.map(|base| base.api_objects.clone()).unwrap_or_default()
    }
}

/// Adds the known state of a cluster to the state that plugins look up.
fn complete_plugins(plugins: &mut PluginState, known: &KnownCluster) {
    for object in &known.objects {
        plugins.add(&with_name_label(object.clone()));
    }
    known.complete.iter().for_each(|kind| plugins.complete_kind(kind));
}
