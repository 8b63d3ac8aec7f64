//! NodeDeclaredFeatureValidator: pods are changed, and devices offered, only in ways that their nodes say they can follow.

mod slices;

use std::borrow::Cow;

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};
use pratique_plugin::{PluginSettings, StateKind, gates};
use pratique_schema::Release;
use pratique_types::Operation;

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, members, name, text};
use crate::pods::pod_resize::node_of_changed;
use crate::pods::{containers, is_for_pods, quantity};

// Upstream: plugin/pkg/admission/nodedeclaredfeatures/admission.go
pub(crate) struct NodeDeclaredFeatureValidator {
    /// Whether slices are looked at.
    allocatable_resources: bool,
    release: &'static Release,
}

impl NodeDeclaredFeatureValidator {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        NodeDeclaredFeatureValidator {
            allocatable_resources: settings
                .feature_gates
                .is_on(gates::DRA_NODE_ALLOCATABLE_RESOURCES),
            release: settings.feature_gates.release(),
        }
    }
}

/// A feature that a change of a pod may need. The other features that nodes declare matter for scheduling, and for slices.
struct NodeFeature {
    name: &'static str,
    is_needed: fn(old: &Value<'_>, new: &Value<'_>) -> bool,
    is_in: fn(&Release) -> bool,
}

// Upstream: component-helpers/nodedeclaredfeatures/features/registry.go, AllFeatures
const FEATURES: [NodeFeature; 4] = [
    NodeFeature {
        name: "GuaranteedQoSPodCPUResize",
        is_needed: changes_guaranteed_cpu,
        // Upstream: inplacepodresize/guaranteed_cpu_resize.go is gone since 1.36.
        is_in: |release| !release.at_least(1, 36),
    },
    NodeFeature {
        name: "InPlacePodLevelResourcesVerticalScaling",
        is_needed: changes_pod_resources,
        is_in: |_| true,
    },
    NodeFeature {
        name: "InPlacePodVerticalScalingInitContainers",
        is_needed: changes_init_container,
        // Upstream: inplacepodresize/nonsidecar_initcontainers_resize.go is new in 1.36.
        is_in: |release| release.at_least(1, 36),
    },
    NodeFeature {
        name: "InPlacePodVerticalScalingMemoryBackedVolumes",
        is_needed: changes_memory_volume,
        // Upstream: inplacepodresize/memory_backed_volumes_resize.go is new in 1.37.
        is_in: |release| release.at_least(1, 37),
    },
];

impl BuiltInPlugin for NodeDeclaredFeatureValidator {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let resource = &request.resource;
        // Upstream: plugin/pkg/admission/nodedeclaredfeatures/admission.go, Validate: slices since 1.37.
        let are_slices = resource.group == "resource.k8s.io" && resource.resource == "resourceslices";
        if are_slices && self.release.at_least(1, 37) {
            return slices::validate(attributes, context, self.allocatable_resources);
        }
        let is_change =
            request.operation == Operation::Update && matches!(request.sub_resource.as_str(), "" | "resize");
        if !is_for_pods(request) || !is_change {
            return Ok(());
        }
        let Some(node) = node_of_changed(attributes)? else {
            return Ok(());
        };
        let (old, new) = (&request.old_object, attributes.object);
        let known = FEATURES.iter().filter(|feature| (feature.is_in)(self.release));
        let needed = known.filter(|feature| (feature.is_needed)(old, new));
        let needed: Vec<&str> = needed.map(|feature| feature.name).collect();
        if needed.is_empty() {
            return Ok(());
        }
        let Some(stored) = context.state.find(StateKind::NODE, "", node)? else {
            return Err(forbidden(attributes, format!("node {} not found", quote(node))));
        };
        let missing: Vec<&str> = needed
            .into_iter()
            .filter(|feature| !declares(stored, feature))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let error = format!(
            "pod update requires features {} which are not available on node {}",
            missing.join(", "),
            quote(name(stored)),
        );
        Err(forbidden(attributes, error))
    }
}

