//! AdmissionReviews for the policies in `policies.yaml`.

use serde_json::{Value, json};

/// An AdmissionReview of an object in the namespace `shop`.
pub(super) fn review(operation: &str, kind: &str, resource: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "0ba3b7a6-2f5d-4b02-8a1e-1c0bb63f4c5e", "operation": operation,
            "name": "target", "namespace": "shop",
            "kind": {"group": "", "version": "v1", "kind": kind},
            "resource": {"group": "", "version": "v1", "resource": resource},
            "requestKind": {"group": "", "version": "v1", "kind": kind},
            "requestResource": {"group": "", "version": "v1", "resource": resource},
            "userInfo": {"username": "attacker"},
            "object": object, "oldObject": old, "options": null,
        }
    })
}

/// An object of this kind with these metadata and members.
pub(super) fn object(kind: &str, metadata: Value, members: Value) -> Value {
    let mut object =
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "target", "namespace": "shop"}});
    let whole = object.as_object_mut();
    if let (Some(whole), Value::Object(members)) = (whole, members) {
        whole.extend(members);
    }
    let inner = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
    if let (Some(inner), Value::Object(metadata)) = (inner, metadata) {
        inner.extend(metadata);
    }
    object
}

/// A Pod that the policies allow or deny.
pub(super) fn pod(denied: bool) -> Value {
    let labels = if denied {
        json!({"denied": "yes"})
    } else {
        json!({"app": "shop"})
    };
    let spec = json!({"containers": [{"name": "app", "image": "registry.shop.example/app:1"}]});
    let pod = object("Pod", json!({"labels": labels}), json!({"spec": spec}));
    review("CREATE", "Pod", "pods", &pod, &Value::Null)
}

/// An update of a ConfigMap with a number of finalizers, each of which is compared with all of the old ones.
pub(super) fn many_finalizers(count: usize) -> Value {
    let finalizers: Vec<String> = (0..count).map(|index| format!("a.b/{index}")).collect();
    let reversed: Vec<&String> = finalizers.iter().rev().collect();
    let new = object("ConfigMap", json!({"finalizers": reversed}), json!({}));
    let old = object("ConfigMap", json!({"finalizers": finalizers}), json!({}));
    review("UPDATE", "ConfigMap", "configmaps", &new, &old)
}

/// Reviews in which plugins compare a number of values with each other: addresses, tolerations and images.
pub(super) fn compared(count: usize) -> Vec<Value> {
    let addresses: Vec<String> = (0..count).map(|index| format!("a{index}")).collect();
    let reversed: Vec<&String> = addresses.iter().rev().collect();
    let service =
        |addresses: Value| object("Service", json!({}), json!({"spec": {"externalIPs": addresses}}));
    let services = review(
        "UPDATE",
        "Service",
        "services",
        &service(json!(reversed)),
        &service(json!(addresses)),
    );
    let requests: serde_json::Map<String, Value> = addresses
        .iter()
        .map(|name| (format!("example.com/{name}"), json!("1")))
        .collect();
    let tolerations: Vec<Value> = addresses
        .iter()
        .map(|name| json!({"key": format!("example.com/{name}"), "operator": "Exists", "effect": "NoSchedule"}))
        .collect();
    let spec = json!({"tolerations": tolerations,
        "containers": [{"name": "a", "image": "a", "resources": {"requests": requests}}]});
    let pod = object("Pod", json!({}), json!({ "spec": spec }));
    vec![services, review("CREATE", "Pod", "pods", &pod, &Value::Null)]
}

/// A Service with a pattern and a text that it is looked for in.
pub(super) fn pattern(pattern: &str, text: &str) -> Value {
    let annotations = json!({"pattern": pattern, "text": text});
    let service = object("Service", json!({"annotations": annotations}), json!({}));
    review("CREATE", "Service", "services", &service, &Value::Null)
}

/// A ConfigMap with a number of empty containers.
pub(super) fn empty_containers(count: usize) -> String {
    let marker = "\"EMPTY\"";
    let map = object("ConfigMap", json!({}), json!({"data": "EMPTY"}));
    let text = review("CREATE", "ConfigMap", "configmaps", &map, &Value::Null).to_string();
    text.replacen(
        marker,
        &format!("[{}[]]", "[],".repeat(count.saturating_sub(1))),
        1,
    )
}

/// An update of a denied Pod; the old and the new one have the given size in bytes.
pub(super) fn large(bytes: usize) -> Value {
    let mut update = pod(true);
    let annotations = json!({"padding": "x".repeat(bytes)});
    if let Some(object) = update
        .pointer_mut("/request/object/metadata")
        .and_then(Value::as_object_mut)
    {
        object.insert("annotations".into(), annotations);
    }
    let object = update.pointer("/request/object").cloned().unwrap_or_default();
    if let Some(request) = update.pointer_mut("/request").and_then(Value::as_object_mut) {
        request.insert("oldObject".into(), object);
        request.insert("operation".into(), "UPDATE".into());
    }
    update
}

/// A ServiceAccount with an annotation of a size in bytes, which a policy copies into itself repeatedly.
pub(super) fn copied(bytes: usize) -> Value {
    let annotations = json!({"seed": "x".repeat(bytes)});
    let account = object("ServiceAccount", json!({"annotations": annotations}), json!({}));
    review(
        "CREATE",
        "ServiceAccount",
        "serviceaccounts",
        &account,
        &Value::Null,
    )
}

/// Reviews that no API server sends, each with what is wrong with it.
pub(super) fn odd() -> Vec<(&'static str, Value)> {
    let with = |pointer: &str, value: Value| {
        let mut review = pod(true);
        if let Some(place) = review.pointer_mut(pointer) {
            *place = value;
        }
        review
    };
    let resources = |resource: &str| {
        let mut review = with("/request/resource/resource", resource.into());
        if let Some(place) = review.pointer_mut("/request/requestResource/resource") {
            *place = resource.into();
        }
        review
    };
    vec![
        ("no operation", with("/request/operation", "".into())),
        ("an unknown operation", with("/request/operation", "PATCH".into())),
        ("a resource in capitals", resources("Pods")),
        ("a subresource in the resource", resources("pods/status")),
        ("the group core", with("/request/resource/group", "core".into())),
        (
            "another kind of object",
            with("/request/object/kind", "ConfigMap".into()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_are_as_large_as_they_say() {
        let containers = empty_containers(1000);
        let parsed: Value = serde_json::from_str(&containers).unwrap_or_default();
        let held = parsed.pointer("/request/object/data").and_then(Value::as_array);
        assert_eq!(held.map(Vec::len), Some(1000));
        let large = large(5000);
        assert_eq!(large.pointer("/request/operation"), Some(&"UPDATE".into()));
        let [new, old] = ["/request/object", "/request/oldObject"].map(|at| large.pointer(at));
        assert!(new.is_some() && new == old);
        assert!(large.to_string().len() > 10_000);
        assert!(odd().iter().all(|(_, review)| *review != pod(true)));
    }
}
