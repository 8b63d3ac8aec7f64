//! Who may do what, in reviews.

use std::sync::Arc;

use pratique::authorization::{AtOnce, Authorizer, Decider, NoAuthorizer};
use pratique_json::Value;
use pratique_rbac::{Completeness, Rbac, RbacAuthorizer, is_rbac};
use pratique_suite::Rules;

/// Who may do what.
pub(super) enum Permissions {
    /// As rules say it.
    Rules(Rules),
    /// As roles and bindings say it.
    Rbac(RbacAuthorizer),
    /// It is not known.
    Unknown,
}

impl Permissions {
    /// Permissions by rules, if there are any, or by the roles and bindings of the state; `complete` is whether these are
    /// all.
    pub(super) fn new(rules: Option<Rules>, state: &[Value<'static>], complete: bool) -> Self {
        if let Some(rules) = rules {
            return Permissions::Rules(rules);
        }
        let mut roles = state.iter().filter(|object| is_rbac(object)).peekable();
        let completeness = match complete {
            true => Completeness::Complete,
            false => Completeness::Partial,
        };
        match roles.peek().is_none() && !complete {
            true => Permissions::Unknown,
            false => {
                let rbac: Rbac = roles.collect();
                Permissions::Rbac(RbacAuthorizer::new(rbac, completeness))
            }
        }
    }

    /// An authorizer with these permissions.
    pub(super) fn authorizer(self) -> Arc<dyn Authorizer> {
        match self {
            Permissions::Rules(rules) => Arc::new(rules),
            Permissions::Rbac(rbac) => Arc::new(rbac),
            Permissions::Unknown => Arc::new(NoAuthorizer),
        }
    }

    /// A decider with these permissions.
    pub(super) fn decider(self) -> Box<dyn Decider> {
        match self {
            Permissions::Rules(rules) => Box::new(rules),
            Permissions::Rbac(rbac) => Box::new(AtOnce(rbac)),
            Permissions::Unknown => Box::new(NoAuthorizer),
        }
    }
}
