//! Services.
// Upstream: pkg/registry/core/service/strategy.go, pkg/registry/core/service/storage/storage.go

use pratique_json::Value;

use super::service_addresses;
use crate::edited_object::EditedObject;
use crate::object;
use crate::strategy::{PartEndpoint, ResourceStrategy, StrategyContext};

pub(super) const STRATEGY: ResourceStrategy = ResourceStrategy {
    begin: Some((service_addresses::create, service_addresses::update)),
    ..ResourceStrategy::new("", "Service")
        .creates_on_update()
        .status(PartEndpoint::STATUS)
        .prepare(|_, _| {}, drop_type_dependent)
};

/// The type of a Service.
pub(super) fn of_type<'v>(object: &'v Value<'_>) -> &'v str {
    object::text(object, &["spec", "type"])
}

pub(super) fn needs_cluster_ip(object: &Value<'_>) -> bool {
    of_type(object) != "ExternalName"
}

pub(super) fn needs_node_port(object: &Value<'_>) -> bool {
    matches!(of_type(object), "NodePort" | "LoadBalancer")
}

pub(super) fn needs_health_check(object: &Value<'_>) -> bool {
    of_type(object) == "LoadBalancer" && object::text(object, &["spec", "externalTrafficPolicy"]) == "Local"
}

// Upstream: pkg/api/service/util.go, ExternallyAccessible
fn is_externally_accessible(object: &Value<'_>) -> bool {
    let of_type = of_type(object);
    needs_node_port(object)
        || of_type == "ClusterIP" && !object::list(object, &["spec", "externalIPs"]).is_empty()
}

/// The node ports of a Service that are set.
pub(super) fn node_ports<'v>(object: &Value<'v>) -> Vec<Value<'v>> {
    let ports = object::list(object, &["spec", "ports"]).iter();
    let set = ports
        .filter_map(|port| port.get("nodePort"))
        .filter(|port| !port.is_empty());
    set.cloned().collect()
}

/// Drops fields that a Service of the new type does not have, where the request left them as they were.
// Upstream: pkg/registry/core/service/strategy.go, dropTypeDependentFields
fn drop_type_dependent<'v>(_: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    let same = |object: &Value<'_>, field: &str| object::same(object, old, &["spec", field]);
    if needs_cluster_ip(old) && !needs_cluster_ip(object) {
        if same(object, "clusterIP") && same(object, "clusterIPs") {
            object::remove(object, &["spec", "clusterIP"]);
            object::remove(object, &["spec", "clusterIPs"]);
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if same(object, field) {
                object::remove(object, &["spec", field]);
            }
        }
    }
    if needs_node_port(old) && !needs_node_port(object) {
        let old_ports = node_ports(old);
        if node_ports(object).iter().all(|port| old_ports.contains(port)) {
            for port in object::list_mut(object, &["spec", "ports"]) {
                object::remove(port, &["nodePort"]);
            }
        }
    }
    if needs_health_check(old) && !needs_health_check(object) && same(object, "healthCheckNodePort") {
        object::remove(object, &["spec", "healthCheckNodePort"]);
    }
    if of_type(old) == "LoadBalancer" && of_type(object) != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if same(object, field) {
                object::remove(object, &["spec", field]);
            }
        }
    }
    if is_externally_accessible(old)
        && !is_externally_accessible(object)
        && same(object, "externalTrafficPolicy")
    {
        object::remove(object, &["spec", "externalTrafficPolicy"]);
    }
    if of_type(object) != "LoadBalancer" {
        object::set(object, &["status", "loadBalancer"], pratique_json::Object::new());
    }
}
