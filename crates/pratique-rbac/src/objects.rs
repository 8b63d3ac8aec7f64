//! Roles and bindings, and what they allow.

use std::collections::BTreeMap;

use pratique_cel::library::authz::{AuthorizerDecision, Check, Target};
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_types::aggregate;

use crate::aggregation::{self, ClusterRole};
use crate::binding::RoleBinding;
use crate::role::{PolicyRule, rules};

/// The group that may do everything.
pub(crate) const PRIVILEGED: &str = "system:masters";

const GROUP: &str = "rbac.authorization.k8s.io/";

/// Roles and bindings. Where several bindings allow the same, the first by name is the reason.
#[derive(Clone, Debug, Default)]
pub struct Rbac {
    /// By namespace and name.
    roles: BTreeMap<(String, String), Vec<PolicyRule>>,
    cluster_roles: BTreeMap<String, ClusterRole>,
    /// By namespace, then by name.
    role_bindings: BTreeMap<String, BTreeMap<String, RoleBinding>>,
    cluster_role_bindings: BTreeMap<String, RoleBinding>,
    /// Whether the aggregation of roles was not finished.
    is_unsettled: bool,
}

/// Whether an object is a role or a binding.
pub fn is_rbac(object: &Value<'_>) -> bool {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let kinds = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
    text("apiVersion").starts_with(GROUP) && kinds.contains(&text("kind"))
}

/// Keeps the roles and bindings among objects, the last of those with the same name, and aggregates ClusterRoles.
impl<'v, 'a: 'v> FromIterator<&'v Value<'a>> for Rbac {
    fn from_iter<I: IntoIterator<Item = &'v Value<'a>>>(objects: I) -> Self {
        let mut rbac = Rbac::default();
        objects
            .into_iter()
            .filter(|object| is_rbac(object))
            .for_each(|object| rbac.insert(object));
        rbac.is_unsettled = !aggregation::aggregate(&mut rbac.cluster_roles);
        rbac
    }
}

impl Rbac {
    fn insert(&mut self, object: &Value<'_>) {
        let text = |path: &[&str]| {
            object
                .at(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (namespace, name) = (text(&["metadata", "namespace"]), text(&["metadata", "name"]));
        match text(&["kind"]).as_str() {
            "Role" => {
                self.roles.insert((namespace, name), rules(object));
            }
            "ClusterRole" => {
                self.cluster_roles.insert(name, ClusterRole::read(object));
            }
            "RoleBinding" => {
                let bindings = self.role_bindings.entry(namespace).or_default();
                bindings.insert(name, RoleBinding::read(object));
            }
            _ => {
                self.cluster_role_bindings.insert(name, RoleBinding::read(object));
            }
        }
    }

    /// Whether there is no role or binding.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
            && self.cluster_roles.is_empty()
            && self.role_bindings.is_empty()
            && self.cluster_role_bindings.is_empty()
    }

    /// Whether aggregation took too long, so that aggregated roles may allow more than is known.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_unsettled
    }

    /// Answers a check; selectors of fields and labels make no difference. A reason that is not that of a permission names
    /// the bindings whose roles do not exist.
    // Upstream: kubernetes/plugin/pkg/auth/authorizer/rbac/rbac.go, Authorize;
    // kubernetes/pkg/registry/rbac/validation/rule.go, VisitRulesFor
    pub fn decide(&self, check: &Check<'_>) -> AuthorizerDecision {
        // Upstream: apiserver/pkg/authorization/authorizerfactory/builtin.go, NewPrivilegedGroups
        if check.user.groups.iter().any(|group| group == PRIVILEGED) {
            return allowed(String::new());
        }
        let namespace = match check.target {
            Target::Path(_) => "",
            Target::Resource(resource) => resource.namespace.as_str(),
        };
        let of_cluster = self
            .cluster_role_bindings
            .iter()
            .map(|(name, binding)| (name, binding, ""));
        let of_namespace = self
            .role_bindings
            .get(namespace)
            .filter(|_| !namespace.is_empty());
        let of_namespace = of_namespace.into_iter().flatten();
        let of_namespace = of_namespace.map(|(name, binding)| (name, binding, namespace));
        let mut errors: Vec<String> = Vec::new();
        for (name, binding, namespace) in of_cluster.chain(of_namespace) {
            let Some(subject) = binding.subject(check.user, namespace) else {
                continue;
            };
            match self.rules(binding, namespace) {
                Ok(rules) if rules.iter().any(|rule| rule.allows(check)) => {
                    let source = binding.described(name, namespace, subject);
                    return allowed(format!("RBAC: allowed by {source}"));
                }
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
        AuthorizerDecision {
            reason: match errors.as_slice() {
                [] => String::new(),
                errors => format!("RBAC: {}", aggregate(errors)),
            },
            ..AuthorizerDecision::default()
        }
    }

    /// The rules of the role that a binding refers to, or an API server's message.
    // Upstream: kubernetes/pkg/registry/rbac/validation/rule.go, GetRoleReferenceRules
    fn rules(&self, binding: &RoleBinding, namespace: &str) -> Result<&[PolicyRule], String> {
        let (kind, name) = (binding.role_kind.as_str(), &binding.role);
        let role_rules = match kind {
            "Role" => self.roles.get(&(namespace.to_owned(), name.clone())),
            "ClusterRole" => self.cluster_roles.get(name).map(|role| &role.rules),
            other => return Err(format!("unsupported role reference kind: {}", quote(other))),
        };
        let resource = kind.to_lowercase();
        let missing = || format!("{resource}.rbac.authorization.k8s.io {} not found", quote(name));
        role_rules.map(Vec::as_slice).ok_or_else(missing)
    }
}

fn allowed(reason: String) -> AuthorizerDecision {
    AuthorizerDecision {
        allowed: true,
        reason,
        error: None,
    }
}
