//! What a kind's storage warns of.

use pratique_json::Value;
use pratique_types::GroupVersionKind;

/// What is told of a new object.
// Upstream: rest.RESTCreateStrategy, WarningsOnCreate
pub(crate) fn on_create(_kind: &GroupVersionKind, _object: &Value<'static>) -> Vec<String> {
    Vec::new()
}

/// What is told of a changed object.
// Upstream: rest.RESTUpdateStrategy, WarningsOnUpdate
pub(crate) fn on_update(
    _kind: &GroupVersionKind,
    _object: &Value<'static>,
    _old: &Value<'static>,
) -> Vec<String> {
    Vec::new()
}
