//! The kind and version that an object states.

use pratique_schema::Release;
use pratique_typed::decode::{TreeNode, TypeMetaError, type_meta};
use pratique_types::GroupVersionKind;

/// Reads the kind and version of an object; parts that are missing are those of the endpoint.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, gvkWithDefaults
pub(crate) fn interpret(
    object: TreeNode<'_>,
    endpoint: &GroupVersionKind,
    release: &Release,
) -> Result<GroupVersionKind, TypeMetaError> {
    let mut actual = type_meta(object, release)?;
    if actual.kind.is_empty() {
        actual.kind.clone_from(&endpoint.kind);
    }
    if actual.version.is_empty() && (actual.group.is_empty() || actual.group == endpoint.group) {
        actual.group.clone_from(&endpoint.group);
        actual.version.clone_from(&endpoint.version);
    }
    Ok(actual)
}