/// Whether a node says that it has a feature.
fn declares(node: &Value<'_>, feature: &str) -> bool {
    let mut declared = elements(node, &["status", "declaredFeatures"]).iter();
    declared.any(|other| other.as_str() == Some(feature))
}

// Upstream: component-helpers/nodedeclaredfeatures/features/inplacepodresize/guaranteed_cpu_resize.go, until 1.35
fn changes_guaranteed_cpu(old: &Value<'_>, new: &Value<'_>) -> bool {
    let cpu = |container: &Value<'_>| container.at(&["resources", "requests", "cpu"]).and_then(quantity);
    let (containers_of_old, containers_of_new) =
        (containers(old, "containers"), containers(new, "containers"));
    text(old, &["status", "qosClass"]) == "Guaranteed"
        && containers_of_old
            .iter()
            .zip(containers_of_new)
            .any(|(old, new)| cpu(old) != cpu(new))
}

// Upstream: component-helpers/nodedeclaredfeatures/features/inplacepodresize/memory_backed_volumes_resize.go
fn changes_memory_volume(old: &Value<'_>, new: &Value<'_>) -> bool {
    let volumes = |pod| elements(pod, &["spec", "volumes"]);
    let limit = |volume: &Value<'_>| volume.at(&["emptyDir", "sizeLimit"]).and_then(quantity);
    let (old, new) = (volumes(old), volumes(new));
    old.len() == new.len()
        && old.iter().zip(new).any(|(old, new)| {
            // The reference looks into the old volume even where it is of another type, which validation refuses before.
            text(old, &["name"]) == text(new, &["name"])
                && text(new, &["emptyDir", "medium"]) == "Memory"
                && limit(old).zip(limit(new)).is_some_and(|(old, new)| old != new)
        })
}

// Upstream: component-helpers/nodedeclaredfeatures/features/inplacepodresize/pod_level_resource_resize.go
fn changes_pod_resources(old: &Value<'_>, new: &Value<'_>) -> bool {
    let resources = |pod| members(pod, &["spec", "resources"]);
    match (resources(old), resources(new)) {
        (None, None) => false,
        (Some(old), Some(new)) => !same_resources(old, new),
        _ => true,
    }
}

// Upstream: component-helpers/nodedeclaredfeatures/features/inplacepodresize/nonsidecar_initcontainers_resize.go
fn changes_init_container(old: &Value<'_>, new: &Value<'_>) -> bool {
    let new = containers(new, "initContainers");
    let mut old = containers(old, "initContainers").iter().enumerate();
    let none = Object::new();
    let resources = |container| members(container, &["resources"]).unwrap_or(&none);
    old.any(|(index, container)| {
        text(container, &["restartPolicy"]) != "Always"
            // The reference reads past the end where there are fewer containers than before, which validation refuses.
            && new
                .get(index)
                .is_none_or(|new| !same_resources(resources(container), resources(new)))
    })
}

/// Whether resources are the same, with quantities as numbers.
fn same_resources(old: &Object<'_>, new: &Object<'_>) -> bool {
    let lists = ["requests", "limits"];
    let same_list = |list: &str| {
        let entries = |of: &Object<'_>| -> Vec<(String, _)> {
            let members = of.get(list).and_then(Value::as_object).into_iter();
            let members = members.flat_map(Object::iter);
            members
                .map(|(name, value)| (name.to_owned(), quantity(value)))
                .collect()
        };
        entries(old) == entries(new)
    };
    let rest = |of: &Object<'_>| -> Vec<(Cow<'static, str>, Value<'static>)> {
        let members = of
            .iter()
            .filter(|(key, value)| !lists.contains(key) && !value.is_empty());
        members
            .map(|(key, value)| (Cow::Owned(key.to_owned()), value.clone().into_owned()))
            .collect()
    };
    lists.into_iter().all(same_list) && rest(old) == rest(new)
}
