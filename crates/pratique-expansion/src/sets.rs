//! The Pods of StatefulSets and DaemonSets.

use std::borrow::Cow;

use pratique_json::{Object, Value};

use super::metadata::{PodOwner, hash, pod_of, set_label, take_list};

/// The name of the node that a DaemonSet's Pod is made for.
const NODE: &str = "node";

/// The first Pod of a StatefulSet.
// Upstream: pkg/controller/statefulset/stateful_set_utils.go, newVersionedStatefulSetPod
pub(crate) fn of_stateful_set<'v>(
    set: &'v Value<'_>,
    template: &'v Object<'_>,
    owner: &PodOwner,
) -> Object<'v> {
    let ordinal = match set.at(&["spec", "ordinals", "start"]) {
        Some(Value::Int(start)) => *start,
        _ => 0,
    };
    let name = format!("{}-{ordinal}", owner.name);
    let mut pod = pod_of(template, owner);
    if let Some(Value::Object(metadata)) = pod.get_mut("metadata") {
        metadata.insert("name", name.clone());
    }
    set_label(&mut pod, "statefulset.kubernetes.io/pod-name", name.clone());
    set_label(&mut pod, "apps.kubernetes.io/pod-index", ordinal.to_string());
    let revision = format!("{}-{}", owner.name, hash(template));
    set_label(&mut pod, "controller-revision-hash", revision);
    if let Some(Value::Object(spec)) = pod.get_mut("spec") {
        spec.insert("hostname", name);
        if let Some(service) = set.at(&["spec", "serviceName"]).and_then(Value::as_str) {
            spec.insert("subdomain", Value::String(Cow::Borrowed(service)));
        }
        claim(spec, set, &owner.name, ordinal);
    }
    pod
}

/// Puts the volumes of a StatefulSet's claims before those of the template; they replace volumes of their names. A server
/// gives several claims in any order; here it is that of their names.
// Upstream: pkg/controller/statefulset/stateful_set_utils.go, updateStorage
fn claim(spec: &mut Object<'_>, set: &Value<'_>, name: &str, ordinal: i64) {
    let templates = set
        .at(&["spec", "volumeClaimTemplates"])
        .and_then(Value::as_array);
    let mut claims: Vec<&str> = templates
        .unwrap_or_default()
        .iter()
        .filter_map(|template| template.at(&["metadata", "name"])?.as_str())
        .collect();
    claims.sort_unstable();
    claims.dedup();
    if claims.is_empty() {
        return;
    }
    let mut volumes: Vec<Value<'_>> = claims
        .iter()
        .map(|claim| {
            let mut of_claim = Object::new();
            of_claim.insert("claimName", format!("{claim}-{name}-{ordinal}"));
            let mut volume = Object::new();
            volume.insert("name", (*claim).to_owned());
            volume.insert("persistentVolumeClaim", Value::Object(of_claim));
            Value::Object(volume)
        })
        .collect();
    let is_claimed = |volume: &Value<'_>| {
        let name = volume.get("name").and_then(Value::as_str);
        name.is_some_and(|name| claims.contains(&name))
    };
    let of_template = take_list(spec, "volumes").into_iter();
    volumes.extend(of_template.filter(|volume| !is_claimed(volume)));
    spec.insert("volumes", Value::Array(volumes));
}

/// The Pod of a DaemonSet for a node.
// Upstream: pkg/controller/daemon/util/daemonset_util.go, CreatePodTemplate
pub(crate) fn of_daemon_set<'v>(
    set: &'v Value<'_>,
    template: &'v Object<'_>,
    owner: &PodOwner,
) -> Object<'v> {
    let mut pod = pod_of(template, owner);
    let generation = set.at(&[
        "metadata",
        "annotations",
        "deprecated.daemonset.template.generation",
    ]);
    // A server sets the annotation on creation.
    let generation = generation.and_then(Value::as_str).unwrap_or("1");
    set_label(&mut pod, "pod-template-generation", generation);
    set_label(&mut pod, "controller-revision-hash", hash(template));
    if let Some(Value::Object(spec)) = pod.get_mut("spec") {
        tolerate(spec);
        bind_to_node(spec);
    }
    pod
}

/// Adds the tolerations of Pods of DaemonSets.
// Upstream: pkg/controller/daemon/util/daemonset_util.go, AddOrUpdateDaemonPodTolerations
fn tolerate(spec: &mut Object<'_>) {
    let mut taints = vec![
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        taints.push(("network-unavailable", "NoSchedule"));
    }
    let mut tolerations = take_list(spec, "tolerations");
    for (taint, effect) in taints {
        let key = format!("node.kubernetes.io/{taint}");
        let text = |toleration: &Value<'_>, field: &str, expected: &str| {
            toleration.get(field).and_then(Value::as_str) == Some(expected)
        };
        // A toleration of the same taint is replaced; here both are equal then.
        let is_there = tolerations.iter().any(|toleration| {
            text(toleration, "key", &key)
                && text(toleration, "operator", "Exists")
                && text(toleration, "effect", effect)
                && toleration.get("value").is_none()
                && toleration.get("tolerationSeconds").is_none()
        });
        if !is_there {
            let mut toleration = Object::new();
            toleration.insert("key", key);
            toleration.insert("operator", "Exists");
            toleration.insert("effect", effect);
            tolerations.push(Value::Object(toleration));
        }
    }
    spec.insert("tolerations", Value::Array(tolerations));
}

/// Requires a node, in the place of the nodes that the template requires.
// Upstream: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity
fn bind_to_node(spec: &mut Object<'_>) {
    let mut requirement = Object::new();
    requirement.insert("key", "metadata.name");
    requirement.insert("operator", "In");
    requirement.insert("values", Value::Array(vec![Value::from(NODE)]));
    let mut term = Object::new();
    term.insert("matchFields", Value::Array(vec![Value::Object(requirement)]));
    let terms = Value::Array(vec![Value::Object(term)]);
    let mut at = spec;
    for field in [
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    ] {
        if !matches!(at.get(field), Some(Value::Object(_))) {
            at.insert(field, Value::Object(Object::new()));
        }
        let Some(Value::Object(next)) = at.get_mut(field) else {
            return;
        };
        at = next;
    }
    at.insert("nodeSelectorTerms", terms);
}
