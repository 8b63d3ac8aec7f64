//! Removes what a schema does not know.

use pratique_json::{Object, Value};
use pratique_types::field::Path;

use crate::schema::{AdditionalMembers, SchemaNode};

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

fn is_meta(name: &str) -> bool {
    META_FIELDS.contains(&name)
}

/// Removes the fields of an object that its schema does not specify, and gives their paths in order.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go, PruneWithOptions
pub(crate) fn prune(object: &mut Object<'_>, schema: &SchemaNode) -> Vec<String> {
    let mut pruner = FieldPruner { unknown: Vec::new() };
    pruner.object(object, schema, true, &Path::ROOT);
    pruner.unknown.sort_unstable();
    pruner.unknown
}

/// Removes the fields of a default that its schema does not specify; that of a resource keeps its metadata.
pub(crate) fn prune_value(value: &mut Value<'_>, schema: &SchemaNode, is_resource: bool) {
    let mut pruner = FieldPruner { unknown: Vec::new() };
    let path = Path::ROOT.child("default");
    match value {
        Value::Object(object) if is_resource => pruner.object(object, schema, true, &path),
        other => pruner.value(other, Some(schema), &path),
    }
}

struct FieldPruner {
    unknown: Vec<String>,
}

impl FieldPruner {
    fn value(&mut self, value: &mut Value<'_>, schema: Option<&SchemaNode>, path: &Path<'_>) {
        match (value, schema) {
            (Value::Object(object), Some(schema)) => self.object(object, schema, schema.is_embedded, path),
            (Value::Object(object), None) => self.clear(object, path),
            (Value::Array(items), schema) => {
                if schema.is_some_and(|schema| schema.preserves_unknown) {
                    return self.kept(items, schema.and_then(|schema| schema.items.as_deref()), path);
                }
                let schema = schema.and_then(|schema| schema.items.as_deref());
                for (at, item) in items.iter_mut().enumerate() {
                    self.value(item, schema, &path.index(at));
                }
            }
            _ => {}
        }
    }

    /// The items of a list in a place where unknown fields are kept.
    fn kept(&mut self, items: &mut [Value<'_>], schema: Option<&SchemaNode>, path: &Path<'_>) {
        let Some(schema) = schema else {
            return;
        };
        for (at, item) in items.iter_mut().enumerate() {
            let path = path.index(at);
            match item {
                Value::Object(object) => self.members(object, schema, schema.is_embedded, true, &path),
                Value::Array(items) => self.kept(items, schema.items.as_deref(), &path),
                _ => {}
            }
        }
    }

    fn clear(&mut self, object: &mut Object<'_>, path: &Path<'_>) {
        for (name, _) in object.iter() {
            self.unknown.push(path.child(name).to_dotted());
        }
        *object = Object::new();
    }

    fn object(&mut self, object: &mut Object<'_>, schema: &SchemaNode, is_resource: bool, path: &Path<'_>) {
        self.members(object, schema, is_resource, schema.preserves_unknown, path);
    }

    fn members(
        &mut self,
        object: &mut Object<'_>,
        schema: &SchemaNode,
        is_resource: bool,
        keeps_unknown: bool,
        path: &Path<'_>,
    ) {
        object.retain(|name, value| {
            if is_resource && is_meta(name) {
                return true;
            }
            if let Some(property) = schema.properties.get(name) {
                self.value(value, Some(property), &path.child(name));
                return true;
            }
            match &schema.additional {
                Some(AdditionalMembers::Schema(schema)) => self.value(value, Some(schema), &path.child(name)),
                Some(AdditionalMembers::Allowed(_)) => self.value(value, None, &path.child(name)),
                None if keeps_unknown => {}
                None => {
                    if !is_meta(name) || !path.is_root() {
                        self.unknown.push(path.child(name).to_dotted());
                    }
                    return false;
                }
            }
            true
        });
    }
}
