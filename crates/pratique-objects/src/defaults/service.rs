//! `core/v1`: Services.

use pratique_json::{Object, Value};

use super::Context;
use super::field::{absent, elements, empty, is_absent, is_empty, part, pointer, text};

/// How long a client stays with its endpoint.
const CLIENT_IP_SECONDS: i64 = 10_800;

pub(super) fn service(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    session_affinity(spec);
    empty(spec, "type", "ClusterIP");
    for port in elements(spec, "ports") {
        empty(port, "protocol", "TCP");
        let target = port.get("targetPort");
        let has_none = target.is_none_or(|target| {
            target.is_null() || target.as_int() == Some(0) || target.as_str() == Some("")
        });
        if has_none {
            let number = port.get("port").cloned().unwrap_or(Value::Int(0));
            port.insert("targetPort", number);
        }
    }
    let of_type = text(spec, "type").to_owned();
    let has_external = !is_empty(spec, "externalIPs");
    match of_type.as_str() {
        "LoadBalancer" | "NodePort" => empty(spec, "externalTrafficPolicy", "Cluster"),
        "ClusterIP" if has_external => empty(spec, "externalTrafficPolicy", "Cluster"),
        _ => {}
    }
    if matches!(of_type.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        absent(spec, "internalTrafficPolicy", "Cluster");
    }
    if of_type == "LoadBalancer" {
        absent(spec, "allocateLoadBalancerNodePorts", true);
        let status = pointer(object, "status").and_then(|status| pointer(status, "loadBalancer"));
        for ingress in status
            .into_iter()
            .flat_map(|balancer| elements(balancer, "ingress"))
        {
            if !is_empty(ingress, "ip") {
                absent(ingress, "ipMode", "VIP");
            }
        }
    }
}

fn session_affinity(spec: &mut Object<'_>) {
    empty(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let config = pointer(spec, "sessionAffinityConfig");
            let client = config.and_then(|config| pointer(config, "clientIP"));
            if client.is_none_or(|client| is_absent(client, "timeoutSeconds")) {
                let mut client = Object::new();
                client.insert("timeoutSeconds", CLIENT_IP_SECONDS);
                let mut config = Object::new();
                config.insert("clientIP", client);
                spec.insert("sessionAffinityConfig", config);
            }
        }
        _ => {}
    }
}
