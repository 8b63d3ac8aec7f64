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
