//! `storage` and `scheduling`.

use pratique_json::{Object, Value};

use super::Function;
use super::field::{absent, empty, part};
use crate::release::gate;

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        ("v1beta1", "CSIDriver") => |object, _| driver(object),
        (_, "CSIDriver") => |object, _| {
            driver(object);
            if gate("VolumeLimitScaling")
                && let Some(spec) = part(object, "spec")
            {
                absent(spec, "preventPodSchedulingIfMissing", false);
            }
        },
        (_, "PriorityClass") => |object, _| absent(object, "preemptionPolicy", "PreemptLowerPriority"),
        (_, "StorageClass") => |object, _| {
            absent(object, "reclaimPolicy", "Delete");
            absent(object, "volumeBindingMode", "Immediate");
        },
        _ => return None,
    })
}

fn driver(object: &mut Object<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    absent(spec, "attachRequired", true);
    absent(spec, "podInfoOnMount", false);
    absent(spec, "storageCapacity", false);
    absent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    empty(spec, "volumeLifecycleModes", vec![Value::from("Persistent")]);
    absent(spec, "requiresRepublish", false);
    if gate("SELinuxMountReadWriteOncePod") {
        absent(spec, "seLinuxMount", false);
    }
}
