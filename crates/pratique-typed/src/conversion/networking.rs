//! Ingresses, and slices of endpoints. The hubs are `networking.k8s.io/v1` and `discovery.k8s.io/v1`.

use pratique_json::{Object, Value};

use super::{
    ApiVersion, ConversionError, ConversionFamily, is_v1beta1, part, parts, put, read_text, rename, take,
};

pub(super) const INGRESS: ConversionFamily =
    ConversionFamily::new(is_v1beta1, ingress_to_hub, ingress_from_hub);
pub(super) const ENDPOINT_SLICE: ConversionFamily =
    ConversionFamily::new(is_v1beta1, slice_to_hub, slice_from_hub);

fn ingress_to_hub(_: ApiVersion<'_>, ingress: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(ingress, "spec") {
        rename(spec, "backend", "defaultBackend");
        each_backend(spec, "defaultBackend", backend_to_hub);
    }
    Ok(())
}

fn ingress_from_hub(_: ApiVersion<'_>, ingress: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(ingress, "spec") {
        rename(spec, "defaultBackend", "backend");
        each_backend(spec, "backend", backend_from_hub);
    }
    Ok(())
}

fn each_backend(spec: &mut Object<'_>, default: &str, change: fn(&mut Object<'_>)) {
    part(spec, default).into_iter().for_each(change);
    for rule in parts(spec, "rules") {
        if let Some(http) = part(rule, "http") {
            let backends = parts(http, "paths").filter_map(|path| part(path, "backend"));
            backends.for_each(change);
        }
    }
}

fn backend_to_hub(backend: &mut Object<'_>) {
    let name = take(backend, "serviceName");
    let port = take(backend, "servicePort").unwrap_or(Value::Int(0));
    let is_service = name.as_ref().is_some_and(|name| !name.is_empty()) || port != Value::Int(0);
    if is_service {
        let field = match &port {
            Value::String(_) => "name",
            _ => "number",
        };
        let mut service = Object::new();
        put(&mut service, "name", name);
        service.insert(
            "port",
            Value::Object([(field.into(), port)].into_iter().collect()),
        );
        backend.insert("service", service);
    }
}

fn backend_from_hub(backend: &mut Object<'_>) {
    let Some(Value::Object(mut service)) = backend.remove("service") else {
        return;
    };
    put(backend, "serviceName", take(&mut service, "name"));
    if let Some(port) = part(&mut service, "port") {
        let named = take(port, "name").filter(|name| !name.is_empty());
        let port = named.or_else(|| take(port, "number"));
        put(backend, "servicePort", port);
    }
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";

fn slice_to_hub(_: ApiVersion<'_>, slice: &mut Object<'_>) -> Result<(), ConversionError> {
    for endpoint in parts(slice, "endpoints") {
        let Some(Value::Object(mut topology)) = endpoint.remove("topology") else {
            continue;
        };
        put(endpoint, "zone", topology.remove(ZONE));
        // A host that is the node itself is left out.
        let node = endpoint.get("nodeName");
        if node.is_some() && topology.get(HOSTNAME) == node {
            topology.remove(HOSTNAME);
        }
        if !topology.is_empty() {
            endpoint.insert("deprecatedTopology", topology);
        }
    }
    Ok(())
}

fn slice_from_hub(_: ApiVersion<'_>, slice: &mut Object<'_>) -> Result<(), ConversionError> {
    for endpoint in parts(slice, "endpoints") {
        let mut topology = match endpoint.remove("deprecatedTopology") {
            Some(Value::Object(topology)) => topology,
            _ => Object::new(),
        };
        put(&mut topology, ZONE, take(endpoint, "zone"));
        if read_text(&topology, HOSTNAME).is_empty() {
            put(&mut topology, HOSTNAME, endpoint.get("nodeName").cloned());
        }
        if !topology.is_empty() {
            endpoint.insert("topology", topology);
        }
    }
    Ok(())
}
