//! Fields of pods and their templates behind feature gates that are off.
// Upstream: pkg/api/pod/util.go, dropDisabledFields

use std::collections::HashSet;
use std::sync::LazyLock;

use pratique_json::Value;
use pratique_types::field;

use crate::edited_object::EditedObject;
use crate::gated_fields::{FieldDropper, FieldTree, GatedDrop, GatedFields};
use crate::object::{self, FieldPath};

/// The lists of containers.
const CONTAINERS: &str = "containers|initContainers|ephemeralContainers";
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";

/// Sources of volumes that write files, and of projected ones.
// Upstream: pkg/api/pod/util.go, dropDisabledAtomicWriteVolumeUserFields, atomicWriteVolumeUserFieldsInUse
const SOURCES: &str = "secret>configMap>downwardAPI>projected";
const PROJECTIONS: &str =
    "secret>downwardAPI>configMap>serviceAccountToken>clusterTrustBundle>podCertificate";

/// The fields of all [`FEATURES`].
static FEATURE_FIELDS: LazyLock<FieldTree> = LazyLock::new(|| FieldTree::new(FEATURES));

/// Fields of the `spec`, by feature gate.
const FEATURES: &[GatedFields] = &[
    GatedFields::new(
        "AtomicWriteVolumeUserFields",
        // Of several sources, a server sees the first of these.
        &[
            &["volumes", "*", SOURCES, "defaultUser"],
            &["volumes", "*", SOURCES, "items", "*", "user"],
            &[
                "volumes",
                "*",
                SOURCES,
                "sources",
                "*",
                PROJECTIONS,
                "items",
                "*",
                "user",
            ],
            &["volumes", "*", SOURCES, "sources", "*", PROJECTIONS, "user"],
        ],
    ),
    GatedFields::graduated(
        "ClusterTrustBundleProjection",
        &[&["volumes", "*", "projected", "sources", "*", "clusterTrustBundle"]],
    ),
    GatedFields::graduated(
        "PodCertificateRequest",
        &[&["volumes", "*", "projected", "sources", "*", "podCertificate"]],
    ),
    GatedFields::graduated("HostnameOverride", &[&["hostnameOverride"]]),
    GatedFields::graduated(
        "EnvFiles",
        &[&[CONTAINERS, "*", "env", "*", "valueFrom", "fileKeyRef"]],
    ),
    GatedFields::new("GenericWorkload", &[&["schedulingGroup"]]),
    GatedFields::new(
        "GRPCContainerProbeTLS",
        &[&[CONTAINERS, "*", PROBES, "grpc", "mode"]],
    ),
    GatedFields::new("EvictionRequestAPI", &[&["evictionResponders"]]),
    GatedFields::new("EmptyDirVolumeMode", &[&["volumes", "*", "emptyDir", "mode"]]),
    GatedFields::new(
        "VolumeBindMountOptions",
        &[&[CONTAINERS, "*", "volumeMounts", "*", "bindMountOptions"]],
    ),
    GatedFields::new(
        "H2CContainerProbe",
        &[
            &[CONTAINERS, "*", PROBES, "httpGet", "protocol"],
            &[
                CONTAINERS,
                "*",
                "lifecycle",
                "postStart|preStop",
                "httpGet",
                "protocol",
            ],
        ],
    ),
];

/// Fields of the `status` of pods, by feature gate.
const STATUS_FEATURES: &[GatedFields] = &[
    GatedFields::graduated("DRAExtendedResource", &[&["extendedResourceClaimStatus"]]),
    GatedFields::graduated(
        "ResourceHealthStatus",
        &[&[
            "containerStatuses|initContainerStatuses|ephemeralContainerStatuses",
            "*",
            "allocatedResourcesStatus",
        ]],
    ),
    GatedFields::new(
        "ImageVolumeWithDigest",
        &[&[
            "containerStatuses|initContainerStatuses|ephemeralContainerStatuses",
            "*",
            "volumeMounts",
            "*",
            "volumeStatus",
        ]],
    ),
    GatedFields::new(
        "DRANodeAllocatableResources",
        &[&["nodeAllocatableResourceClaimStatuses"]],
    ),
    GatedFields::new("CSIVolumeHealth", &[&["volumeHealth"]]),
];

/// Annotations that old releases had in place of the field `initContainers`.
const INIT_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

