//! The permissions of users in reviews.

use std::sync::Arc;

use pratique::authorization::{AtOnce, Authorizer, CheckDecider, NoAuthorizer};
use pratique_json::Value;
#[cfg(feature = "kube")]
use pratique_rbac::MoreRoles;
use pratique_rbac::{Completeness, RbacAuthorizer};
use pratique_state::{Rules, known_roles};

#[cfg(feature = "kube")]
use crate::snapshot::ClusterAccess;
use crate::snapshot::LoadedState;

/// The permissions of users.
pub(crate) enum UserPermissions {
    /// By rules.
    Rules(Rules),
    /// By roles and bindings.
    Rbac(RbacAuthorizer),
    /// By the answers of a cluster.
    #[cfg(feature = "kube")]
    Cluster(MoreRoles),
    /// They are not known.
    Unknown,
}

impl UserPermissions {
    /// Permissions by rules, if there are any, or by the roles and bindings of the state and of what is known of the cluster,
    /// which may answer itself; `complete` is whether the state is all that there is.
    pub(crate) fn new(
        rules: Option<Rules>,
        loaded: &LoadedState,
        state: &[Value<'static>],
        complete: bool,
    ) -> Self {
        if let Some(rules) = rules {
            return UserPermissions::Rules(rules);
        }
        #[cfg(feature = "kube")]
        if let Some(server) = &loaded.server {
            let cluster = Arc::new(ClusterAccess::new(server));
            return UserPermissions::Cluster(MoreRoles::new(state.iter().collect(), cluster));
        }
        let completeness = if complete {
            Completeness::Complete
        } else {
            loaded.permissions()
        };
        let roles = loaded.objects().chain(state).collect();
        known_roles(roles, completeness).map_or(UserPermissions::Unknown, UserPermissions::Rbac)
    }

    /// An authorizer with these permissions.
    pub(crate) fn authorizer(self) -> Arc<dyn Authorizer> {
        match self {
            UserPermissions::Rules(rules) => Arc::new(rules),
            UserPermissions::Rbac(rbac) => Arc::new(rbac),
            #[cfg(feature = "kube")]
            UserPermissions::Cluster(cluster) => Arc::new(cluster),
            UserPermissions::Unknown => Arc::new(NoAuthorizer),
        }
    }

    /// A decider with these permissions.
    pub(crate) fn decider(self) -> Box<dyn CheckDecider> {
        match self {
            UserPermissions::Rules(rules) => Box::new(rules),
            UserPermissions::Rbac(rbac) => Box::new(AtOnce(rbac)),
            #[cfg(feature = "kube")]
            UserPermissions::Cluster(cluster) => Box::new(AtOnce(cluster)),
            UserPermissions::Unknown => Box::new(NoAuthorizer),
        }
    }
}
