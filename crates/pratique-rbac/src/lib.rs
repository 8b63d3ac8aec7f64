//! Kubernetes' RBAC authorizer over objects: who may do what, by roles and bindings.
//!
//! [`Rbac`] holds Roles, ClusterRoles, RoleBindings and ClusterRoleBindings, and answers checks as an API server with
//! `--authorization-mode=RBAC` does, whose first authorizer allows everything to the group `system:masters`. The roles and
//! bindings that an API server creates when it starts are there only if they are given.
//!
//! ```
//! use pratique_rbac::authz::{Check, ResourceCheck, Target, User};
//! use pratique_rbac::{Rbac, json};
//!
//! let objects = [
//!     r#"{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"},
//!         "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}"#,
//!     r#"{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "dev", "namespace": "shop"},
//!         "roleRef": {"kind": "ClusterRole", "name": "reader"}, "subjects": [{"kind": "Group", "name": "dev"}]}"#,
//! ];
//! let objects: Vec<_> = objects.iter().map(|text| json::parse(text.as_bytes())).collect::<Result<_, _>>()?;
//! let rbac: Rbac = objects.iter().collect();
//!
//! let user = User { name: "ann".to_owned(), groups: vec!["dev".to_owned()], ..User::default() };
//! let pods = ResourceCheck { resource: "pods".to_owned(), namespace: "shop".to_owned(), ..ResourceCheck::default() };
//! let decision = rbac.decide(&Check { user: &user, verb: "get", target: Target::Resource(&pods) });
//! assert!(decision.allowed);
//! let reason = r#"RBAC: allowed by RoleBinding "dev/shop" of ClusterRole "reader" to Group "dev""#;
//! assert_eq!(decision.reason, reason);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Permissions only ever add up, so what the given objects allow is allowed whatever else there is. What they do not allow
//! may be allowed by others: an [`RbacAuthorizer`] says whether they are [all that there are](Completeness).

mod aggregation;
mod authorizer;
mod binding;
mod objects;
mod role;
mod subjects;

pub use authorizer::{Completeness, MoreRoles, RbacAuthorizer};
pub use objects::{Rbac, is_rbac};
/// The checks, and what asks them: the `authorizer` of expressions.
pub use pratique_cel::library::authz;
pub use pratique_json as json;
pub use subjects::{KnownSubjects, RoleReference};
