//! Rules of types that upstream writes by hand, and calls between those of the tags.

use pratique_gotext::validation::is_within_domain;
use pratique_types::field::Error;

use super::image_reference;
use crate::errors::named;
use crate::node::Node;

/// A rule by hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum CustomRule {
    ResponderName,
    ResponderPriority,
    ProfileReference,
    BaseProfilePath,
    ConditionTime,
}

/// The priorities below this one are those of Kubernetes' own responders.
const FIRST_FREE_PRIORITY: i64 = 1000;

impl CustomRule {
    /// The rule of a name in the table.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "EvictionResponder_Name" => Some(CustomRule::ResponderName),
            "EvictionResponder_Priority" => Some(CustomRule::ResponderPriority),
            "SecurityProfileOCI_Ref" => Some(CustomRule::ProfileReference),
            "SecurityProfileOCIBase_LocalhostProfile" => Some(CustomRule::BaseProfilePath),
            "Condition_LastTransitionTime" => Some(CustomRule::ConditionTime),
            _ => None,
        }
    }

    /// What is wrong with a value that is set.
    // Upstream: pkg/apis/core/v1/validation.go, ValidateCustom_EvictionResponder_Name, ValidateCustom_EvictionResponder_Priority,
    // ValidateCustom_SecurityProfileOCI_Ref, ValidateCustom_SecurityProfileOCIBase_LocalhostProfile;
    // apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateCustom_Condition_LastTransitionTime
    pub(super) fn errors(self, node: &Node<'_, '_>) -> Vec<Error> {
        match self {
            CustomRule::ResponderName if has_reserved_domain(node.as_text()) => {
                let detail = "domain names *.k8s.io, *.kubernetes.io are reserved";
                vec![Error::invalid(node, named(node.as_text()), detail)]
            }
            CustomRule::ResponderName => Vec::new(),
            CustomRule::ResponderPriority => {
                let detail = "priorities 0-999 are reserved for responders with *.k8s.io suffix";
                let is_reserved = node.is_set() && (0..FIRST_FREE_PRIORITY).contains(&node.int());
                let error = is_reserved.then(|| Error::invalid(node, node.int(), detail));
                error.into_iter().collect()
            }
            CustomRule::ProfileReference => {
                let detail = reference_fault(node.as_text());
                let error = detail.map(|detail| Error::invalid(node, node.as_text(), &detail));
                error.into_iter().collect()
            }
            CustomRule::BaseProfilePath => base_path_errors(node),
            CustomRule::ConditionTime if node.is_empty() => vec![Error::required(node, "")],
            CustomRule::ConditionTime => Vec::new(),
        }
    }
}

/// The most characters of a reference, and of a path: longer ones are refused for that alone.
const MAX_REFERENCE: usize = 1024;
const MAX_BASE_PATH: usize = 4096;

/// What is wrong with the reference to a profile in a registry; the empty one is missing, which is said elsewhere.
fn reference_fault(text: &str) -> Option<String> {
    if text.is_empty() || text.chars().count() > MAX_REFERENCE {
        return None;
    }
    let reference = match image_reference::parse(text) {
        Ok(reference) => reference,
        Err(error) => {
            let form = "<registry>/<repository>@<algorithm>:<digest>";
            return Some(format!(
                "must be a digest-pinned reference in canonical form ({form}): {error}"
            ));
        }
    };
    let detail = match reference.algorithm {
        _ if reference.has_tag => "must not contain a tag",
        None => "must be pinned by digest (<registry>/<repository>@<algorithm>:<digest>)",
        Some("sha256" | "sha384" | "sha512") => return None,
        Some(_) => "digest algorithm must be sha256, sha384, or sha512",
    };
    Some(detail.to_owned())
}

/// What is wrong with the path of a base profile on the node.
fn base_path_errors(path: &Node<'_, '_>) -> Vec<Error> {
    let text = path.as_text();
    if !path.is_set() || text.chars().count() > MAX_BASE_PATH {
        return Vec::new();
    }
    if text.is_empty() {
        return vec![Error::required(path, "must not be empty")];
    }
    let faults = [
        (text.starts_with('/'), "must be a relative path"),
        (text.split('/').any(|part| part == ".."), "must not contain '..'"),
    ];
    let faults = faults.into_iter().filter(|(is_so, _)| *is_so);
    faults
        .map(|(_, detail)| Error::invalid(path, text, detail))
        .collect()
}

/// Whether the domain of a name is one of Kubernetes.
// Upstream: pkg/apis/core/v1/validation.go, ValidateForbiddenReservedDomainSuffixes
fn has_reserved_domain(name: &str) -> bool {
    let domain = name.split('/').next().unwrap_or_default().to_lowercase();
    let domain = domain.trim().trim_end_matches('.');
    let mut reserved = ["k8s.io", "kubernetes.io"].iter();
    reserved.any(|reserved| is_within_domain(domain, reserved))
}
