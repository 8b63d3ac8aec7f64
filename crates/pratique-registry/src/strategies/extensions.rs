//! `apiextensions.k8s.io`
// Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::object;
use crate::strategy::{PartEndpoint, ResourceStrategy, StrategyContext};

pub(super) const STRATEGIES: &[ResourceStrategy] =
    &[
        ResourceStrategy::new("apiextensions.k8s.io", "CustomResourceDefinition")
            .conditional()
            .generation(&[&["spec"]])
            .status(PartEndpoint::STATUS)
            .prepare(
                |context, object| {
                    object::set(object, &["status"], pratique_json::Object::new());
                    store_version(context, object);
                },
                |context, object, _| store_version(context, object),
            ),
    ];

/// Adds the storage version to the versions that objects were stored in.
fn store_version(_: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    let versions = object::list(object, &["spec", "versions"]);
    let is_storage = |version: &&Value<'_>| version.get("storage") == Some(&Value::Bool(true));
    let Some(storage) = versions.iter().find(is_storage) else {
        return;
    };
    let name = Value::from(object::text(storage, &["name"]).to_owned());
    let mut stored = object::list(object, &["status", "storedVersions"]).to_vec();
    if !stored.contains(&name) {
        stored.push(name);
        object::set(object, &["status", "storedVersions"], stored);
    }
}
