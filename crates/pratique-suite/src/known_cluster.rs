//! The state of a cluster, to which suites add their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique::authorization::{Authorizer, NoAuthorizer};
use pratique_json::Value;
use pratique_rbac::{Completeness, MoreRoles, Rbac, RbacAuthorizer, is_rbac};
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::authorizer::{Rules, authorizer_of};
use crate::chain::PluginState;
use crate::load::Policies;
use crate::request::cluster::with_name_label;
use crate::request::{ResourceResolver, is_definition};
use crate::stored_state::{StoredState, completeness};

/// The known state of a cluster: read from it, or from a snapshot.
#[derive(Clone, Debug)]
pub struct KnownCluster {
    /// Its objects.
    pub objects: Vec<Value<'static>>,
    /// The kinds of which these are all objects.
    pub complete: BTreeSet<GroupVersionKind>,
    /// The resources that it serves besides those of Kubernetes.
    pub served: Vec<ServedResource>,
    /// What is known of its resources besides.
    pub resolver: ResourceResolver,
    /// How much the roles and bindings among the objects say.
    pub permissions: Completeness,
    /// The cluster's own authorizer, if it can be asked.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

/// The state of a cluster, to which suites and cases add theirs.
#[derive(Debug)]
pub(crate) struct ClusterBase {
    objects: Objects,
    has_all_namespaces: bool,
    resolver: ResourceResolver,
    api_objects: ApiObjects,
    permissions: Permissions,
}

/// How authorization checks are answered.
#[derive(Debug)]
enum Permissions {
    /// By the cluster's own authorizer.
    Cluster(Arc<dyn Authorizer>),
    /// By roles and bindings.
    Roles(Vec<Value<'static>>, Completeness),
}

impl Policies {
    /// Evaluates over the state of a cluster. What a suite gives itself counts instead of what the cluster has of that name,
    /// and what is not known of the cluster is undecided. Gives the reasons for which custom resources are not defaulted.
    pub fn over(&mut self, known: &KnownCluster) -> Vec<String> {
        let mut base = ClusterBase {
            objects: Objects::new(),
            has_all_namespaces: known
                .complete
                .contains(&GroupVersionKind::new("", "v1", "Namespace")),
            resolver: known.resolver.clone(),
            api_objects: ApiObjects::default(),
            permissions: Permissions::of(known),
        };
        let mut faults = Vec::new();
        for object in &known.objects {
            if is_definition(object) {
                match base.api_objects.define_stored(object) {
                    Ok(served) => base.resolver.serve(served),
                    Err(error) => {
                        faults.push(error.to_string());
                        continue;
                    }
                }
            }
            // What has no name is no object of a cluster.
            drop(base.objects.insert(with_name_label(object.clone())));
        }
        for served in &known.served {
            base.objects.serve_found(served);
        }
        base.resolver.serve(known.served.iter().cloned());
        base.objects.assume_params();
        let complete = known.complete.iter().cloned();
        complete.for_each(|kind| base.objects.complete_params(kind));
        if let Some(plugins) = &mut self.plugin_state {
            complete_plugins(plugins, known);
        }
        self.base = Some(base);
        faults
    }

    /// The cluster of a request, with the objects of its suite and case.
    pub(crate) fn cluster<'o>(&self, objects: impl IntoIterator<Item = &'o Value<'static>>) -> Objects {
        let mut cluster = match &self.base {
            Some(base) => base.objects.clone(),
            None => Objects::new(),
        };
        for object in objects {
            // What has no name is no object of a cluster.
            drop(cluster.insert(with_name_label(object.clone())));
        }
        if !self.base.as_ref().is_some_and(|base| base.has_all_namespaces) {
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
            (Some(base), None) => base.permissions.with(objects, snapshots.peek().is_some()),
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

impl Permissions {
    fn of(known: &KnownCluster) -> Self {
        match &known.authorizer {
            Some(authorizer) => Permissions::Cluster(Arc::clone(authorizer)),
            None => {
                let roles = known.objects.iter().filter(|object| is_rbac(object));
                Permissions::Roles(roles.cloned().collect(), known.permissions.clone())
            }
        }
    }

    /// These permissions, and those by the roles and bindings among some objects. Where these have some of another cluster as
    /// well, none is known as a whole.
    fn with<'o>(
        &'o self,
        objects: impl IntoIterator<Item = &'o Value<'static>>,
        has_others: bool,
    ) -> Arc<dyn Authorizer> {
        match self {
            Permissions::Cluster(authorizer) => {
                let roles: Rbac = objects.into_iter().collect();
                Arc::new(MoreRoles::new(roles, Arc::clone(authorizer)))
            }
            Permissions::Roles(roles, completeness) => {
                let completeness = match has_others {
                    true => Completeness::Partial,
                    false => completeness.clone(),
                };
                let rbac: Rbac = roles.iter().chain(objects).collect();
                match rbac.is_empty() && completeness == Completeness::Partial {
                    true => Arc::new(NoAuthorizer),
                    false => Arc::new(RbacAuthorizer::new(rbac, completeness)),
                }
            }
        }
    }
}
