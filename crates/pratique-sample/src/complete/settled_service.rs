//! Services as a server leaves them: what they have depends on their type, and on the phase.

use pratique_json::Value;
use pratique_types::GroupVersionKind;

use super::named_fields::NamedFields;
use super::unfilled_object::UnfilledObject;

/// Fields that a Service has only with an address in the cluster.
// Upstream: pkg/registry/core/service/strategy.go, dropTypeDependentFields, and storage/alloc.go
const OF_ADDRESS: [&str; 5] = [
    "clusterIP",
    "clusterIPs",
    "ipFamilies",
    "ipFamilyPolicy",
    "internalTrafficPolicy",
];

/// Gives a Service what a server requires, and what it sets before validating admission if that sees it; false for one without
/// ports of a type that has to have ports.
// Upstream: pkg/apis/core/validation/validation.go, ValidateService
pub(super) fn settle_service(
    kind: &GroupVersionKind,
    object: &mut Value<'static>,
    is_mutating: bool,
) -> bool {
    let Value::Object(members) = object else {
        return true;
    };
    let is_service = kind.is_core("Service");
    let Some(Value::Object(spec)) = members.get_mut("spec").filter(|_| is_service) else {
        return true;
    };
    let service_type = spec.get("type").and_then(Value::as_str).unwrap_or_default();
    let has_node_ports = service_type == "NodePort"
        || service_type == "LoadBalancer"
            && spec.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false));
    if let Some(Value::Array(ports)) = spec.get_mut("ports") {
        // Upstream: pkg/registry/core/service/storage/storage.go, beginCreate, which runs before the object is validated.
        for port in ports.iter_mut().filter(|_| has_node_ports && !is_mutating) {
            if let Value::Object(port) = port
                && !port.contains_key("nodePort")
            {
                port.insert("nodePort", 30_000);
            }
        }
        return true;
    }
    match spec.get("type").and_then(Value::as_str) {
        Some("NodePort" | "LoadBalancer") => return false,
        Some("ExternalName") => {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
        _ => {
            spec.insert("clusterIP", "None");
            spec.insert(
                "clusterIPs",
                Value::Array([Value::from("None")].into_iter().collect()),
            );
        }
    }
    true
}

/// A Service of another name than one in the cluster, once for each of the fields that it lacks and that expressions name.
pub(super) fn remove_address(
    kind: &GroupVersionKind,
    whole: &Value<'static>,
    interest: &NamedFields,
) -> Vec<UnfilledObject> {
    if !kind.is_core("Service") {
        return Vec::new();
    }
    let mut object = whole.clone();
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return Vec::new();
    };
    for field in OF_ADDRESS {
        spec.remove(field);
    }
    spec.insert("type", "ExternalName");
    spec.insert("externalName", "example.com");
    let named = OF_ADDRESS.into_iter().filter(|field| interest.names(field));
    named
        .map(|name| UnfilledObject {
            object: object.clone(),
            name,
            condition: Some("type is ExternalName".to_owned()),
        })
        .collect()
}
