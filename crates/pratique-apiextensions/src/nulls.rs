//! Removes nulls that mean nothing.

use pratique_json::Value;

use crate::schema::SchemaNode;

/// Removes null members that are neither nullable nor have a default.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/prunenulls.go, PruneNonNullableNullsWithoutDefaults
pub(crate) fn prune_nulls(value: &mut Value<'_>, schema: &SchemaNode) {
    match value {
        Value::Object(object) => object.retain(|name, value| {
            let Some(schema) = schema.member(name) else {
                return true;
            };
            if value.is_null() && !schema.nullable && schema.default.is_none() {
                return false;
            }
            prune_nulls(value, schema);
            true
        }),
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                items.iter_mut().for_each(|item| prune_nulls(item, schema));
            }
        }
        _ => {}
    }
}
