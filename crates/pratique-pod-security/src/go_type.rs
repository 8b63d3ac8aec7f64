//! The Go types of objects, which messages name.

use pratique_json::{Value, text_at};
use pratique_types::GroupVersionKind;
use pratique_types::builtin::BuiltinResources;

use crate::extract::group_of;

/// The Go type that an object of a kind without pods has in a server of a release.
pub(crate) fn go_type(
    resources: &'static BuiltinResources,
    object: &Value<'_>,
    requested: &GroupVersionKind,
) -> String {
    if object.is_null() {
        return "<nil>".to_owned();
    }
    let kind = match text_at(object, &["kind"]) {
        "" => requested.clone(),
        kind => {
            let api_version = text_at(object, &["apiVersion"]);
            let version = api_version.rsplit('/').next().unwrap_or_default();
            GroupVersionKind::new(group_of(api_version), version, kind)
        }
    };
    if resources.resource_of(&kind).is_none() {
        return "*unstructured.Unstructured".to_owned();
    }
    let package = match kind.group.split('.').next().unwrap_or_default() {
        "" | "events" => "core",
        "internal" => "apiserverinternal",
        package => package,
    };
    format!("*{package}.{}", kind.kind)
}
