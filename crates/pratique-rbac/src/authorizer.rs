//! Answers checks of expressions by roles and bindings.

use std::sync::Arc;

use pratique_cel::library::authz::{Answer, Authorizer, Check, User};

use crate::objects::Rbac;
use crate::subjects::KnownSubjects;

/// Whether roles and bindings are all that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// They are: anything that they do not allow is denied.
    Complete,
    /// They are for these users: anything that they do not allow is denied to these users, and unknown for others.
    Of(KnownSubjects),
    /// There may be others: anything that they do not allow is unknown.
    Partial,
}

/// An authorizer by roles and bindings.
#[derive(Clone, Debug)]
pub struct RbacAuthorizer {
    rbac: Rbac,
    completeness: Completeness,
}

impl RbacAuthorizer {
    /// An authorizer by roles and bindings, which are all that there are or not.
    pub fn new(rbac: Rbac, completeness: Completeness) -> Self {
        RbacAuthorizer { rbac, completeness }
    }
}

impl Completeness {
    fn covers(&self, user: &User) -> bool {
        match self {
            Completeness::Complete => true,
            Completeness::Of(known) => known.covers(user),
            Completeness::Partial => false,
        }
    }
}

impl Authorizer for RbacAuthorizer {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let decision = self.rbac.decide(check);
        let is_known = decision.allowed
            || (self.completeness.covers(check.user) && !self.rbac.is_unsettled() && !is_node(check.user));
        if is_known {
            Answer::Decided(decision)
        } else {
            Answer::Unknown
        }
    }
}

/// Roles and bindings that allow more than another authorizer does.
#[derive(Clone, Debug)]
pub struct MoreRoles {
    roles: Rbac,
    authorizer: Arc<dyn Authorizer>,
}

impl MoreRoles {
    /// Roles and bindings besides those by which an authorizer decides.
    pub fn new(roles: Rbac, authorizer: Arc<dyn Authorizer>) -> Self {
        MoreRoles { roles, authorizer }
    }
}

impl Authorizer for MoreRoles {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        // Permissions add up.
        if !self.roles.is_empty() {
            let decision = self.roles.decide(check);
            if decision.allowed {
                return Answer::Decided(decision);
            }
        }
        self.authorizer.authorize(check)
    }
}

/// Whether a user is a node, for which API servers have a separate authorizer.
// Upstream: kubernetes/pkg/auth/nodeidentifier/default.go, NodeIdentity
fn is_node(user: &User) -> bool {
    user.name.starts_with("system:node:") && user.groups.iter().any(|group| group == "system:nodes")
}