/// Drops fields of the pod or template at `path` behind gates that are off, unless the old object uses them, and
/// annotations that are fields today.
pub(crate) fn drop_disabled(
    dropper: &mut FieldDropper,
    object: &mut EditedObject<'_>,
    old: Option<&Value<'_>>,
    path: FieldPath<'_>,
) {
    let old = old.and_then(|old| old.at(path));
    let Some(pod) = object.at(path) else {
        return;
    };
    let has_fields = pod.get("spec").is_some_and(|spec| FEATURE_FIELDS.may_be_in(spec));
    let has_signals = !dropper.gates.is_on(STOP_SIGNALS) && pod.get("spec").is_some_and(has_stop_signals);
    let has_all = dropper.is_on_or_graduated(RESTART_RULES) && dropper.is_on_or_graduated(IMAGE_VOLUMES);
    let place = [path, &["spec"]].concat();
    // What nothing is dropped from is not edited.
    if (has_fields || has_signals || !has_all)
        && let Some(spec) = object::at_mut(object, &place)
    {
        let old = old.and_then(|old| old.get("spec"));
        if has_fields {
            for feature in FEATURES {
                dropper.drop_unused((spec, place.as_slice()), old, *feature);
            }
        }
        if has_signals && !old.is_some_and(stops_by_signal) {
            drop_stop_signals(spec, &place, &mut dropper.dropped);
        }
        if !dropper.is_on_or_graduated(RESTART_RULES) && !old.is_some_and(has_restart_rules) {
            drop_restart_rules(spec, &place, &mut dropper.dropped);
        }
        if !dropper.is_on_or_graduated(IMAGE_VOLUMES) && !old.is_some_and(has_image_volumes) {
            drop_image_volumes(spec, &place, &mut dropper.dropped);
        }
    }
    let place = [path, &["status"]].concat();
    if object::has(object, &place)
        && let Some(status) = object::at_mut(object, &place)
    {
        let old = old.and_then(|old| old.get("status"));
        for feature in STATUS_FEATURES {
            dropper.drop_unused((status, place.as_slice()), old, *feature);
        }
    }
    let place = [path, &["metadata", "annotations"]].concat();
    let is_of_old = |annotations: &Value<'_>| {
        INIT_ANNOTATIONS
            .iter()
            .any(|name| annotations.get(name).is_some())
    };
    if object.at(&place).is_some_and(is_of_old) {
        for name in INIT_ANNOTATIONS {
            object::remove(object, &[place.as_slice(), &[name]].concat());
        }
    }
    if object::has(object, &place) {
        object::remove_if_empty(object, &place);
    }
}

const RESTART_RULES: &str = "ContainerRestartRules";

/// Init containers may restart always without the feature.
fn has_own_policy(list: &str, container: &Value<'_>) -> bool {
    let policy = container.get("restartPolicy").filter(|policy| !policy.is_null());
    policy.is_some_and(|policy| list != "initContainers" || policy.as_str() != Some("Always"))
}

// Upstream: pkg/api/pod/util.go, containerRestartRulesInUse: rules count in init containers only, ephemeral ones do not
fn has_restart_rules(spec: &Value<'_>) -> bool {
    ["initContainers", "containers"].iter().any(|list| {
        object::list(spec, &[list]).iter().any(|container| {
            let has_rules = !object::list(container, &["restartPolicyRules"]).is_empty();
            has_own_policy(list, container) || (*list == "initContainers" && has_rules)
        })
    })
}

// Upstream: pkg/api/pod/util.go, dropContainerRestartRules
fn drop_restart_rules(spec: &mut Value<'_>, place: FieldPath<'_>, dropped: &mut Vec<GatedDrop>) {
    for list in CONTAINER_LISTS {
        for (index, container) in object::list_mut(spec, &[list]).iter_mut().enumerate() {
            let field = field::Path::new(list);
            let path = field.index(index);
            if has_own_policy(list, container) {
                object::remove(container, &["restartPolicy"]);
                dropped.push(GatedDrop::new(RESTART_RULES, place, &path.child("restartPolicy")));
            }
            if object::remove(container, &["restartPolicyRules"]).is_some() {
                dropped.push(GatedDrop::new(
                    RESTART_RULES,
                    place,
                    &path.child("restartPolicyRules"),
                ));
            }
        }
    }
}

const IMAGE_VOLUMES: &str = "ImageVolume";

fn has_image_volumes(spec: &Value<'_>) -> bool {
    let mut volumes = object::list(spec, &["volumes"]).iter();
    volumes.any(|volume| object::has(volume, &["image"]))
}

/// Volumes of images go whole, and so do the mounts of them.
// Upstream: pkg/api/pod/util.go, dropImageVolumes
fn drop_image_volumes(spec: &mut Value<'_>, place: FieldPath<'_>, dropped: &mut Vec<GatedDrop>) {
    let volumes = field::Path::new("volumes");
    let mut images: HashSet<String> = HashSet::new();
    for (index, volume) in object::list(spec, &["volumes"]).iter().enumerate() {
        if object::has(volume, &["image"]) {
            images.insert(object::text(volume, &["name"]).to_owned());
            dropped.push(GatedDrop::new(IMAGE_VOLUMES, place, &volumes.index(index)));
        }
    }
    if images.is_empty() {
        return;
    }
    keep_elements(spec, "volumes", |volume| !object::has(volume, &["image"]));
    for list in CONTAINER_LISTS {
        for container in object::list_mut(spec, &[list]) {
            keep_elements(container, "volumeMounts", |mount| {
                !images.contains(object::text(mount, &["name"]))
            });
        }
    }
}

