//! Defaults without what the schema would prune of them.

use pratique_json::{Object, Value};

use crate::metadata::{Malformed, coerce};
use crate::prune::prune;
use crate::schema::Schema;

/// Prunes the defaults of a schema, as a server does before it serves it.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/prune.go, PruneDefaults
pub(crate) fn prune_defaults(schema: &mut Schema) {
    let mut pruned = Vec::new();
    collect(schema, schema, &mut Vec::new(), &mut pruned);
    let mut pruned = pruned.into_iter();
    assign(schema, &mut pruned);
}

/// A step from the object to a place in it.
#[derive(Clone, Copy)]
enum Step<'s> {
    Child(&'s str),
    Index,
}

/// Prunes the defaults in the order in which [`assign`] sets them.
fn collect<'s>(
    root: &Schema,
    schema: &'s Schema,
    steps: &mut Vec<Step<'s>>,
    pruned: &mut Vec<Option<Value<'static>>>,
) {
    if let Some(default) = &schema.default {
        pruned.push(pruned_default(root, default, steps));
    }
    let mut below = |step: Step<'s>, schema: &'s Schema| {
        steps.push(step);
        collect(root, schema, steps, pruned);
        steps.pop();
    };
    if let Some(schema) = schema.additional_schema() {
        below(Step::Child("*"), schema);
    }
    if let Some(schema) = &schema.items {
        below(Step::Index, schema);
    }
    for (name, schema) in &schema.properties {
        below(Step::Child(name), schema);
    }
}

fn assign(schema: &mut Schema, pruned: &mut impl Iterator<Item = Option<Value<'static>>>) {
    if schema.default.is_some() {
        schema.default = pruned.next().flatten();
    }
    if let Some(crate::schema::Additional::Schema(schema)) = &mut schema.additional {
        assign(schema, pruned);
    }
    if let Some(schema) = &mut schema.items {
        assign(schema, pruned);
    }
    for schema in schema.properties.values_mut() {
        assign(schema, pruned);
    }
}

fn pruned_default(root: &Schema, default: &Value<'static>, steps: &[Step<'_>]) -> Option<Value<'static>> {
    let around = steps
        .iter()
        .rev()
        .fold(default.clone(), |inner, step| match step {
            Step::Index => Value::Array(vec![inner]),
            Step::Child(name) => {
                let mut object = Object::new();
                object.insert((*name).to_owned(), inner);
                Value::Object(object)
            }
        });
    let mut around = around;
    // Malformed metadata is dropped, so there is no error.
    let _ = coerce(&mut around, root, true, Malformed::Drop);
    if let Value::Object(object) = &mut around {
        prune(object, root);
    }
    steps.iter().try_fold(around, |outer, step| match (step, outer) {
        (Step::Index, Value::Array(items)) => items.into_iter().next(),
        (Step::Child(name), Value::Object(mut object)) => object.remove(name),
        _ => None,
    })
}
