//! The resource rules of policies of both kinds.

use k8s_openapi::api::admissionregistration::v1::{
    MatchResources, MutatingAdmissionPolicy, NamedRuleWithOperations, ValidatingAdmissionPolicy,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pratique::Configurations;
use pratique_manifest::ManifestSet;

/// The validating and mutating policies of some manifests, by name, with their rules.
pub fn resource_rules(set: &ManifestSet) -> impl Iterator<Item = (&str, &[NamedRuleWithOperations])> {
    let validating = set.validating_policies.iter().map(|loaded| &*loaded.object);
    let mutating = set.mutating_policies.iter().map(|loaded| &*loaded.object);
    rules_of_policies(validating, mutating)
}

/// The same of objects of the API.
pub(crate) fn stored_rules(
    stored: &Configurations,
) -> impl Iterator<Item = (&str, &[NamedRuleWithOperations])> {
    let validating = stored.validating_policies.iter().map(|policy| &**policy);
    let mutating = stored.mutating_policies.iter().map(|policy| &**policy);
    rules_of_policies(validating, mutating)
}

fn rules_of_policies<'p>(
    validating: impl Iterator<Item = &'p ValidatingAdmissionPolicy>,
    mutating: impl Iterator<Item = &'p MutatingAdmissionPolicy>,
) -> impl Iterator<Item = (&'p str, &'p [NamedRuleWithOperations])> {
    let validating = validating.map(|policy| {
        let spec = policy.spec.as_ref();
        (
            &policy.metadata,
            spec.and_then(|spec| spec.match_constraints.as_ref()),
        )
    });
    let mutating = mutating.map(|policy| {
        let spec = policy.spec.as_ref();
        (
            &policy.metadata,
            spec.and_then(|spec| spec.match_constraints.as_ref()),
        )
    });
    validating.chain(mutating).map(named_rules)
}

fn named_rules<'p>(
    (metadata, constraints): (&'p ObjectMeta, Option<&'p MatchResources>),
) -> (&'p str, &'p [NamedRuleWithOperations]) {
    let rules = constraints.and_then(|of| of.resource_rules.as_deref());
    let name = metadata.name.as_deref();
    (name.unwrap_or_default(), rules.unwrap_or_default())
}
