//! Pods.
// Upstream: pkg/registry/core/pod/strategy.go

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_objects::complete_pod_resources;
use pratique_validation::profile_annotations::APP_ARMOR_CONTAINER;

use super::drop_disabled;
use crate::edited_object::{EditTarget as _, EditedObject};
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, METADATA, PartEndpoint, ResourceStrategy, StrategyContext};

pub(super) const STRATEGY: ResourceStrategy = ResourceStrategy {
    endpoints: &[("ephemeralcontainers", EPHEMERAL_CONTAINERS), ("resize", RESIZE)],
    ..ResourceStrategy::new("", "Pod")
        .generation(&[&["spec"]])
        .status(PartEndpoint {
            reset: &[
                &["spec"],
                &["metadata", "deletionTimestamp"],
                &["metadata", "ownerReferences"],
            ],
            kept: &[&["spec"], &["metadata", "ownerReferences"]],
            update: update_status,
        })
        .gated(&[GatedField::Pod(&[])])
        .prepare(create, keep_resources)
};

const EPHEMERAL_CONTAINERS: PartEndpoint = PartEndpoint {
    reset: &[],
    kept: &[],
    update: |context, object, old| {
        let containers = object::remove(object, &["spec", "ephemeralContainers"]);
        keep_all(object, old);
        object::put(object, &["spec", "ephemeralContainers"], containers);
        count_generation(context, object, old);
    },
};

const RESIZE: PartEndpoint = PartEndpoint {
    reset: &[],
    kept: &[],
    update: |context, object, old| {
        keep_all_but_resources(context, object, old);
        keep_resources(context, object, old);
        complete_pod_resources(object.edit(Some("spec")), context.dropper.gates);
        count_generation(context, object, old);
    },
};

fn keep_all<'v>(object: &mut EditedObject<'v>, old: &Value<'v>) {
    for path in METADATA {
        object::copy(object, old, path);
    }
    object::copy(object, old, &["status"]);
}

fn count_generation<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    drop_disabled(&mut context.dropper, object, Some(old), &[]);
    if !object::same(object, old, &["spec"]) {
        object::increment_generation(object, old);
    }
}

/// Whoever does not know of resources of a whole Pod does not remove them.
fn keep_resources<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    let is_on = context.dropper.gates.is_on("PodLevelResourcesFixDefaulting");
    if is_on && !object::has(object, &["spec", "resources"]) {
        object::copy(object, old, &["spec", "resources"]);
    }
}

// Upstream: pkg/registry/core/pod/strategy.go, dropNonResizeUpdates
fn keep_all_but_resources<'v>(context: &StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    const LISTS: [&str; 2] = ["containers", "initContainers"];
    let length = |of: &Value<'_>, list: &str| object::list(of, &["spec", list]).len();
    if LISTS.iter().any(|list| length(object, list) != length(old, list)) {
        return;
    }
    let resized = LISTS.map(|list| {
        resized(
            object::list(object, &["spec", list]),
            object::list(old, &["spec", list]),
        )
    });
    // The parts of the specification that change besides containers, by feature.
    let others = [
        ("InPlacePodLevelResourcesVerticalScaling", "resources"),
        ("InPlacePodVerticalScalingMemoryBackedVolumes", "volumes"),
    ];
    let changed: Vec<_> = others
        .into_iter()
        .filter(|(gate, _)| context.dropper.gates.is_on(gate))
        .map(|(_, field)| (field, object::remove(object, &["spec", field])))
        .collect();
    keep_all(object, old);
    for (field, value) in changed {
        object::put(object, &["spec", field], value);
    }
    for (list, containers) in LISTS.into_iter().zip(resized) {
        if !containers.is_empty() {
            object::set(object, &["spec", list], containers);
        }
    }
}

