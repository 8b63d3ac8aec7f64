//! Defaults without what the schema would prune of them.

use pratique_json::Value;

use crate::metadata::{MalformedMetadata, coerce};
use crate::prune::prune;
use crate::schema::SchemaNode;
use crate::surrounding::{PlaceStep, surround, surrounded};

/// Prunes the defaults of a schema, as a server does before it serves it.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/prune.go, PruneDefaults
pub(crate) fn prune_defaults(schema: &mut SchemaNode) {
    let pruned = pruned_defaults(schema);
    assign(schema, &mut pruned.into_iter());
}

/// Whether something would be pruned of the defaults of a schema.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, schemaHasUnprunedDefaults
pub(crate) fn has_unpruned_defaults(schema: &SchemaNode) -> bool {
    let mut defaults = Vec::new();
    collect_defaults(schema, &mut defaults);
    defaults
        .into_iter()
        .ne(pruned_defaults(schema).iter().map(Option::as_ref))
}

fn pruned_defaults(schema: &SchemaNode) -> Vec<Option<Value<'static>>> {
    let mut pruned = Vec::new();
    collect(schema, schema, &mut Vec::new(), &mut pruned);
    pruned
}

/// Prunes the defaults in the order in which [`assign`] sets them.
fn collect<'s>(
    root: &SchemaNode,
    schema: &'s SchemaNode,
    steps: &mut Vec<PlaceStep<'s>>,
    pruned: &mut Vec<Option<Value<'static>>>,
) {
    if let Some(default) = &schema.default {
        pruned.push(pruned_default(root, default, steps));
    }
    let mut below = |step: PlaceStep<'s>, schema: &'s SchemaNode| {
        steps.push(step);
        collect(root, schema, steps, pruned);
        steps.pop();
    };
    if let Some(schema) = schema.additional_schema() {
        below(PlaceStep::Child("*"), schema);
    }
    if let Some(schema) = &schema.items {
        below(PlaceStep::Index, schema);
    }
    for (name, schema) in &schema.properties {
        below(PlaceStep::Child(name), schema);
    }
}

/// The defaults in the same order.
fn collect_defaults<'s>(schema: &'s SchemaNode, defaults: &mut Vec<Option<&'s Value<'static>>>) {
    if schema.default.is_some() {
        defaults.push(schema.default.as_ref());
    }
    let parts = schema.additional_schema().into_iter();
    let parts = parts.chain(schema.items.as_deref());
    for part in parts.chain(schema.properties.values()) {
        collect_defaults(part, defaults);
    }
}

fn assign(schema: &mut SchemaNode, pruned: &mut impl Iterator<Item = Option<Value<'static>>>) {
    if schema.default.is_some() {
        schema.default = pruned.next().flatten();
    }
    if let Some(crate::schema::AdditionalMembers::Schema(schema)) = &mut schema.additional {
        assign(schema, pruned);
    }
    if let Some(schema) = &mut schema.items {
        assign(schema, pruned);
    }
    for schema in schema.properties.values_mut() {
        assign(schema, pruned);
    }
}

fn pruned_default(
    root: &SchemaNode,
    default: &Value<'static>,
    steps: &[PlaceStep<'_>],
) -> Option<Value<'static>> {
    let mut around = surround(default.clone(), steps);
    // Malformed metadata is dropped, so there is no error.
    let _ = coerce(&mut around, root, true, MalformedMetadata::Drop);
    if let Value::Object(object) = &mut around {
        prune(object, root);
    }
    surrounded(around, steps)
}