/// Keeps some elements of a list, which is absent where there are none.
fn keep_elements(object: &mut Value<'_>, list: &str, is_kept: impl Fn(&Value<'_>) -> bool) {
    let Some(Value::Array(elements)) = object.get_mut(list) else {
        return;
    };
    elements.retain(is_kept);
    if elements.is_empty() {
        object::remove(object, &[list]);
    }
}

const STOP_SIGNALS: &str = "ContainerStopSignals";
const STOP_SIGNAL: FieldPath<'static> = &["lifecycle", "stopSignal"];

fn has_stop_signals(spec: &Value<'_>) -> bool {
    let mut containers = CONTAINER_LISTS
        .iter()
        .flat_map(|list| object::list(spec, &[list]));
    containers.any(|container| container.at(STOP_SIGNAL).is_some())
}

fn stops_by_signal(spec: &Value<'_>) -> bool {
    let mut containers = CONTAINER_LISTS
        .iter()
        .flat_map(|list| object::list(spec, &[list]));
    containers.any(|container| object::has(container, STOP_SIGNAL))
}

/// A lifecycle that says no more than a signal goes with it.
fn drop_stop_signals(spec: &mut Value<'_>, place: FieldPath<'_>, dropped: &mut Vec<GatedDrop>) {
    for list in CONTAINER_LISTS {
        for (index, container) in object::list_mut(spec, &[list]).iter_mut().enumerate() {
            if object::remove(container, STOP_SIGNAL).is_some() {
                object::remove_if_empty(container, &["lifecycle"]);
                let (list, path) = (field::Path::new(list), STOP_SIGNAL.join("."));
                dropped.push(GatedDrop::new(
                    STOP_SIGNALS,
                    place,
                    &list.index(index).child(&path),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_schema::FeatureGates;
    use pratique_types::ObjectForm;

    use super::*;

    fn read(volumes: &str) -> Value<'static> {
        let pod = format!(r#"{{"spec":{{"volumes":[{volumes}]}}}}"#);
        pratique_json::parse(pod.as_bytes()).unwrap().into_owned()
    }

    #[track_caller]
    fn check(old: Option<&str>, volume: &str, expected: &str, paths: &[&str]) {
        let mut object = EditedObject::new(read(volume), ObjectForm::Settled);
        let old = old.map(read);
        let mut dropper = FieldDropper::new(FeatureGates::default());
        drop_disabled(&mut dropper, &mut object, old.as_ref(), &[]);
        assert_eq!(*object, read(expected), "{old:?}");
        let dropped: Vec<&str> = dropper.dropped.iter().map(|drop| drop.path.as_str()).collect();
        assert_eq!(dropped, paths, "{old:?}");
    }

    #[test]
    fn users_of_the_first_source_are_dropped() {
        let secret = r#"{"secret":{"items":[{"user":1}]},"configMap":{"defaultUser":1}}"#;
        let dropped = r#"{"secret":{"items":[{}]},"configMap":{"defaultUser":1}}"#;
        check(None, secret, dropped, &["spec.volumes[0].secret.items[0].user"]);
        check(Some(secret), secret, secret, &[]);
        // The old object does not use what a server does not look at.
        check(
            Some(r#"{"secret":{},"configMap":{"defaultUser":1}}"#),
            r#"{"configMap":{"defaultUser":1}}"#,
            r#"{"configMap":{}}"#,
            &["spec.volumes[0].configMap.defaultUser"],
        );
        check(
            None,
            r#"{"projected":{"defaultUser":1,"sources":[
                {"configMap":{"items":[{"user":1}]},"downwardAPI":{"items":[{"user":1}]}},
                {"serviceAccountToken":{"user":1},"podCertificate":{"user":1}}
            ]}}"#,
            r#"{"projected":{"sources":[
                {"configMap":{"items":[{"user":1}]},"downwardAPI":{"items":[{}]}},
                {"serviceAccountToken":{},"podCertificate":{"user":1}}
            ]}}"#,
            &[
                "spec.volumes[0].projected.defaultUser",
                "spec.volumes[0].projected.sources[0].downwardAPI.items[0].user",
                "spec.volumes[0].projected.sources[1].serviceAccountToken.user",
            ],
        );
    }
}
