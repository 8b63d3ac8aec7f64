//! Looks for schemas within schemas.

use pratique_json::Value;

/// The schemas of versions, those that have one.
pub(super) fn schemas_of<'v, 'a>(versions: &'v [Value<'a>]) -> impl Iterator<Item = &'v Value<'a>> {
    let schema = |version: &'v Value<'a>| version.at(&["schema", "openAPIV3Schema"]);
    versions
        .iter()
        .filter_map(schema)
        .filter(|schema| !schema.is_null())
}

/// Whether a schema, or one in it, is as wanted.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, SchemaHas
pub(crate) fn has_schema<'v, 'a>(
    schema: &'v Value<'a>,
    is_wanted: &mut dyn FnMut(&'v Value<'a>) -> bool,
) -> bool {
    if schema.as_object().is_none() {
        return false;
    }
    if is_wanted(schema) {
        return true;
    }
    let mut within = |part: &'v Value<'a>| has_schema(part, is_wanted);
    for name in ["items", "allOf", "anyOf", "oneOf"] {
        let has = match schema.get(name) {
            Some(Value::Array(schemas)) => schemas.iter().any(&mut within),
            Some(schema) => within(schema),
            None => false,
        };
        if has {
            return true;
        }
    }
    for name in ["not", "additionalProperties", "additionalItems"] {
        if schema.get(name).is_some_and(&mut within) {
            return true;
        }
    }
    for name in ["properties", "patternProperties", "definitions", "dependencies"] {
        let members = schema.get(name).and_then(Value::as_object);
        if members.is_some_and(|members| members.iter().any(|(_, schema)| within(schema))) {
            return true;
        }
    }
    false
}
