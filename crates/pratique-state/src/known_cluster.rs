//! The state of a cluster as a whole, to which others add their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique::authorization::{Authorizer, NoAuthorizer};
use pratique_json::Value;
use pratique_rbac::{Completeness, MoreRoles, Rbac, is_rbac};
use pratique_request::ResourceResolver;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::authorizer::known_roles;
use crate::cluster_objects::{ClusterObjects, ObjectOrigin};

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

/// What engines ask of a known cluster; suites and their cases add theirs.
#[derive(Debug)]
pub struct ClusterBase {
    objects: Objects,
    has_all_namespaces: bool,
    /// What is known of its resources.
    pub resolver: ResourceResolver,
    /// The kinds whose objects are completed, by its definitions.
    pub api_objects: ApiObjects,
    permissions: ClusterPermissions,
}

/// How authorization checks are answered.
#[derive(Debug)]
enum ClusterPermissions {
    /// By the cluster's own authorizer.
    Cluster(Arc<dyn Authorizer>),
    /// By roles and bindings.
    Roles(Vec<Value<'static>>, Completeness),
}

impl ClusterBase {
    /// The state of a cluster, and the reasons for which custom resources are not defaulted. What is not known of the cluster is
    /// undecided.
    pub fn new(known: &KnownCluster) -> (Self, Vec<String>) {
        let mut cluster = ClusterObjects {
            resolver: known.resolver.clone(),
            ..ClusterObjects::default()
        };
        let objects = known.objects.iter().cloned();
        let faults = objects.filter_map(|object| cluster.add(object, ObjectOrigin::Stored).err());
        let faults = faults.map(|error| error.to_string()).collect();
        let ClusterObjects {
            objects,
            resolver,
            kinds: api_objects,
        } = cluster;
        let mut base = ClusterBase {
            objects,
            has_all_namespaces: known
                .complete
                .contains(&GroupVersionKind::new("", "v1", "Namespace")),
            resolver,
            api_objects,
            permissions: ClusterPermissions::new(known),
        };
        for served in &known.served {
            base.objects.serve_found(served);
        }
        base.resolver.serve(known.served.iter().cloned());
        base.objects.assume_params();
        let complete = known.complete.iter().cloned();
        complete.for_each(|kind| base.objects.complete_params(kind));
        (base, faults)
    }

    /// The same objects in a cluster of another release; its resolver and the kinds that are completed stay as they are.
    #[must_use]
    pub fn with_release(self, release: &'static Release) -> Self {
        ClusterBase {
            objects: self.objects.with_release(release),
            ..self
        }
    }

    /// Its objects.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Whether all its namespaces are known.
    pub fn has_all_namespaces(&self) -> bool {
        self.has_all_namespaces
    }

    /// Its authorizer, which the roles and bindings among some objects let allow more. If `has_others`, these are of another
    /// cluster as well, and none is known as a whole.
    pub fn authorizer<'o>(
        &'o self,
        objects: impl IntoIterator<Item = &'o Value<'static>>,
        has_others: bool,
    ) -> Arc<dyn Authorizer> {
        self.permissions.with(objects, has_others)
    }
}

impl ClusterPermissions {
    fn new(known: &KnownCluster) -> Self {
        match &known.authorizer {
            Some(authorizer) => ClusterPermissions::Cluster(Arc::clone(authorizer)),
            None => {
                let roles = known.objects.iter().filter(|object| is_rbac(object));
                ClusterPermissions::Roles(roles.cloned().collect(), known.permissions.clone())
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
            ClusterPermissions::Cluster(authorizer) => {
                let roles: Rbac = objects.into_iter().collect();
                Arc::new(MoreRoles::new(roles, Arc::clone(authorizer)))
            }
            ClusterPermissions::Roles(roles, completeness) => {
                let completeness = if has_others {
                    Completeness::Partial
                } else {
                    completeness.clone()
                };
                match known_roles(roles.iter().chain(objects).collect(), completeness) {
                    Some(roles) => Arc::new(roles),
                    None => Arc::new(NoAuthorizer),
                }
            }
        }
    }
}
