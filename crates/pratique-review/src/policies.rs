//! Sets of policies by their origin.

use pratique::AdmissionBuilder;
use pratique_manifest::ManifestSet;
use pratique_policy::Origin;
use serde::Serialize;

/// Adds objects of an origin to what is evaluated.
pub fn add_policies(builder: AdmissionBuilder, origin: Origin, set: ManifestSet) -> AdmissionBuilder {
    match origin {
        Origin::Static => builder.manifests(set),
        Origin::Api => builder.configurations(set.into()),
    }
}

/// Objects that configure admission, by origin.
pub type OriginSets = Vec<(Origin, ManifestSet)>;

/// Adds such objects to what is evaluated.
pub fn add_sets(
    builder: AdmissionBuilder,
    sets: impl IntoIterator<Item = (Origin, ManifestSet)>,
) -> AdmissionBuilder {
    let sets = sets.into_iter();
    sets.fold(builder, |builder, (origin, set)| {
        add_policies(builder, origin, set)
    })
}

/// How many policies there are, with or without a binding.
pub fn count_policies(sets: &[(Origin, ManifestSet)]) -> usize {
    let policies = sets
        .iter()
        .map(|(_, set)| set.validating_policies.len() + set.mutating_policies.len());
    policies.sum()
}

/// Whether a policy among some manifests may read `managedFields`.
pub fn reads_managed_fields(sets: &[(Origin, ManifestSet)]) -> bool {
    fn mentions(policy: &impl Serialize) -> bool {
        // A policy without a JSON form may read them.
        serde_json::to_string(policy).map_or(true, |text| text.contains("managedFields"))
    }
    sets.iter().any(|(_, set)| {
        set.validating_policies
            .iter()
            .any(|policy| mentions(&*policy.object))
            || set
                .mutating_policies
                .iter()
                .any(|policy| mentions(&*policy.object))
    })
}
