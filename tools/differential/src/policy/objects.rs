//! Objects: of built-in kinds as an API server decodes them, of custom resources as they come.

use pratique_harness::{RandomDice, with};
use serde_json::{Value, json};

use super::kinds::ResourceKind;
use crate::sketch::OF_POLICIES;

/// An object of a kind.
pub(crate) fn object(dice: &mut RandomDice, kind: &ResourceKind, name: &str, namespace: &str) -> Value {
    let sketch = if OF_POLICIES.has(kind.kind) {
        kind.kind
    } else {
        "custom resource"
    };
    let named = match name {
        "" => ("generateName", json!("web-")),
        name => ("name", json!(name)),
    };
    let placed = (!namespace.is_empty()).then(|| ("namespace", json!(namespace)));
    let metadata = with(
        OF_POLICIES.draw("metadata", dice),
        [named].into_iter().chain(placed),
    );
    with(
        OF_POLICIES.draw(sketch, dice),
        [
            ("apiVersion", json!(kind.api_version())),
            ("kind", json!(kind.kind)),
            ("metadata", metadata),
        ],
    )
}
