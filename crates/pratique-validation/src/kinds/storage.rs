//! PersistentVolumes and PersistentVolumeClaims.

mod claims;
mod volumes;

use super::KindRules;

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "PersistentVolumeClaim",
        is_namespaced: true,
        create: claims::validate_claim,
        update: claims::validate_claim_update,
        subresources: &[],
    },
    KindRules {
        group: "",
        kind: "PersistentVolume",
        is_namespaced: false,
        create: volumes::validate_volume,
        update: volumes::validate_volume_update,
        subresources: &[("status", volumes::validate_status)],
    },
];