/// The old containers with the new resources; the new ones where they are not the same containers.
fn resized<'v>(new: &[Value<'v>], old: &[Value<'v>]) -> Vec<Value<'v>> {
    let pairs = || new.iter().zip(old);
    if pairs().any(|(new, old)| object::text(new, &["name"]) != object::text(old, &["name"])) {
        return new.to_vec();
    }
    let merged = pairs().map(|(new, old)| {
        let mut container = old.clone();
        object::copy(&mut container, new, &["resources"]);
        object::copy(&mut container, new, &["resizePolicy"]);
        container
    });
    merged.collect()
}

fn create(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    object::set(object, &["status", "phase"], "Pending");
    if !object::list(object, &["spec", "schedulingGates"]).is_empty() {
        let gated = scheduling_gated(context);
        object::set(object, &["status", "conditions"], vec![gated]);
    }
    merge_label_keys(object);
    apply_app_armor(context, object);
    if object::has(object, &["spec", "resources"]) {
        complete_pod_resources(object.edit(Some("spec")), context.dropper.gates);
    }
    let class = pratique_types::quality_of_service(object);
    object::set(object, &["status", "qosClass"], class);
}

// Upstream: pkg/registry/core/pod/strategy.go, applySchedulingGatedCondition
fn scheduling_gated(context: &StrategyContext<'_>) -> Value<'static> {
    let mut condition = Object::new();
    condition.insert("type", "PodScheduled");
    condition.insert("status", "False");
    condition.insert("reason", "SchedulingGated");
    condition.insert(
        "message",
        "Scheduling is blocked due to non-empty scheduling gates",
    );
    condition.insert("lastProbeTime", Value::Null);
    condition.insert("lastTransitionTime", context.placeholders.time.clone());
    condition.into()
}

const LABEL_KEYS: [(&str, &str); 2] = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Whether an affinity or a spread constraint has label keys.
fn has_label_keys(spec: &Value<'_>) -> bool {
    let mut affinities = ["podAffinity", "podAntiAffinity"].iter().flat_map(|affinity| {
        let preferred = object::list(spec, &["affinity", affinity, PREFERRED]).iter();
        let required = object::list(spec, &["affinity", affinity, REQUIRED]).iter();
        preferred
            .filter_map(|term| term.get("podAffinityTerm"))
            .chain(required)
    });
    let mut constraints = object::list(spec, &["topologySpreadConstraints"]).iter();
    affinities.any(names_keys) || constraints.any(names_keys)
}

fn names_keys(term: &Value<'_>) -> bool {
    LABEL_KEYS
        .iter()
        .any(|(keys, _)| !object::list(term, &[keys]).is_empty())
}

/// Puts the values that label keys have in the pod into the selectors of its affinities and spread constraints.
// Upstream: pkg/registry/core/pod/strategy.go, mutatePodAffinity, mutateTopologySpreadConstraints
fn merge_label_keys(object: &mut EditedObject<'_>) {
    // It is taken out of the object, whose labels are looked at meanwhile.
    if !object.get("spec").is_some_and(has_label_keys) {
        return;
    }
    let Some(mut spec) = object.get_mut("spec").map(std::mem::take) else {
        return;
    };
    let labels = object.at(&["metadata", "labels"]).unwrap_or(&Value::Null);
    for affinity in ["podAffinity", "podAntiAffinity"] {
        for term in object::list_mut(&mut spec, &["affinity", affinity, PREFERRED]) {
            if let Some(term) = term.get_mut("podAffinityTerm") {
                merge_keys(term, labels);
            }
        }
        for term in object::list_mut(&mut spec, &["affinity", affinity, REQUIRED]) {
            merge_keys(term, labels);
        }
    }
    for constraint in object::list_mut(&mut spec, &["topologySpreadConstraints"]) {
        merge_keys(constraint, labels);
    }
    object::set(object, &["spec"], spec);
}

fn merge_keys<'v>(term: &mut Value<'v>, labels: &Value<'v>) {
    if !object::has(term, &["labelSelector"]) {
        return;
    }
    if !names_keys(term) {
        return;
    }
    let path: FieldPath<'_> = &["labelSelector", "matchExpressions"];
    let mut expressions = object::list(term, path).to_vec();
    let old_count = expressions.len();
    for (keys, operator) in LABEL_KEYS {
        for key in object::list(term, &[keys]) {
            let Some(value) = key.as_str().and_then(|key| labels.get(key)) else {
                continue;
            };
            let mut expression = Object::new();
            expression.insert("key", key.clone());
            expression.insert("operator", operator);
            expression.insert("values", vec![value.clone()]);
            expressions.push(expression.into());
        }
    }
    if expressions.len() > old_count {
        object::set(term, path, expressions);
    }
}

/// Gives containers the profiles that annotations name.
// Upstream: pkg/registry/core/pod/strategy.go, applyAppArmorVersionSkew
fn apply_app_armor(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    let annotations = object.at(&["metadata", "annotations"]).and_then(Value::as_object);
    let profiles = annotations
        .into_iter()
        .flat_map(Object::iter)
        .filter(|(key, _)| key.starts_with(APP_ARMOR_CONTAINER));
    let profiles = profiles.map(|(key, profile)| (Cow::Owned(key.to_owned()), profile.clone()));
    let profiles: Object<'_> = profiles.collect();
    if profiles.is_empty() || object::text(object, &["spec", "os", "name"]) == "windows" {
        return;
    }
    let field: FieldPath<'_> = &["securityContext", "appArmorProfile"];
    let of_pod = object
        .at(&["spec", "securityContext", "appArmorProfile"])
        .cloned();
    // Containers are visited in this order.
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in object::list_mut(object, &["spec", list]) {
            let key = format!("{APP_ARMOR_CONTAINER}{}", object::text(container, &["name"]));
            let Some(annotation) = profiles.get(&key).and_then(Value::as_str) else {
                continue;
            };
            if object::has(container, field) {
                continue;
            }
            let profile = app_armor_profile(annotation);
            let same = profile.is_some() && profile == of_pod;
            if let (Some(profile), false) = (profile, same) {
                object::set(container, field, profile);
            }
            if !same {
                context.warnings.push(format!(
                    "metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"
                ));
            }
        }
    }
}

