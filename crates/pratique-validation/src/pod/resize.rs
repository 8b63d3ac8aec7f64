//! Changes of the resources of a Pod that runs.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::quality_of_service;

use super::ephemeral::{MIRROR, NO_PATH};
use super::options::PodOptions;
use super::quality_of_service::stored_class;
use super::update::set;
use super::validate_metadata_and_spec;
use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::node::{Node, is_same};
use crate::object_meta::validate_core_meta_update;
use crate::quantities::quantity;

/// The lists of containers whose resources may change.
const LISTS: [&str; 2] = ["initContainers", "containers"];

const ONLY_COMPUTE: &str = "only cpu and memory resources are mutable";

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodResize
pub(crate) fn validate_pod_resize(
    pod: &Node<'_, '_>,
    old: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let old_metadata = old.child("metadata");
    let (spec, old_spec) = (pod.child("spec"), old.child("spec"));
    let old_annotations = old_metadata.child("annotations");
    let release = gates.release;
    let has_own_resources = has_own_resources(&spec) || has_own_resources(&old_spec);
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePodResize: such Pods since 1.35.
    if has_own_resources && !release.at_least(1, 35) {
        errors.forbidden(NO_PATH, "pods with pod-level resources cannot be resized");
        return;
    }
    if old_annotations.key(MIRROR).is_set() {
        errors.forbidden(NO_PATH, "static pods cannot be resized");
        return;
    }
    if old_spec.child("os").child("name").as_text() == "windows" {
        errors.forbidden(NO_PATH, "windows pods cannot be resized");
        return;
    }
    let mut all = Errors::of_gates(gates);
    let options = PodOptions::from_old(&old_spec, &old_annotations)
        .with_gates(gates)
        .of_pod();
    validate_core_meta_update(&pod.child("metadata"), &old_metadata, &mut all);
    validate_metadata_and_spec(pod, options, &mut all);
    if stored_class(old) != quality_of_service(pod.value()) {
        let status = pod.child("status");
        let class = crate::errors::named(status.child("qosClass").as_text());
        let detail = "Pod QOS Class may not change as a result of resizing";
        all.invalid(spec, class, detail);
    }
    // Upstream: pkg/apis/core/validation/validation.go, isPodResizeRequestSupported: gone in 1.38, when every node can.
    if !release.at_least(1, 38) && !can_node_resize(old) {
        all.forbidden(spec, "Pod running on node without support for resize");
    }
    let mut masked = spec.value().owned_within("");
    if has_own_resources {
        if !gates.resizes_whole_pods {
            all.forbidden(
                NO_PATH,
                "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled \
                 feature gate is disabled",
            );
            errors.extend(all);
            return;
        }
        validate_own_resources(&spec, &old_spec, &mut masked, &mut all);
    }
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePodResize: in 1.36 only.
    if release.at_least(1, 36) && !release.at_least(1, 37) {
        let status = old.child("status");
        if !status.child("nodeAllocatableResourceClaimStatuses").is_empty() {
            all.forbidden(
                spec,
                "pods with node allocatable resource claims cannot be resized",
            );
        }
    }
    if has_same_containers(&spec, &old_spec, &mut all) {
        validate_containers(&spec, &old_spec, &mut masked, &mut all);
        // Upstream: pkg/apis/core/validation/validation.go, ValidatePodResize: volumes since 1.37.
        if release.at_least(1, 37) {
            validate_volumes(&spec.child("volumes"), &old_spec.child("volumes"), &mut all);
            let kept = old_spec.child("volumes").value().owned_within("");
            set(&mut masked, "volumes", kept);
        }
        if all.is_empty() && !is_same(&masked, old_spec.value()) {
            all.forbidden(spec, ONLY_COMPUTE);
        }
    }
    errors.extend(all);
}

/// Whether the kubelet of the Pod's node says what it gave to the containers.
// Upstream: pkg/apis/core/validation/validation.go, isPodResizeRequestSupported
fn can_node_resize(pod: &Node<'_, '_>) -> bool {
    let status = pod.child("status");
    let statuses = status.child("containerStatuses");
    let mut statuses = statuses.items();
    statuses
        .find(|status| status.child("state").child("running").is_set())
        .is_none_or(|running| running.child("resources").is_set())
}

