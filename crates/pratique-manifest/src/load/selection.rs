//! Which objects of documents are loaded, where documents have others as well.

use pratique_exclusion::RESERVED_SUFFIX;

use crate::kind::Kind;

/// Which objects of the scope's kinds are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectSelection {
    /// All; an object of another kind is an error.
    Everything,
    /// All; objects of other kinds are skipped.
    Kinds,
    /// Those whose names say that they are of this origin; others are skipped.
    Named(NamedOrigin),
}

/// The origin of an object by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedOrigin {
    /// The name has the suffix that is reserved for static manifests.
    Static,
    /// It has not: the object is one of the API.
    Api,
}

impl NamedOrigin {
    /// The origin of an object with this name. A binding of a static policy is static, too: the API has no policy of that
    /// name.
    #[must_use]
    pub fn from_name(kind: Kind, name: &str, policy: Option<&str>) -> Self {
        let binds_static =
            || kind.is_binding() && policy.is_some_and(|policy| policy.ends_with(RESERVED_SUFFIX));
        if name.ends_with(RESERVED_SUFFIX) || binds_static() {
            NamedOrigin::Static
        } else {
            NamedOrigin::Api
        }
    }
}

impl ObjectSelection {
    /// Whether objects of other kinds are skipped.
    pub(crate) fn skips_kinds(self) -> bool {
        self != ObjectSelection::Everything
    }

    /// Whether an object of a kind of the scope is loaded.
    pub(crate) fn has(self, kind: Kind, name: &str, policy: Option<&str>) -> bool {
        match self {
            ObjectSelection::Everything | ObjectSelection::Kinds => true,
            ObjectSelection::Named(origin) => origin == NamedOrigin::from_name(kind, name, policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_origins() {
        let check = |kind, name, policy, expected| {
            assert_eq!(NamedOrigin::from_name(kind, name, policy), expected, "{name}");
        };
        let (policy, binding) = (
            Kind::ValidatingAdmissionPolicy,
            Kind::ValidatingAdmissionPolicyBinding,
        );
        check(policy, "p.static.k8s.io", None, NamedOrigin::Static);
        check(policy, "p.example.com", None, NamedOrigin::Api);
        check(policy, "", Some("p.static.k8s.io"), NamedOrigin::Api);
        check(binding, "b", Some("p.static.k8s.io"), NamedOrigin::Static);
        check(binding, "b", Some("p"), NamedOrigin::Api);
    }
}
