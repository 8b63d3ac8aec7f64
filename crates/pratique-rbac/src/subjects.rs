//! Users and groups whose permissions are all known.

use std::collections::BTreeSet;

use pratique_cel::library::authz::User;
use pratique_json::Value;

use crate::binding::RoleBinding;

/// Users and groups whose permissions are all known, where those of others are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSubjects {
    users: BTreeSet<String>,
    groups: BTreeSet<String>,
}

/// The role that a binding refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleReference {
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl KnownSubjects {
    /// These users, by their names, and these groups.
    pub fn new(users: impl IntoIterator<Item = String>, groups: impl IntoIterator<Item = String>) -> Self {
        KnownSubjects {
            users: users.into_iter().collect(),
            groups: groups.into_iter().collect(),
        }
    }

    /// Whether all permissions of a user are known: those of its name, and those of each of its groups.
    pub fn covers(&self, user: &User) -> bool {
        self.users.contains(&user.name) && user.groups.iter().all(|group| self.groups.contains(group))
    }

    /// The role that a RoleBinding or ClusterRoleBinding gives to one of them; `None` if it gives none to them.
    pub fn bound_role(&self, binding: &Value<'_>) -> Option<RoleReference> {
        let namespace = binding.at(&["metadata", "namespace"]).and_then(Value::as_str);
        let namespace = namespace.unwrap_or_default();
        let binding = RoleBinding::read(binding);
        let names = self.users.iter().cloned();
        let users = names.map(|name| User {
            name,
            ..User::default()
        });
        let groups = User {
            groups: self.groups.iter().cloned().collect(),
            ..User::default()
        };
        let mut all = users.chain([groups]);
        let is_bound = all.any(|user| binding.subject(&user, namespace).is_some());
        is_bound.then_some(RoleReference {
            kind: binding.role_kind,
            name: binding.role,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(subjects: &str) -> Value<'static> {
        let text = format!(
            r#"{{"metadata": {{"name": "b", "namespace": "shop"}}, "roleRef": {{"kind": "Role", "name": "r"}}, "subjects": {subjects}}}"#
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn bindings_of_known_subjects() {
        let known = KnownSubjects::new(
            ["ann".to_owned(), "system:serviceaccount:shop:bot".to_owned()],
            ["dev".to_owned()],
        );
        let role = |subjects: &str| known.bound_role(&binding(subjects)).map(|role| role.name);
        let found = Some("r".to_owned());
        assert_eq!(role(r#"[{"kind": "User", "name": "ann"}]"#), found);
        assert_eq!(role(r#"[{"kind": "Group", "name": "dev"}]"#), found);
        assert_eq!(role(r#"[{"kind": "ServiceAccount", "name": "bot"}]"#), found);
        assert_eq!(role(r#"[{"kind": "User", "name": "dev"}]"#), None);
        assert_eq!(role("null"), None);
    }

    #[test]
    fn every_group_must_be_known() {
        let known = KnownSubjects::new(["ann".to_owned()], ["dev".to_owned()]);
        let user = |name: &str, groups: &[&str]| User {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            ..User::default()
        };
        assert!(known.covers(&user("ann", &["dev"])));
        assert!(!known.covers(&user("ann", &["dev", "ops"])));
        assert!(!known.covers(&user("bob", &["dev"])));
    }
}
