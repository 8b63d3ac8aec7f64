//! `storage.k8s.io` and `storagemigration.k8s.io`.
// Upstream: pkg/registry/storage/*/strategy.go, pkg/registry/storagemigration/storagemigration/strategy.go

use pratique_json::Value;

use crate::object::{self, Path};
use crate::strategy::{Endpoint, Generation, Strategy};

const GROUP: &str = "storage.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy {
        generation: Generation {
            starts: false,
            counted: &[&["spec"]],
            counted_first: false,
        },
        ..Strategy::new(GROUP, "CSIDriver").conditional().prepare(
            |_, object| drop_driver_fields(object, None),
            |_, object, old| drop_driver_fields(object, Some(old)),
        )
    },
    Strategy::new(GROUP, "CSINode").conditional(),
    Strategy::new(GROUP, "CSIStorageCapacity").conditional(),
    Strategy::new(GROUP, "StorageClass"),
    Strategy::new(GROUP, "VolumeAttachment")
        .conditional()
        .status(Endpoint::STATUS_ONLY),
    Strategy::new(GROUP, "VolumeAttributesClass"),
    Strategy::new("storagemigration.k8s.io", "StorageVersionMigration")
        .conditional()
        .status(Endpoint::STATUS_ONLY),
];

/// A field of CSIDrivers behind a gate that is off.
const PREVENT_SCHEDULING: Path<'static> = &["spec", "preventPodSchedulingIfMissing"];

fn drop_driver_fields(object: &mut Value<'static>, old: Option<&Value<'static>>) {
    if !old.is_some_and(|old| object::has(old, PREVENT_SCHEDULING)) {
        object::remove(object, PREVENT_SCHEDULING);
    }
}
