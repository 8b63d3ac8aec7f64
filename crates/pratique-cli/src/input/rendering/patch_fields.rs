//! Which fields of an object patches of kustomizations set, and where.

use std::collections::HashMap;

use pratique_json::Value;
use pratique_manifest::convert::convert;
use pratique_manifest::{Location, MappingFields, NodeId, TreeValue};
use pratique_review::FieldPath;

use super::overlay_patch::OverlayPatch;

/// Fields by which elements of lists are told apart, the first that an element has.
const KEYS: [&str; 9] = [
    "name",
    "containerPort",
    "mountPath",
    "devicePath",
    "ip",
    "port",
    "topologyKey",
    "uid",
    "key",
];

/// The fields of an object that patches set, by the steps of their paths. Of several patches that set one, it is that which was added
/// first.
#[derive(Debug, Default)]
pub(super) struct PatchFields(HashMap<Vec<String>, PatchField>);

#[derive(Debug)]
struct PatchField {
    location: Location,
    /// Whether it is a value, and not something that has fields, of which the object may have others.
    is_value: bool,
}

impl PatchFields {
    /// Adds the fields of an object that have what a patch sets: what something else has changed since is not the patch's.
    pub(super) fn add(&mut self, patch: &OverlayPatch, made: &Value<'_>) {
        let tree = patch.document.source.tree();
        let TreeValue::List(operations) = &tree.get(patch.node).value else {
            return self.add_node(patch, patch.node, made, &mut Vec::new());
        };
        // A later operation takes the place of an earlier one.
        for operation in operations.iter().rev() {
            let operation = MappingFields { tree, id: *operation };
            let sets = matches!(operation.read_text("op").as_deref(), Some("add" | "replace"));
            let (Some(pointer), Some(value)) = (operation.read_text("path"), operation.node("value")) else {
                continue;
            };
            let mut path = Vec::new();
            let target = made_value(&pointer, &convert(tree, value), made, &mut path);
            if let (true, Some(target)) = (sets, target) {
                self.add_node(patch, value, target, &mut path);
            }
        }
    }

    fn add_node(&mut self, patch: &OverlayPatch, node: NodeId, made: &Value<'_>, path: &mut Vec<String>) {
        let tree = patch.document.source.tree();
        let is_value = match &tree.get(node).value {
            TreeValue::Map(entries) => {
                // What begins so directs the patch.
                for entry in entries.iter().filter(|entry| !entry.key.starts_with('$')) {
                    if let Some(made) = made.get(&entry.key) {
                        path.push(entry.key.to_string());
                        self.add_node(patch, entry.value, made, path);
                        path.pop();
                    }
                }
                false
            }
            TreeValue::List(nodes) => {
                let elements = made.as_array().unwrap_or_default();
                for node in nodes {
                    let element = convert(tree, *node);
                    let index = elements.iter().rposition(|made| is_same_element(&element, made));
                    if let Some((index, made)) = index.and_then(|index| Some((index, elements.get(index)?))) {
                        path.push(index.to_string());
                        self.add_node(patch, *node, made, path);
                        path.pop();
                    }
                }
                false
            }
            _ if convert(tree, node) == *made => true,
            _ => return,
        };
        if !self.0.contains_key(path.as_slice()) {
            let location = patch.location(tree.get(node).span);
            self.0.insert(path.clone(), PatchField { location, is_value });
        }
    }

    /// Where the value of a field is set.
    pub(super) fn find_value(&self, field: &FieldPath) -> Option<Location> {
        let field = self.0.get(field.names()).filter(|field| field.is_value)?;
        Some(field.location.clone())
    }

    /// Where something is set that has, or should have, a field: as many steps of its path as lead to something.
    pub(super) fn find_parent(&self, field: &FieldPath, depth: usize) -> Option<Location> {
        let head = field.names().get(..depth).unwrap_or(field.names());
        self.0.get(head).map(|field| field.location.clone())
    }
}

/// Whether an element of a list is of that of a patch.
fn is_same_element(element: &Value<'_>, made: &Value<'_>) -> bool {
    let key = KEYS.iter().find(|key| element.get(key).is_some());
    match key {
        Some(key) => element.get(key) == made.get(key),
        None => element == made,
    }
}

/// The value of an object that a pointer of a JSON patch leads to, and its path.
fn made_value<'v>(
    pointer: &str,
    value: &Value<'_>,
    made: &'v Value<'v>,
    path: &mut Vec<String>,
) -> Option<&'v Value<'v>> {
    let mut at = made;
    let mut steps = pointer.strip_prefix('/')?.split('/').peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        let step = step.replace("~1", "/").replace("~0", "~");
        at = match at.as_array() {
            Some(elements) => {
                let named = step.parse().ok().filter(|index: &usize| {
                    !is_last
                        || elements
                            .get(*index)
                            .is_some_and(|made| is_same_element(value, made))
                });
                // What is added behind or between others may be at another place since.
                let index = match named {
                    Some(index) => index,
                    None if is_last => elements.iter().rposition(|made| made == value)?,
                    None => return None,
                };
                path.push(index.to_string());
                elements.get(index)?
            }
            None => {
                let member = at.get(&step)?;
                path.push(step);
                member
            }
        };
    }
    Some(at)
}
