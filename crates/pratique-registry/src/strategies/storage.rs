//! `storage.k8s.io` and `storagemigration.k8s.io`.
// Upstream: pkg/registry/storage/*/strategy.go, pkg/registry/storagemigration/storagemigration/strategy.go

use crate::gated_fields::GatedFields;
use crate::strategy::{GatedField, GenerationRule, PartEndpoint, ResourceStrategy};

const GROUP: &str = "storage.k8s.io";

const STORAGE_HEALTH: GatedFields = GatedFields::new("CSIVolumeHealth", &[&["status", "storageHealth"]]);

// Upstream: pkg/registry/storage/volumeattachment/strategy.go, dropDisabledFields: each for itself
const ERROR_CODES: [GatedFields; 2] = [
    GatedFields::graduated(
        "MutableCSINodeAllocatableCount",
        &[&["status", "attachError", "errorCode"]],
    ),
    GatedFields::graduated(
        "MutableCSINodeAllocatableCount",
        &[&["status", "detachError", "errorCode"]],
    ),
];

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy {
        generation: GenerationRule {
            starts: false,
            counted: &[&["spec"]],
            counted_first: false,
            gate: None,
        },
        ..ResourceStrategy::new(GROUP, "CSIDriver").conditional().gated(&[
            GatedField::Feature(GatedFields::graduated(
                "SELinuxMountReadWriteOncePod",
                &[&["spec", "seLinuxMount"]],
            )),
            GatedField::Feature(GatedFields::graduated(
                "MutableCSINodeAllocatableCount",
                &[&["spec", "nodeAllocatableUpdatePeriodSeconds"]],
            )),
            GatedField::Feature(GatedFields::graduated(
                "CSIServiceAccountTokenSecrets",
                &[&["spec", "serviceAccountTokenInSecrets"]],
            )),
            GatedField::Field("VolumeLimitScaling", &["spec", "preventPodSchedulingIfMissing"]),
        ])
    },
    ResourceStrategy::new(GROUP, "CSINode")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY.and(|context, object, old| {
            let dropper = &mut context.dropper;
            dropper.drop_unused((object, &[]), Some(old), STORAGE_HEALTH);
        }))
        .gated(&[GatedField::Feature(STORAGE_HEALTH)]),
    ResourceStrategy::new(GROUP, "CSIStorageCapacity").conditional(),
    ResourceStrategy::new(GROUP, "StorageClass"),
    ResourceStrategy::new(GROUP, "VolumeAttachment")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY.and(|context, object, old| {
            for feature in ERROR_CODES {
                context.dropper.drop_unused((object, &[]), Some(old), feature);
            }
        })),
    ResourceStrategy::new(GROUP, "VolumeAttributesClass"),
    ResourceStrategy::new("storagemigration.k8s.io", "StorageVersionMigration")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY),
];
