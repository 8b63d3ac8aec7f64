//! The objects that are evaluated, the request that brings them, and the namespace they are in.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value, json};

use super::rows::EvaluatedObject;

/// The object itself.
pub(super) fn object(which: EvaluatedObject) -> Value {
    let text = match which {
        EvaluatedObject::Full => pratique_benches::FULL_POD,
        EvaluatedObject::Small => pratique_benches::POD,
    };
    // The texts are constants of ours, which are JSON.
    serde_json::from_str(text).unwrap_or_default()
}

/// The request to create it, as an API server sends it.
pub(super) fn request(which: EvaluatedObject) -> Value {
    let object = object(which);
    json!({
        "uid": "00000000-0000-4000-8000-000000000001",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "name": object.pointer("/metadata/name"),
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:replicaset-controller",
            "uid": "0f2e4c1b",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
        },
        "object": object,
        "dryRun": false,
    })
}

/// JSON in lines, indented by one blank.
pub(super) fn write_lines(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    let format = PrettyFormatter::with_indent(b" ");
    // Writing to a vector cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, format));
    text
}

/// The namespace.
pub(super) fn namespace() -> Value {
    let labels = json!({"kubernetes.io/metadata.name": "shop", "env": "prod"});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_as_large_as_they_are_said_to_be() {
        let check = |which: EvaluatedObject, from: usize, to: usize| {
            let length = write_lines(&request(which)).len();
            assert!((from..to).contains(&length), "{which:?}: {length}");
        };
        check(EvaluatedObject::Full, 8_000, 10_500);
        check(EvaluatedObject::Small, 3_000, 6_000);
    }
}
