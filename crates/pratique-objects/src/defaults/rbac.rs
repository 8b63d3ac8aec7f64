//! `rbac`.

use super::Function;
use super::field::{empty, part, text};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        (_, "ClusterRoleBinding" | "RoleBinding") => |object, _| {
            if let Some(role) = part(object, "roleRef") {
                empty(role, "apiGroup", GROUP);
            }
        },
        ("v1alpha1", "Subject") => |object, _| match text(object, "kind") {
            "ServiceAccount" => empty(object, "apiVersion", "v1"),
            "User" | "Group" => empty(object, "apiVersion", "rbac.authorization.k8s.io/v1alpha1"),
            _ => {}
        },
        (_, "Subject") => |object, _| {
            if matches!(text(object, "kind"), "User" | "Group") {
                empty(object, "apiGroup", GROUP);
            }
        },
        _ => return None,
    })
}
