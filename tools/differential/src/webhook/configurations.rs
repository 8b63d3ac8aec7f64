//! The webhooks, and the namespaces that requests are in.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// The namespaces that requests are in.
pub(super) fn namespaces() -> Vec<Value> {
    let names = ["default", "prod", "bare", "missing", "web-1", "web-2", "other"];
    let namespaces =
        names.map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    namespaces.to_vec()
}

/// Configurations of two webhooks each, which differ in what becomes of failures and of changes.
pub(super) fn configurations() -> &'static [Value] {
    static ALL: LazyLock<Vec<Value>> = LazyLock::new(|| {
        vec![
            configuration(&["v1"], "Fail", "Never"),
            configuration(&["v1"], "Ignore", "IfNeeded"),
            configuration(&["v1beta1"], "Fail", "IfNeeded"),
        ]
    });
    &ALL
}

/// Gives the webhooks of a configuration other clients, made of the paths of their URLs.
pub(super) fn set_clients(configuration: &mut Value, client: impl Fn(&str) -> Value) {
    let webhooks = configuration.get_mut("webhooks").and_then(Value::as_array_mut);
    for webhook in webhooks.into_iter().flatten() {
        let path = webhook.pointer("/clientConfig/url").and_then(Value::as_str);
        let made = client(path.unwrap_or_default());
        if let Some(members) = webhook.as_object_mut() {
            members.insert("clientConfig".to_owned(), made);
        }
    }
}

fn configuration(versions: &[&str], failure_policy: &str, reinvocation: &str) -> Value {
    let webhooks = ["first", "second"].map(|name| {
        json!({
            "name": format!("{name}.example.com"),
            "clientConfig": {"url": format!("/{name}")},
            "rules": [{
                "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"], "scope": "*",
            }],
            "admissionReviewVersions": versions, "sideEffects": "None", "timeoutSeconds": 30,
            "failurePolicy": failure_policy, "reinvocationPolicy": reinvocation, "matchPolicy": "Equivalent",
            "namespaceSelector": {}, "objectSelector": {},
        })
    });
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "hooks"}, "webhooks": webhooks,
    })
}
