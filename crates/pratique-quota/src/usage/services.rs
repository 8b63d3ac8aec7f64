//! The usage of services.

use pratique_gotext::quantity::Quantity;
use pratique_json::Value;

use crate::fields::{items, text_at};
use crate::{QuotaError, ResourceList};

/// The usage of a service.
// Upstream: pkg/quota/v1/evaluator/core/services.go, serviceEvaluator.Usage
pub(crate) fn service_usage<'a>(service: &'a Value<'a>) -> Result<ResourceList<'a>, QuotaError> {
    let spec = service.get("spec");
    let ports = spec.map_or(&[] as &[_], |spec| items(spec, "ports"));
    let allocates = spec.and_then(|spec| spec.get("allocateLoadBalancerNodePorts"));
    let kind = spec.map_or("", |spec| text_at(spec, &["type"]));
    let (node_ports, balancers) = match kind {
        "NodePort" => (ports.len(), 0),
        "LoadBalancer" if allocates.and_then(Value::as_bool) == Some(false) => {
            let is_set = |port: &&Value<'_>| port.get("nodePort").and_then(Value::as_int).unwrap_or(0) != 0;
            (ports.iter().filter(is_set).count(), 1)
        }
        "LoadBalancer" => (ports.len(), 1),
        _ => (0, 0),
    };
    let mut usage = ResourceList::default();
    for (name, count) in [
        ("count/services", 1),
        ("services", 1),
        ("services.loadbalancers", balancers),
        ("services.nodeports", node_ports),
    ] {
        usage.set(name, Quantity::parse(&count.to_string())?);
    }
    Ok(usage)
}
