//! Bindings of roles to users, groups and service accounts.

use pratique_cel::library::authz::User;
use pratique_gotext::strconv::quote;
use pratique_json::{Value, text_at};

/// A RoleBinding or a ClusterRoleBinding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoleBinding {
    /// The kind of the role.
    pub(crate) role_kind: String,
    /// Its name.
    pub(crate) role: String,
    subjects: Vec<BindingSubject>,
}

/// A subject of a binding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BindingSubject {
    kind: String,
    name: String,
    namespace: String,
}

impl RoleBinding {
    pub(crate) fn read(binding: &Value<'_>) -> Self {
        let subjects = binding.get("subjects").and_then(Value::as_array);
        RoleBinding {
            role_kind: text_at(binding, &["roleRef", "kind"]).to_owned(),
            role: text_at(binding, &["roleRef", "name"]).to_owned(),
            subjects: subjects
                .unwrap_or_default()
                .iter()
                .map(BindingSubject::read)
                .collect(),
        }
    }

    /// The first subject that a user is; `namespace` is that of a RoleBinding.
    pub(crate) fn subject(&self, user: &User, namespace: &str) -> Option<&BindingSubject> {
        self.subjects.iter().find(|subject| subject.is(user, namespace))
    }

    /// The binding in reasons.
    // Upstream: kubernetes/pkg/registry/rbac/validation/rule.go, clusterRoleBindingDescriber and roleBindingDescriber
    pub(crate) fn described(&self, name: &str, namespace: &str, subject: &BindingSubject) -> String {
        let (kind, quoted_name) = match namespace {
            "" => ("ClusterRoleBinding", quote(name)),
            namespace => ("RoleBinding", quote(&format!("{name}/{namespace}"))),
        };
        let (role_kind, role) = (&self.role_kind, quote(&self.role));
        format!(
            "{kind} {quoted_name} of {role_kind} {role} to {}",
            subject.described(namespace)
        )
    }
}

impl BindingSubject {
    fn read(subject: &Value<'_>) -> Self {
        BindingSubject {
            kind: text_at(subject, &["kind"]).to_owned(),
            name: text_at(subject, &["name"]).to_owned(),
            namespace: text_at(subject, &["namespace"]).to_owned(),
        }
    }

    /// Whether a user is this subject.
    // Upstream: kubernetes/pkg/registry/rbac/validation/rule.go, appliesToUser
    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let namespace = self.namespace_in(namespace);
                let account = user.name.strip_prefix("system:serviceaccount:");
                let named = account.and_then(|account| account.split_once(':'));
                !namespace.is_empty() && named == Some((namespace, &self.name))
            }
            _ => false,
        }
    }

    fn described(&self, namespace: &str) -> String {
        let name = match self.kind.as_str() {
            "ServiceAccount" => format!("{}/{}", self.name, self.namespace_in(namespace)),
            _ => self.name.clone(),
        };
        format!("{} {}", self.kind, quote(&name))
    }

    /// The namespace of a service account, by default that of the binding.
    fn namespace_in<'a>(&'a self, namespace: &'a str) -> &'a str {
        match self.namespace.as_str() {
            "" => namespace,
            given => given,
        }
    }
}