fn has_own_resources(spec: &Node<'_, '_>) -> bool {
    let resources = spec.child("resources");
    resources.child("requests").len() + resources.child("limits").len() > 0
}

/// The resources of the Pod as a whole.
// Upstream: pkg/apis/core/validation/validation.go, validatePodLevelResourcesResize
fn validate_own_resources(
    spec: &Node<'_, '_>,
    old_spec: &Node<'_, '_>,
    masked: &mut Value<'static>,
    errors: &mut Errors,
) {
    let (resources, old) = (spec.child("resources"), old_spec.child("resources"));
    if !resources.is_set() {
        errors.forbidden(resources, "pod-level resources cannot be removed");
        return;
    }
    if old.is_set() {
        validate_kept(&resources, &old, "pod-level resource", errors);
    }
    let own = mask_compute(&resources, &old, errors.release());
    if !is_same(&own, old.value()) {
        errors.forbidden(spec, "only cpu and memory resources are mutable at pod-level");
    }
    set(masked, "resources", own);
}

/// Requests and limits may change, but not go.
// Upstream: pkg/apis/core/validation/validation.go, resourcesRemoved
fn validate_kept(resources: &Node<'_, '_>, old: &Node<'_, '_>, what: &str, errors: &mut Errors) {
    for list in ["requests", "limits"] {
        let (new, old) = (resources.child(list), old.child(list));
        if old.entries().any(|(name, _)| !new.key(name).is_set()) {
            errors.forbidden(new, &format!("{what} {list} cannot be removed"));
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodResizeContainerOrdering
fn has_same_containers(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let count = errors.len();
    for list in ["containers", "initContainers"] {
        let (containers, old) = (spec.child(list), old.child(list));
        if containers.len() != old.len() {
            let detail = format!("{list} may not be added or removed on resize");
            errors.forbidden(containers, &detail);
            continue;
        }
        for (container, old) in containers.items().zip(old.items()) {
            let name = container.child("name");
            if name.as_text() != old.child("name").as_text() {
                let detail = format!("{list} may not be renamed or reordered on resize");
                errors.forbidden(name, &detail);
            }
        }
    }
    errors.len() == count
}

fn validate_containers(
    spec: &Node<'_, '_>,
    old_spec: &Node<'_, '_>,
    masked: &mut Value<'static>,
    errors: &mut Errors,
) {
    for list in LISTS {
        for (container, old) in spec.child(list).items().zip(old_spec.child(list).items()) {
            if list == "initContainers" && !can_resize(&old, errors) {
                continue;
            }
            let resources = container.child("resources");
            validate_kept(&resources, &old.child("resources"), "resource", errors);
        }
    }
    for list in ["containers", "initContainers"] {
        let containers = spec.child(list);
        let mut all = Vec::with_capacity(containers.len());
        for (container, old) in containers.items().zip(old_spec.child(list).items()) {
            let is_init = list == "initContainers";
            if is_init && !can_resize(&container, errors) {
                if !container.is_same(&old) {
                    errors.forbidden(spec, "resources for non-sidecar init containers are immutable");
                }
                all.push(container.value().owned_within(""));
                continue;
            }
            let own = mask_container(&container, &old, errors.release());
            let differs = !is_same(&own, old.value());
            if list == "containers" {
                if differs {
                    errors.forbidden(spec, ONLY_COMPUTE);
                }
            } else {
                validate_init_container(spec, (&container, &old), differs, errors);
            }
            all.push(own);
        }
        // The server makes the list anew of its containers, and nil of none.
        let all = if all.is_empty() { Value::Null } else { all.into() };
        set(masked, list, all);
    }
}

/// Whether the resources of a container that runs before the others may change: of those that go on to run beside them, always.
fn can_resize(container: &Node<'_, '_>, errors: &Errors) -> bool {
    errors.gates().resizes_init_containers || container.child("restartPolicy").as_text() == "Always"
}

fn validate_init_container(
    spec: &Node<'_, '_>,
    (container, old): (&Node<'_, '_>, &Node<'_, '_>),
    differs: bool,
    errors: &mut Errors,
) {
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePodResize: reworded in 1.36, and said of the container.
    if differs && !errors.release().at_least(1, 36) {
        errors.forbidden(
            spec,
            "only cpu and memory resources for sidecar containers are mutable",
        );
    } else if differs {
        errors.forbidden(
            container,
            "only cpu and memory resources for init or sidecar containers are mutable",
        );
    }
    let is_sidecar = container.child("restartPolicy").as_text() == "Always";
    if is_sidecar || container.is_same(old) {
        return;
    }
    for policy in container.child("resizePolicy").items() {
        if policy.child("restartPolicy").as_text() == "RestartContainer" {
            errors.forbidden(
                container,
                "non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
            );
        }
    }
}

/// Of volumes, only the limit of those in memory may change, where the feature is on.
fn validate_volumes(volumes: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if !errors.gates().resizes_memory_volumes {
        if !volumes.is_same(old) {
            errors.forbidden(
                volumes,
                "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled",
            );
        }
        return;
    }
    if volumes.len() != old.len() {
        errors.forbidden(volumes, "volumes may not be added or removed on resize");
        return;
    }
    for (volume, old) in volumes.items().zip(old.items()) {
        let name = volume.child("name");
        if name.as_text() == old.child("name").as_text() {
            validate_volume(&volume, &old, errors);
        } else {
            errors.forbidden(name, "volumes may not be renamed or reordered on resize");
        }
    }
}

fn validate_volume(volume: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (directory, old_directory) = (volume.child("emptyDir"), old.child("emptyDir"));
    let are_directories = directory.is_set() && old_directory.is_set();
    let (limit, old_limit) = (directory.child("sizeLimit"), old_directory.child("sizeLimit"));
    let mut masked = volume.value().owned_within("");
    if let Some(masked) = masked.get_mut("emptyDir").filter(|_| are_directories) {
        set(masked, "sizeLimit", old_limit.value().owned_within(""));
    }
    if !is_same(&masked, old.value()) {
        errors.forbidden(
            volume,
            "only sizeLimit of memory-backed emptyDir volumes is mutable on resize",
        );
        return;
    }
    let (amount, old_amount) = (quantity(&limit), quantity(&old_limit));
    if amount.is_zero() != old_amount.is_zero() {
        errors.forbidden(
            limit,
            "adding or removing sizeLimit on an existing volume is not allowed",
        );
    } else if amount != old_amount && directory.child("medium").as_text() != "Memory" {
        errors.forbidden(
            limit,
            "sizeLimit is only mutable for memory-backed emptyDir volumes",
        );
    }
}

/// The container with the processors and the memory that the old one has.
// Upstream: pkg/apis/core/validation/validation.go, dropCPUMemoryResourcesFromContainer
fn mask_container(container: &Node<'_, '_>, old: &Node<'_, '_>, release: &Release) -> Value<'static> {
    let mut masked = container.value().owned_within("");
    let mut resources = mask_compute(&container.child("resources"), &old.child("resources"), release);
    // Before 1.37, claims were lost, so that Pods with claims could not be changed.
    if !release.at_least(1, 37) {
        set(&mut resources, "claims", Value::Null);
    }
    set(&mut masked, "resources", resources);
    masked
}

/// Resources with the processors and the memory of others; none where there were none and nothing is left.
// Upstream: pkg/apis/core/validation/validation.go, dropCPUMemoryUpdates
fn mask_compute(resources: &Node<'_, '_>, old: &Node<'_, '_>, release: &Release) -> Value<'static> {
    let mut masked = resources.value().owned_within("");
    if !resources.is_set() {
        masked = pratique_json::Object::new().into();
    }
    for list in ["requests", "limits"] {
        let mut amounts = resources.child(list).value().owned_within("");
        if amounts.is_null() {
            amounts = pratique_json::Object::new().into();
        }
        for name in ["cpu", "memory"] {
            set(
                &mut amounts,
                name,
                old.child(list).key(name).value().owned_within(""),
            );
        }
        // Before 1.35, nothing was left where there was nothing.
        let is_lost = !release.at_least(1, 35) && !old.child(list).is_set();
        let amounts = if is_lost || amounts.is_empty() {
            Value::Null
        } else {
            amounts
        };
        set(&mut masked, list, amounts);
    }
    if masked.is_empty() && !old.is_set() {
        return Value::Null;
    }
    masked
}
