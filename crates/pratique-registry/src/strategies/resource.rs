//! `resource.k8s.io`.
// Upstream: pkg/registry/resource/*/strategy.go

use std::collections::HashSet;

use pratique_json::Value;
use pratique_schema::Release;

use crate::edited_object::EditedObject;
use crate::gated_fields::GatedFields;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

const GROUP: &str = "resource.k8s.io";

/// The gated fields of the requests for devices of a claim, whose spec is at a path.
macro_rules! request_gates {
    ($($spec:literal),+) => {
        &[
            GatedField::Feature(GatedFields::new(
                "DRADerivedAttributes",
                &[
                    &[$($spec,)+ "devices", "requests", "*", DERIVED],
                    &[$($spec,)+ "devices", "requests", "*", "exactly", DERIVED],
                    &[$($spec,)+ "devices", "requests", "*", "firstAvailable", "*", DERIVED],
                ],
            )),
            GatedField::FeatureOf(
                drops_all_fields,
                GatedFields::graduated(
                    "DRADeviceTaints",
                    &[
                        &[$($spec,)+ "devices", "requests", "*", TOLERATIONS],
                        &[$($spec,)+ "devices", "requests", "*", "exactly", TOLERATIONS],
                        &[$($spec,)+ "devices", "requests", "*", "firstAvailable", "*", TOLERATIONS],
                    ],
                ),
            ),
            GatedField::FeatureOf(
                drops_all_fields,
                GatedFields::graduated(
                    "DRAConsumableCapacity",
                    &[
                        &[$($spec,)+ "devices", "constraints", "*", "distinctAttribute"],
                        &[$($spec,)+ "devices", "requests", "*", "capacity"],
                        &[$($spec,)+ "devices", "requests", "*", "exactly", "capacity"],
                        &[$($spec,)+ "devices", "requests", "*", "firstAvailable", "*", "capacity"],
                    ],
                ),
            ),
            GatedField::FeatureOf(
                drops_capacity_alone,
                GatedFields::graduated(
                    "DRAConsumableCapacity",
                    &[
                        &[$($spec,)+ "devices", "requests", "*", "capacity"],
                        &[$($spec,)+ "devices", "requests", "*", "exactly", "capacity"],
                        &[$($spec,)+ "devices", "requests", "*", "firstAvailable", "*", "capacity"],
                    ],
                ),
            ),
        ]
    };
}

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new(GROUP, "DeviceClass")
        .generation(&[&["spec"]])
        .gated(&[GatedField::Feature(GatedFields::graduated(
            "DRAExtendedResource",
            &[&["spec", "extendedResourceName"]],
        ))]),
    ResourceStrategy {
        unconditional_versions: &["v1alpha3", "v1beta2"],
        ..ResourceStrategy::new(GROUP, "DeviceTaintRule")
            .conditional()
            .generation(&[&["spec"]])
            .status(PartEndpoint::STATUS_ONLY)
            .prepare(|_, _| {}, update_taint_rule)
    },
    ResourceStrategy::new(GROUP, "ResourceClaim")
        .status(PartEndpoint::STATUS_ONLY.and(update_claim_status))
        .gated(request_gates!("spec"))
        .prepare(
            |context, object| keep_exact(context, object, &["spec", "devices", "requests"]),
            |_, _, _| {},
        ),
    ResourceStrategy::new(GROUP, "ResourceClaimTemplate")
        .gated(request_gates!("spec", "spec"))
        .prepare(
            |context, object| keep_exact(context, object, &["spec", "spec", "devices", "requests"]),
            |_, _, _| {},
        ),
    ResourceStrategy::new(GROUP, "ResourcePoolStatusRequest")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY)
        .gated(&[GatedField::Field(
            "DRAPartitionableDevicesType",
            &["spec", "defaultPartitionTypeAttribute"],
        )]),
    ResourceStrategy::new(GROUP, "ResourceSlice")
        .generation(&[&["spec"]])
        .counted_first()
        .gated(SLICE_FEATURES),
];

const DERIVED: &str = "derivedAttributes";

const TOLERATIONS: &str = "tolerations";

/// Whether a release drops all fields of claims whose features are off.
// Upstream: pkg/api/resourceclaimspec/util.go, DropDisabledFields, since 1.35. Before, tolerations stayed, and attributes that are to be
// distinct were dropped from copies of the constraints.
fn drops_all_fields(release: &Release) -> bool {
    release.at_least(1, 35)
}

fn drops_capacity_alone(release: &Release) -> bool {
    !drops_all_fields(release)
}

/// A request of `v1beta1` is one for exact devices also where all that it says of them is dropped: an empty list stands for that.
// Upstream: pkg/apis/resource/v1beta1/conversion.go, hasDeviceRequestMainFieldsSet
fn keep_exact(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>, path: FieldPath<'_>) {
    let paths = context.dropper.dropped.iter().map(|drop| &drop.path);
    let paths = paths.chain(&context.dropper.dropped_empty);
    let paths: HashSet<&str> = paths.map(String::as_str).collect();
    if paths.is_empty() {
        return;
    }
    let place = path.join(".");
    for (index, request) in object::list_mut(object, path).iter_mut().enumerate() {
        // One with a class is for exact devices as it is.
        if !object::text(request, &["deviceClassName"]).is_empty() {
            continue;
        }
        let is_dropped = |name: &str| paths.contains(format!("{place}[{index}].{name}").as_str());
        for name in [DERIVED, TOLERATIONS].into_iter().filter(|name| is_dropped(name)) {
            object::set(request, &[name], Vec::new());
        }
    }
}