/// The profile that an annotation names, if it is valid.
// Upstream: pkg/api/pod/util.go, ApparmorFieldForAnnotation
pub(crate) fn app_armor_profile(annotation: &str) -> Option<Value<'static>> {
    const LONGEST: usize = 4095;
    let mut profile = Object::new();
    match annotation {
        "unconfined" => drop(profile.insert("type", "Unconfined")),
        "runtime/default" => drop(profile.insert("type", "RuntimeDefault")),
        other => {
            let name = other.strip_prefix("localhost/")?;
            if name.trim().is_empty() || name.trim() != name || name.len() > LONGEST {
                return None;
            }
            profile.insert("type", "Localhost");
            profile.insert("localhostProfile", name.to_owned());
        }
    }
    Some(profile.into())
}

const CLAIM_STATUSES: [&str; 3] = [
    "extendedResourceClaimStatus",
    "nodeAllocatableResourceClaimStatuses",
    "resourceClaimStatuses",
];

fn update_status<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    object::remove(object, &["metadata", "deletionTimestamp"]);
    if object::text(object, &["status", "qosClass"]).is_empty() {
        object::copy(object, old, &["status", "qosClass"]);
    }
    // Old clients drop fields that they do not know.
    // Upstream: pkg/registry/core/pod/strategy.go, podStatusStrategy.PrepareForUpdate: since 1.37.
    let keeps_claims = context.dropper.gates.release().at_least(1, 37);
    for claims in CLAIM_STATUSES {
        if keeps_claims && !object::has(object, &["status", claims]) {
            object::copy(object, old, &["status", claims]);
        }
    }
    preserve_observed_generations(object, old);
    drop_disabled(&mut context.dropper, object, Some(old), &[]);
}

// Upstream: pkg/registry/core/pod/strategy.go, preserveOldObservedGeneration
fn preserve_observed_generations<'v>(object: &mut EditedObject<'v>, old: &Value<'v>) {
    const OBSERVED: &str = "observedGeneration";
    if object::number(object, &["status", OBSERVED]) == 0 {
        object::copy(object, old, &["status", OBSERVED]);
    }
    let path: FieldPath<'_> = &["status", "conditions"];
    let mut old_conditions: Vec<&Value<'_>> = object::list(old, path).iter().collect();
    for condition in object::list_mut(object, path) {
        let of_type = object::text(condition, &["type"]).to_owned();
        let same = old_conditions
            .iter()
            .position(|old| object::text(old, &["type"]) == of_type);
        let generation = same.map_or(0, |at| object::number(old_conditions.remove(at), &[OBSERVED]));
        if object::number(condition, &[OBSERVED]) == 0 && generation != 0 {
            object::set(condition, &[OBSERVED], generation);
        }
    }
}
