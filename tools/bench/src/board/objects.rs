//! The objects that are evaluated, the request that brings them, and the namespace they are in.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value, json};

use super::rows::Object;

/// The object itself.
pub(super) fn object(which: Object) -> Value {
    match which {
        Object::Full => full(),
        // The text is a constant of ours, which is JSON.
        Object::Small => serde_json::from_str(pratique_benches::POD).unwrap_or_default(),
    }
}

/// The request to create it, as an API server sends it.
pub(super) fn request(which: Object) -> Value {
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
pub(super) fn text(value: &Value) -> Vec<u8> {
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

/// A Pod of three containers and one that comes before, as a ReplicaSet's controller and the defaults of an API server
/// leave it.
fn full() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "basket-5d8c7f9b64-q7zwl",
            "generateName": "basket-5d8c7f9b64-",
            "namespace": "shop",
            "uid": "8f14e45f-ceea-467f-9b1b-0c9f1a2b3c4d",
            "creationTimestamp": "2026-03-14T09:26:53Z",
            "labels": {
                "app": "basket", "team": "storefront", "tier": "frontend", "pod-template-hash": "5d8c7f9b64",
                "app.kubernetes.io/name": "basket", "app.kubernetes.io/version": "2.31.0",
            },
            "annotations": {
                "prometheus.io/scrape": "true", "prometheus.io/port": "9102",
                "checksum/config": "b3f4a1c09d2e4f6a8b7c5d3e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a",
            },
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "basket-5d8c7f9b64",
                "uid": "5a0b2c7e-61f5-4c57-9d5b-7ce9e1c5a2f4", "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "initContainers": [container("migrate", 0)],
            "containers": [container("basket", 8080), container("exporter", 9102), container("proxy", 8443)],
            "volumes": [
                {"name": "config", "configMap": {"name": "basket", "defaultMode": 420}},
                {"name": "tmp", "emptyDir": {}},
                {"name": "token", "projected": {"defaultMode": 420, "sources": [
                    {"serviceAccountToken": {"audience": "vault", "expirationSeconds": 3600, "path": "token"}},
                ]}},
            ],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "serviceAccountName": "basket",
            "serviceAccount": "basket",
            "automountServiceAccountToken": false,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": 10001, "fsGroup": 10001, "seccompProfile": {"type": "RuntimeDefault"},
            },
            "schedulerName": "default-scheduler",
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ],
            "priorityClassName": "normal",
            "enableServiceLinks": true,
            "preemptionPolicy": "PreemptLowerPriority",
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    })
}

/// A container; one that comes before others has no port.
fn container(name: &str, port: u16) -> Value {
    let mut container = json!({
        "name": name,
        "image": format!("registry.shop.example/storefront/{name}:2.31.0"),
        "args": [format!("--config=/etc/{name}/config.yaml"), "--log-format=json"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "REGION", "value": "eu-central-1"},
            {"name": "DATABASE_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "basket-db", "key": "password"}}},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": format!("/etc/{name}"), "readOnly": true},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "privileged": false, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]},
        },
    });
    let probe = |path: &str, period: u16| {
        json!({
            "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
            "timeoutSeconds": 1, "periodSeconds": period, "successThreshold": 1, "failureThreshold": 3,
        })
    };
    if let (true, Some(members)) = (port > 0, container.as_object_mut()) {
        let ports = json!([{"name": "main", "containerPort": port, "protocol": "TCP"}]);
        members.insert("ports".to_owned(), ports);
        members.insert("livenessProbe".to_owned(), probe("/live", 10));
        members.insert("readinessProbe".to_owned(), probe("/ready", 5));
    }
    container
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_as_large_as_they_are_said_to_be() {
        let check = |which: Object, from: usize, to: usize| {
            let length = text(&request(which)).len();
            assert!((from..to).contains(&length), "{which:?}: {length}");
        };
        check(Object::Full, 8_000, 10_500);
        check(Object::Small, 3_000, 6_000);
    }
}
