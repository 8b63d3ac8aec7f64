//! Differences between the answers of a server and ours, with their reasons.

use serde_json::Value;

use super::CreatedObject;
use crate::answers::is_same;

/// Why the answers to an object differ, if that is known.
pub(super) fn reason(created: &CreatedObject, server: &Value, ours: &Value) -> Option<&'static str> {
    let message = server.pointer("/status/message").and_then(Value::as_str);
    // Where the answer had begun, the server resets the stream.
    let tells_panic = |message: &str| {
        message.contains("caused apiserver to panic")
            || message.starts_with("stream error: ") && message.contains("INTERNAL_ERROR")
    };
    if message.is_some_and(tells_panic) || server.get("failed").is_some() {
        return Some("the server panics");
    }
    let is_there = server
        .pointer("/status/reason")
        .is_some_and(|reason| reason == "AlreadyExists");
    if is_there && ours.get("object").is_some() {
        return Some("the server has an object of that name");
    }
    let is_service = created.kind() == "v1 Service";
    if is_service && is_same(&without_allocated(server), &without_allocated(ours)) {
        return Some("a server chooses addresses and ports of Services at random");
    }
    None
}

/// An answer without the addresses and ports of a Service.
fn without_allocated(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let Some(Value::Object(spec)) = answer.pointer_mut("/object/spec") else {
        return answer;
    };
    for name in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        spec.remove(name);
    }
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.remove("nodePort");
    }
    answer
}
