//! Which objects are lists.

use crate::tree::{NodeId, Tree, TreeValue};

/// The items of a list, as clients read it that divide files for an API server: an object with a kind and a list in `items`,
/// whatever the kind is. `None` for other objects.
///
/// Two kinds of objects without items differ from what these clients make of them, so that nothing is passed over: a list whose
/// `items` is null has none, as templates write it whose loop gives nothing, but another kind with such a field is an object;
/// so is another kind whose `items` is empty, because clients that do not divide files create it.
// Upstream: apimachinery/pkg/apis/meta/v1/unstructured/helpers.go, unstructuredJSONScheme.decode: a field `items` makes a list of
// a document; unstructured.go, Unstructured.IsList: a list in `items` makes a list of an item.
#[must_use]
pub fn list_items(tree: &Tree, object: NodeId) -> Option<&[NodeId]> {
    let kind = match &tree.get(tree.entry(object, "kind")?.value).value {
        TreeValue::String(kind, _) if !kind.is_empty() => kind,
        _ => return None,
    };
    let has_kind_of_list = kind.ends_with("List");
    match &tree.get(tree.entry(object, "items")?.value).value {
        TreeValue::List(items) if has_kind_of_list || !items.is_empty() => Some(items),
        TreeValue::Null if has_kind_of_list => Some(&[]),
        _ => None,
    }
}
