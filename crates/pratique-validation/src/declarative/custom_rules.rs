//! Rules of types that upstream writes by hand, and calls between those of the tags.

use pratique_gotext::validation::is_within_domain;
use pratique_types::field::Error;

use crate::errors::named;
use crate::node::Node;

/// A rule by hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum CustomRule {
    ResponderName,
    ResponderPriority,
}

/// The priorities below this one are those of Kubernetes' own responders.
const FIRST_FREE_PRIORITY: i64 = 1000;

impl CustomRule {
    /// The rule of a name in the table.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "EvictionResponder_Name" => Some(CustomRule::ResponderName),
            "EvictionResponder_Priority" => Some(CustomRule::ResponderPriority),
            _ => None,
        }
    }

    /// What is wrong with a value that is set.
    // Upstream: pkg/apis/core/v1/validation.go, ValidateCustom_EvictionResponder_Name, ValidateCustom_EvictionResponder_Priority
    pub(super) fn error(self, node: &Node<'_, '_>) -> Option<Error> {
        match self {
            CustomRule::ResponderName => has_reserved_domain(node.as_text()).then(|| {
                let detail = "domain names *.k8s.io, *.kubernetes.io are reserved";
                Error::invalid(node, named(node.as_text()), detail)
            }),
            CustomRule::ResponderPriority => {
                let detail = "priorities 0-999 are reserved for responders with *.k8s.io suffix";
                let is_reserved = node.is_set() && (0..FIRST_FREE_PRIORITY).contains(&node.int());
                is_reserved.then(|| Error::invalid(node, node.int(), detail))
            }
        }
    }
}

/// Whether the domain of a name is one of Kubernetes.
// Upstream: pkg/apis/core/v1/validation.go, ValidateForbiddenReservedDomainSuffixes
fn has_reserved_domain(name: &str) -> bool {
    let domain = name.split('/').next().unwrap_or_default().to_lowercase();
    let domain = domain.trim().trim_end_matches('.');
    let mut reserved = ["k8s.io", "kubernetes.io"].iter();
    reserved.any(|reserved| is_within_domain(domain, reserved))
}