/// Fields of slices, by feature gate. In `v1beta1` those of a device are one level deeper.
const SLICE_FEATURES: &[GatedField] = &[
    GatedField::Feature(GatedFields::new(
        "DRADeviceCompatibilityGroups",
        &[
            &[
                "spec",
                "devices",
                "*",
                "consumesCounters",
                "*",
                "compatibilityGroups",
            ],
            &[
                "spec",
                "devices",
                "*",
                "basic",
                "consumesCounters",
                "*",
                "compatibilityGroups",
            ],
        ],
    )),
    GatedField::Feature(GatedFields::new(
        "DRANodeAllocatableResources",
        &[
            &["spec", "devices", "*", "nodeAllocatableResources"],
            &["spec", "devices", "*", "basic", "nodeAllocatableResources"],
        ],
    )),
    GatedField::Feature(GatedFields::new(
        "DRAListTypeAttributes",
        &[
            &["spec", "devices", "*", "attributes", "*", LISTS],
            &["spec", "devices", "*", "basic", "attributes", "*", LISTS],
        ],
    )),
    GatedField::Feature(GatedFields::graduated(
        "DRADeviceTaints",
        &[
            &["spec", "devices", "*", "taints"],
            &["spec", "devices", "*", "basic", "taints"],
        ],
    )),
    GatedField::Feature(GatedFields::graduated(
        "DRAPartitionableDevices",
        &[
            &["spec", "sharedCounters|perDeviceNodeSelection"],
            &["spec", "devices", "*", PARTITIONS],
            &["spec", "devices", "*", "basic", PARTITIONS],
        ],
    )),
    GatedField::Feature(GatedFields::graduated(
        "DRADeviceBindingConditions",
        &[
            &["spec", "devices", "*", BINDING],
            &["spec", "devices", "*", "basic", BINDING],
        ],
    )),
    GatedField::Feature(GatedFields::graduated(
        "DRAConsumableCapacity",
        &[
            &["spec", "devices", "*", "allowMultipleAllocations"],
            &["spec", "devices", "*", "capacity", "*", "requestPolicy"],
            &["spec", "devices", "*", "basic", "allowMultipleAllocations"],
            &["spec", "devices", "*", "basic", "capacity", "*", "requestPolicy"],
        ],
    )),
    GatedField::Field("DRAPartitionableDevicesType", &["spec", "partitionTypeAttribute"]),
    GatedField::Field("DRAOptionalNodeOperations", &["spec", "skipNodeOperations"]),
];

/// The fields of devices that are parts of others.
const PARTITIONS: &str = "consumesCounters|nodeName|nodeSelector|allNodes";

/// The fields of devices that have to be bound.
const BINDING: &str = "bindingConditions|bindingFailureConditions|bindsToNode";

/// The fields of attributes that are lists.
const LISTS: &str = "bools|ints|strings|versions";

const TIME_ADDED: FieldPath<'static> = &["spec", "taint", "timeAdded"];

/// A taint with another effect is a new one.
fn update_taint_rule<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    let changed = !object::same(object, old, &["spec", "taint", "effect"]);
    if changed && object::same(object, old, TIME_ADDED) {
        object::set(object, TIME_ADDED, context.placeholders.time.clone());
    }
}

const CLAIM_STATUS_FEATURES: [GatedFields; 3] = [
    SKIPPED_OPERATIONS,
    GatedFields::graduated(
        "DRADeviceBindingConditions",
        &[
            &["status", "allocation", "allocationTimestamp"],
            &[
                "status",
                "allocation",
                "devices",
                "results",
                "*",
                "bindingConditions|bindingFailureConditions",
            ],
        ],
    ),
    GatedFields::graduated(
        "DRAConsumableCapacity",
        &[
            &[
                "status",
                "allocation",
                "devices",
                "results",
                "*",
                "shareID|consumedCapacity",
            ],
            &["status", "devices", "*", "shareID"],
        ],
    ),
];

const SKIPPED_OPERATIONS: GatedFields = GatedFields::new(
    "DRAOptionalNodeOperations",
    &[&[
        "status",
        "allocation",
        "devices",
        "results",
        "*",
        "skipNodeOperations",
    ]],
);

/// The status of devices that are no longer allocated is dropped.
// Upstream: pkg/registry/resource/resourceclaim/strategy.go, dropDeallocatedStatusDevices
fn update_claim_status<'v>(
    context: &mut StrategyContext<'_>,
    object: &mut EditedObject<'v>,
    old: &Value<'v>,
) {
    let dropper = &mut context.dropper;
    for feature in CLAIM_STATUS_FEATURES {
        dropper.drop_unused((object, &[]), Some(old), feature);
    }
    let allocated = |of: &Value<'_>| -> Vec<[String; 4]> {
        let results = object::list(of, &["status", "allocation", "devices", "results"]);
        results.iter().map(device).collect()
    };
    let now = allocated(object);
    let mut deallocated = allocated(old);
    deallocated.retain(|device| !now.contains(device));
    let devices: FieldPath<'_> = &["status", "devices"];
    let mut left = object::list(object, devices).to_vec();
    left.retain(|status| !deallocated.contains(&device(status)));
    if left.is_empty() {
        drop(object::remove(object, devices))
    } else {
        object::set(object, devices, left)
    }
}

/// The identity of a device.
fn device(of: &Value<'_>) -> [String; 4] {
    ["driver", "pool", "device", "shareID"].map(|name| object::text(of, &[name]).to_owned())
}
