//! Policies of other engines, which nothing here evaluates.

use std::fmt;

use pratique_manifest::Location;

/// An engine that has policies of its own kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyEngine {
    /// Kyverno.
    Kyverno,
    /// Gatekeeper.
    Gatekeeper,
    /// Kubewarden.
    Kubewarden,
}

/// A policy of another engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPolicy {
    /// The engine.
    pub engine: PolicyEngine,
    /// Its kind.
    pub kind: String,
    /// Where it is.
    pub location: Location,
}

impl PolicyEngine {
    /// The engine whose policies have an `apiVersion`.
    pub(crate) fn of_version(version: &str) -> Option<Self> {
        let (group, _) = version.split_once('/')?;
        PolicyEngine::from_group(group)
    }

    /// The engine whose policies are of an API group.
    pub fn from_group(group: &str) -> Option<Self> {
        Some(match group {
            "kyverno.io" | "policies.kyverno.io" => PolicyEngine::Kyverno,
            "templates.gatekeeper.sh" | "constraints.gatekeeper.sh" => PolicyEngine::Gatekeeper,
            "policies.kubewarden.io" => PolicyEngine::Kubewarden,
            _ => return None,
        })
    }
}

impl fmt::Display for PolicyEngine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PolicyEngine::Kyverno => "Kyverno",
            PolicyEngine::Gatekeeper => "Gatekeeper",
            PolicyEngine::Kubewarden => "Kubewarden",
        })
    }
}

impl fmt::Display for ForeignPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ForeignPolicy { engine, kind, .. } = self;
        write!(formatter, "{kind} is a kind of {engine}, and not evaluated")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_known_by_their_groups() {
        let engine = |version| PolicyEngine::of_version(version);
        assert_eq!(engine("kyverno.io/v1"), Some(PolicyEngine::Kyverno));
        assert_eq!(
            engine("constraints.gatekeeper.sh/v1beta1"),
            Some(PolicyEngine::Gatekeeper)
        );
        assert_eq!(
            engine("policies.kubewarden.io/v1"),
            Some(PolicyEngine::Kubewarden)
        );
        // Of tests, and of reports.
        assert_eq!(engine("cli.kyverno.io/v1alpha1"), None);
        assert_eq!(engine("reports.kyverno.io/v1"), None);
        assert_eq!(engine("v1"), None);
    }
}
