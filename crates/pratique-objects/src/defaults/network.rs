//! `networking` and `discovery`.

use pratique_json::{Object, Value};

use super::field::{absent, is_empty, part, pointer};
use super::{Context, Function};

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "EndpointPort" => |object, _| {
            absent(object, "name", "");
            absent(object, "protocol", "TCP");
        },
        "HTTPIngressPath" => |object, _| absent(object, "pathType", "ImplementationSpecific"),
        "IngressClass" => |object, _| {
            let parameters = pointer(object, "spec").and_then(|spec| pointer(spec, "parameters"));
            if let Some(parameters) = parameters {
                absent(parameters, "scope", "Cluster");
            }
        },
        "NetworkPolicy" => network_policy,
        "NetworkPolicyPort" => |object, _| absent(object, "protocol", "TCP"),
        _ => return None,
    })
}

fn network_policy(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    if is_empty(spec, "policyTypes") {
        let mut types = vec![Value::from("Ingress")];
        if !is_empty(spec, "egress") {
            types.push("Egress".into());
        }
        spec.insert("policyTypes", types);
    }
}
