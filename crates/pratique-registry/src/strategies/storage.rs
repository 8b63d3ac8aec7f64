//! `storage.k8s.io` and `storagemigration.k8s.io`.
// Upstream: pkg/registry/storage/*/strategy.go, pkg/registry/storagemigration/storagemigration/strategy.go

use crate::gated_fields::GatedFields;
use crate::strategy::{Endpoint, Gated, Generation, Strategy};

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

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        generation: Generation {
            starts: false,
            counted: &[&["spec"]],
            counted_first: false,
            gate: None,
        },
        ..Strategy::new(GROUP, "CSIDriver")
            .conditional()
            .gated(&[Gated::Feature(GatedFields::graduated(
                "MutableCSINodeAllocatableCount",
                &[&["spec", "nodeAllocatableUpdatePeriodSeconds"]],
            ))])
    },
    Strategy::new(GROUP, "CSINode")
        .conditional()
        .status(Endpoint::STATUS_ONLY.and(|context, object, old| {
            let dropper = &mut context.dropper;
            dropper.drop_unused((object, &[]), Some(old), STORAGE_HEALTH);
        }))
        .gated(&[Gated::Feature(STORAGE_HEALTH)]),
    Strategy::new(GROUP, "CSIStorageCapacity").conditional(),
    Strategy::new(GROUP, "StorageClass"),
    Strategy::new(GROUP, "VolumeAttachment")
        .conditional()
        .status(Endpoint::STATUS_ONLY.and(|context, object, old| {
            for feature in ERROR_CODES {
                context.dropper.drop_unused((object, &[]), Some(old), feature);
            }
        })),
    Strategy::new(GROUP, "VolumeAttributesClass"),
    Strategy::new("storagemigration.k8s.io", "StorageVersionMigration")
        .conditional()
        .status(Endpoint::STATUS_ONLY),
];
