//! PersistentVolumes, their claims, classes and attachments, and what drivers say of themselves.

mod attachments;
mod capacities;
mod claim_status;
mod claims;
mod classes;
mod drivers;
mod nodes;
mod volumes;

use super::KindRules;

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "PersistentVolumeClaim",
        is_namespaced: true,
        create: claims::validate_claim,
        update: claims::validate_claim_update,
        subresources: &[("status", claim_status::validate_claim_status)],
    },
    KindRules {
        group: "",
        kind: "PersistentVolume",
        is_namespaced: false,
        create: volumes::validate_volume,
        update: volumes::validate_volume_update,
        subresources: &[("status", volumes::validate_status)],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "StorageClass",
        is_namespaced: false,
        create: classes::validate_storage_class,
        update: classes::validate_storage_class_update,
        subresources: &[],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "VolumeAttributesClass",
        is_namespaced: false,
        create: classes::validate_attributes_class,
        update: classes::validate_attributes_class_update,
        subresources: &[],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "VolumeAttachment",
        is_namespaced: false,
        create: attachments::validate_attachment,
        update: attachments::validate_attachment_update,
        subresources: &[("status", attachments::validate_attachment_update)],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "CSIDriver",
        is_namespaced: false,
        create: drivers::validate_driver,
        update: drivers::validate_driver_update,
        subresources: &[],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "CSINode",
        is_namespaced: false,
        create: nodes::validate_node,
        update: nodes::validate_node_update,
        subresources: &[("status", nodes::validate_status)],
    },
    KindRules {
        group: "storage.k8s.io",
        kind: "CSIStorageCapacity",
        is_namespaced: true,
        create: capacities::validate_capacity,
        update: capacities::validate_capacity_update,
        subresources: &[],
    },
];
