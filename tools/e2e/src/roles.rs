//! The rights that are deployed with `serve`, for the user that it is here.

use std::fs;

use pratique_harness::{ToolError, workspace};

/// The roles and bindings of a component of `deploy/kustomize`, bound to the user `serve`.
pub(super) fn of_component(component: &str) -> Result<String, ToolError> {
    let path = workspace::root()
        .join("deploy/kustomize/components")
        .join(component)
        .join("rbac.yaml");
    let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
    let (roles, _) = text
        .split_once("subjects:\n")
        .ok_or("no subjects in the deployed roles")?;
    let user = "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: serve}]\n";
    Ok(format!("{roles}{user}"))
}
