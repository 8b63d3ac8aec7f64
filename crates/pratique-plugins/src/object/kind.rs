//! The kinds of decoded objects.

use pratique_json::Value;

use super::text;

/// Whether an object is decoded into a kind, in any version.
pub(crate) fn is_kind(object: &Value<'_>, group: &str, kind: &str) -> bool {
    let member = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let has_group = |api_version: &str| match group {
        "" => !api_version.bytes().any(|byte| byte == b'/'),
        group => api_version
            .strip_prefix(group)
            .is_some_and(|version| version.starts_with('/')),
    };
    member("kind") == kind && has_group(member("apiVersion"))
}

/// The Go type that an API server holds an object in, as `%T` shows it.
pub(crate) fn go_type(object: &Value<'_>) -> String {
    if object.is_null() {
        return "<nil>".to_owned();
    }
    let group = group_of(object);
    let kind = text(object, &["kind"]);
    match package(group, kind) {
        Some(package) => format!("*{package}.{kind}"),
        None => "*unstructured.Unstructured".to_owned(),
    }
}

fn group_of<'v>(object: &'v Value<'_>) -> &'v str {
    let api_version = text(object, &["apiVersion"]);
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The package of the internal types of a group; `None` for groups that are not built in.
fn package(group: &str, kind: &str) -> Option<&'static str> {
    Some(match group {
        "" => "core",
        "apps" => "apps",
        "batch" => "batch",
        "autoscaling" => "autoscaling",
        // Kinds that moved, all of which are held in the types of their new groups.
        "extensions" => match kind {
            "Ingress" | "NetworkPolicy" => "networking",
            _ => "apps",
        },
        "policy" => "policy",
        "admissionregistration.k8s.io" => "admissionregistration",
        "authentication.k8s.io" => "authentication",
        "authorization.k8s.io" => "authorization",
        "certificates.k8s.io" => "certificates",
        "coordination.k8s.io" => "coordination",
        "discovery.k8s.io" => "discovery",
        // The events of `events.k8s.io` are those of the core group.
        "events.k8s.io" => "core",
        "flowcontrol.apiserver.k8s.io" => "flowcontrol",
        "imagepolicy.k8s.io" => "imagepolicy",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        "networking.k8s.io" => "networking",
        "node.k8s.io" => "node",
        "rbac.authorization.k8s.io" => "rbac",
        "resource.k8s.io" => "resource",
        "scheduling.k8s.io" => "scheduling",
        "storage.k8s.io" => "storage",
        "storagemigration.k8s.io" => "storagemigration",
        _ => return None,
    })
}
