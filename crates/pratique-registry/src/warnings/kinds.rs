//! Warnings about single kinds.

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};

use super::pod_spec::{is_fractional_text, of_label};
use crate::object;

// Upstream: pkg/api/service/warnings.go, GetWarningsForService; without the warnings about addresses
pub(super) fn service(object: &Value<'static>) -> Vec<String> {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let text = |name: &str| object::text(object, &["spec", name]);
    let headless = text("type") == "ClusterIP" && text("clusterIP") == "None";
    let external = !object::list(object, &["spec", "externalIPs"]).is_empty();
    let is_name = text("type") == "ExternalName";
    let warnings = [
        (
            object::has(object, &["metadata", "annotations", HINTS]),
            format!(
                "annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
            ),
        ),
        (
            headless && !text("loadBalancerIP").is_empty(),
            "spec.loadBalancerIP is ignored for headless services".to_owned(),
        ),
        (
            headless && external,
            "spec.externalIPs is ignored for headless services".to_owned(),
        ),
        (
            headless && text("sessionAffinity") != "None",
            "spec.SessionAffinity is ignored for headless services".to_owned(),
        ),
        (
            external && !headless && !is_name,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned(),
        ),
        (
            external && is_name,
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned(),
        ),
        (
            !is_name && !text("externalName").is_empty(),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned(),
        ),
        (
            text("trafficDistribution") == "PreferClose",
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned(),
        ),
    ];
    let warnings = warnings.into_iter().filter(|(applies, _)| *applies);
    warnings.map(|(_, message)| message).collect()
}

// Upstream: pkg/api/persistentvolumeclaim/util.go, GetWarningsForPersistentVolumeClaim
pub(super) fn claim(object: &Value<'static>) -> Vec<String> {
    const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
    let mut warnings = Vec::new();
    if object::has(object, &["metadata", "annotations", CLASS]) {
        warnings.push(format!("metadata.annotations[{CLASS}]: {CLASS_MESSAGE}"));
    }
    for kind in ["requests", "limits"] {
        let amount = object::text(object, &["spec", "resources", kind, "storage"]);
        if is_fractional_text(amount) {
            let amount = quote(amount);
            warnings.push(format!(
                "spec.resources.{kind}[storage]: fractional byte value {amount} is invalid, must be an integer"
            ));
        }
    }
    warnings
}

const CLASS_MESSAGE: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";

// Upstream: pkg/api/storage/util.go, GetWarningsForStorageClass
pub(super) fn storage_class(object: &Value<'static>) -> Vec<String> {
    let topologies = object::list(object, &["allowedTopologies"]).iter().enumerate();
    let warnings = topologies.flat_map(|(at, topology)| {
        let expressions = object::list(topology, &["matchLabelExpressions"])
            .iter()
            .enumerate();
        expressions.filter_map(move |(index, expression)| {
            let message = of_label(object::text(expression, &["key"]))?;
            Some(format!(
                "allowedTopologies[{at}].matchLabelExpressions[{index}].key: {message}"
            ))
        })
    });
    warnings.collect()
}

// Upstream: pkg/api/node/util.go, GetWarningsForRuntimeClass
pub(super) fn runtime_class(object: &Value<'static>) -> Vec<String> {
    let selector = object
        .at(&["scheduling", "nodeSelector"])
        .and_then(Value::as_object);
    let labels = selector.into_iter().flat_map(Object::iter);
    let warnings =
        labels.filter_map(|(label, _)| Some(format!("scheduling.nodeSelector: {}", of_label(label)?)));
    warnings.collect()
}
