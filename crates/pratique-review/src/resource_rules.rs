//! The resource rules of policies of both kinds.

use k8s_openapi::api::admissionregistration::v1::NamedRuleWithOperations;
use pratique_manifest::ManifestSet;

/// The validating and mutating policies of some manifests, by name, with their rules.
pub fn resource_rules(set: &ManifestSet) -> impl Iterator<Item = (&str, &[NamedRuleWithOperations])> {
    let validating = set.validating_policies.iter().map(|loaded| {
        let spec = loaded.object.spec.as_ref();
        let constraints = spec.and_then(|spec| spec.match_constraints.as_ref());
        (&loaded.object.metadata, constraints)
    });
    let mutating = set.mutating_policies.iter().map(|loaded| {
        let spec = loaded.object.spec.as_ref();
        let constraints = spec.and_then(|spec| spec.match_constraints.as_ref());
        (&loaded.object.metadata, constraints)
    });
    validating.chain(mutating).map(|(metadata, constraints)| {
        let rules = constraints.and_then(|of| of.resource_rules.as_deref());
        let name = metadata.name.as_deref();
        (name.unwrap_or_default(), rules.unwrap_or_default())
    })
}
