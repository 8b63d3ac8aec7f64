//! The warnings of a kind's storage.

mod addresses;
mod kinds;
mod network;
mod pod_spec;
mod storage;
mod volume_paths;

use std::borrow::Cow;

use pratique_gotext::validation::dns1123_label;
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use crate::Placeholders;
use crate::object::{self, FieldPath};

/// How many warnings a volume, or a pod, may have before its paths, or ports, are not compared any more: a server tells of each
/// pair, and shows some kilobytes.
const MAX_PAIRS: usize = 10_000;

/// Where a kind has the template of its pods; the empty path of a pod itself.
fn template(kind: &GroupVersionKind) -> Option<FieldPath<'static>> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => Some(&[]),
        ("", "PodTemplate") => Some(&["template"]),
        ("", "ReplicationController")
        | ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet")
        | ("batch", "Job") => Some(&["spec", "template"]),
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template"]),
        _ => None,
    }
}

/// The warnings about a new object.
// Upstream: rest.RESTCreateStrategy, WarningsOnCreate
pub(crate) fn on_create(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    placeholders: &Placeholders,
    release: &Release,
) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(of_name(kind, object, placeholders));
    warnings.extend(of_ingress(kind, object));
    if let Some(path) = template(kind) {
        warnings.extend(of_template(kind, object, path));
    }
    warnings.extend(of_kind(kind, object, None, release));
    addresses::in_words_of(release, warnings)
}

/// The warnings about a template of pods, and about the Job that it is of.
fn of_template(kind: &GroupVersionKind, object: &Value<'_>, path: FieldPath<'_>) -> Vec<String> {
    let job = match (kind.group.as_str(), path) {
        ("batch", [spec @ .., "template"]) => kinds::job_spec(object, spec),
        _ => None,
    };
    job.into_iter()
        .chain(pod_spec::warn_of_pod(object, path))
        .collect()
}

/// The warnings about an object of a single kind, new or changed.
fn of_kind(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    old: Option<&Value<'_>>,
    release: &Release,
) -> Vec<String> {
    let is_update = old.is_some();
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            pratique_apiextensions::definition_warnings(object, old, release)
        }
        ("", "Endpoints") => network::endpoints(object),
        ("", "Node") => kinds::node(object),
        ("", "PersistentVolume") => storage::volume(object),
        ("", "PersistentVolumeClaim") => storage::claim(object),
        // Upstream: pkg/registry/core/resourcequota/strategy.go, WarningsOnCreate: since 1.35.
        ("", "ResourceQuota") if !is_update && release.at_least(1, 35) => kinds::resource_quota(object),
        ("", "Secret") => kinds::secret(object).into_iter().collect(),
        ("", "Service") => network::service(object, release),
        ("", "ServiceAccount") => kinds::service_account(object, old).into_iter().collect(),
        ("apps", "StatefulSet") => {
            let mut warnings = storage::claim_templates(object, is_update);
            warnings.extend(of_revisions(object));
            warnings
        }
        ("batch", "CronJob") if is_update => kinds::time_zone(object).into_iter().collect(),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(object, is_update),
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy(object),
        ("node.k8s.io", "RuntimeClass") => kinds::runtime_class(object),
        // Upstream: pkg/registry/resource/resourceslice/strategy.go, WarningsOnCreate: since 1.35.
        ("resource.k8s.io", "ResourceSlice") if release.at_least(1, 35) => {
            kinds::resource_slice(object).into_iter().collect()
        }
        // Upstream: pkg/registry/storage/csidriver/strategy.go, WarningsOnCreate: since 1.35.
        ("storage.k8s.io", "CSIDriver") if release.at_least(1, 35) => {
            storage::driver(object, old).into_iter().collect()
        }
        ("storage.k8s.io", "CSIStorageCapacity") => storage::storage_capacity(object),
        ("storage.k8s.io", "StorageClass") => storage::storage_class(object),
        _ => Vec::new(),
    }
}

/// The warnings about a changed object: none about pods, and about templates only where the generation changed.
// Upstream: rest.RESTUpdateStrategy, WarningsOnUpdate
pub(crate) fn on_update(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    old: &Value<'_>,
    release: &Release,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let counted = !object::same(object, old, &["metadata", "generation"]);
    // The server's strategy passes its templates in the wrong order.
    // Upstream: pkg/registry/core/replicationcontroller/strategy.go, WarningsOnUpdate
    let templated = if kind.kind == "ReplicationController" {
        old
    } else {
        object
    };
    match template(kind) {
        Some(path) if counted && kind.kind != "Pod" => warnings.extend(of_template(kind, templated, path)),
        _ => {}
    }
    warnings.extend(of_kind(kind, object, Some(old), release));
    addresses::in_words_of(release, warnings)
}

/// The warnings about the addresses in the status of a Pod, a Service or an Ingress.
// Upstream: podStatusStrategy, serviceStatusStrategy and ingressStatusStrategy in pkg/registry/*/*/strategy.go, WarningsOnUpdate
pub(crate) fn on_status_update(
    kind: &GroupVersionKind,
    object: &Value<'_>,
    release: &Release,
) -> Vec<String> {
    // Lists with what paths have behind the index.
    let lists: &[(&[&str], &str)] = match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => &[(&["podIPs"], ".ip"), (&["hostIPs"], ".ip")],
        ("", "Service") | ("networking.k8s.io", "Ingress") => &[(&["loadBalancer", "ingress"], "")],
        _ => &[],
    };
    let warnings = lists.iter().flat_map(|(list, field)| {
        let path = [&["status"], *list].concat();
        let addresses = object::list(object, &path).iter().enumerate();
        let warnings = addresses.filter_map(|(at, address)| {
            let path = path.join(".");
            addresses::of_address(
                format_args!("{path}[{at}]{field}"),
                object::text(address, &["ip"]),
            )
        });
        warnings.collect::<Vec<_>>()
    });
    addresses::in_words_of(release, warnings.collect())
}

/// Warns about a name that is no DNS label, where pods are named after it.
fn of_name(kind: &GroupVersionKind, object: &Value<'_>, placeholders: &Placeholders) -> Option<String> {
    let used = match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => "this is used in the Pod's hostname",
        ("", "ReplicationController")
        | ("apps", "Deployment" | "ReplicaSet")
        | ("batch", "CronJob" | "Job") => "this is used in Pod names and hostnames",
        _ => return None,
    };
    let name = object::text(object, &["metadata", "name"]);
    // Generated suffixes are valid.
    let name = name
        .strip_suffix(placeholders.name_suffix.as_str())
        .map_or(Cow::Borrowed(name), |base| Cow::Owned(format!("{base}xxxxx")));
    let faults = dns1123_label(&name);
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    (!faults.is_empty()).then(|| {
        format!(
            "metadata.name: {used}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            faults.join(" ")
        )
    })
}

fn of_ingress(kind: &GroupVersionKind, object: &Value<'_>) -> Option<String> {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let is_ingress = kind.group == "networking.k8s.io" && kind.kind == "Ingress";
    let uses_annotation = is_ingress
        && object::has(object, &["metadata", "annotations", CLASS])
        && !object::has(object, &["spec", "ingressClassName"]);
    uses_annotation
        .then(|| format!("annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"))
}

fn of_revisions(object: &Value<'_>) -> Option<String> {
    let is_unlimited = object::number(object, &["spec", "revisionHistoryLimit"]) < 0;
    is_unlimited.then(|| {
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
            .to_owned()
    })
}

#[cfg(test)]
mod tests;
