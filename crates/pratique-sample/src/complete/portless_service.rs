//! Services without ports: only those without an address of their own may have none.

use pratique_json::Value;
use pratique_types::GroupVersionKind;

/// Makes a Service without ports headless, as a server requires it; false for one of a type that has to have ports.
// Upstream: pkg/apis/core/validation/validation.go, ValidateService
pub(super) fn settle_ports(kind: &GroupVersionKind, object: &mut Value<'static>) -> bool {
    let Value::Object(members) = object else {
        return true;
    };
    let is_service = kind.is_core("Service");
    let Some(Value::Object(spec)) = members.get_mut("spec").filter(|_| is_service) else {
        return true;
    };
    if spec.contains_key("ports") {
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
