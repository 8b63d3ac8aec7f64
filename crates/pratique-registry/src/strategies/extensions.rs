//! `apiextensions.k8s.io`
// Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go

use pratique_json::Value;

use crate::object;
use crate::strategy::{Context, Endpoint, Strategy};

pub(super) const STRATEGIES: &[Strategy] =
    &[Strategy::new("apiextensions.k8s.io", "CustomResourceDefinition")
        .conditional()
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .prepare(
            |context, object| {
                object::set(object, &["status"], pratique_json::Object::new());
                store_version(context, object);
            },
            |context, object, _| store_version(context, object),
        )];

/// The version that objects are stored in is one of those that objects were stored in.
fn store_version(_: &mut Context<'_>, object: &mut Value<'static>) {
    let versions = object::list(object, &["spec", "versions"]);
    let is_stored = |version: &&Value<'static>| version.get("storage") == Some(&Value::Bool(true));
    let Some(stored) = versions.iter().find(is_stored) else {
        return;
    };
    let name = Value::from(object::text(stored, &["name"]).to_owned());
    let mut known = object::list(object, &["status", "storedVersions"]).to_vec();
    if !known.contains(&name) {
        known.push(name);
        object::set(object, &["status", "storedVersions"], known);
    }
}
