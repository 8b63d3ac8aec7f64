//! The defaults and exemptions that a server is configured with.

use crate::Policy;

/// The defaults and exemptions that a server is configured with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSecuritySettings {
    /// The policy of namespaces without labels.
    pub defaults: Policy,
    /// Users whose requests are not evaluated.
    pub exempt_users: Vec<String>,
    /// Namespaces whose pods are not evaluated.
    pub exempt_namespaces: Vec<String>,
    /// Runtime classes whose pods are not evaluated.
    pub exempt_runtime_classes: Vec<String>,
}

impl PodSecuritySettings {
    pub(crate) fn exempts_user(&self, name: &str) -> bool {
        is_listed(&self.exempt_users, name)
    }

    pub(crate) fn exempts_namespace(&self, name: &str) -> bool {
        is_listed(&self.exempt_namespaces, name)
    }

    pub(crate) fn exempts_runtime_class(&self, name: &str) -> bool {
        is_listed(&self.exempt_runtime_classes, name)
    }
}

fn is_listed(names: &[String], name: &str) -> bool {
    !name.is_empty() && names.iter().any(|listed| listed == name)
}
