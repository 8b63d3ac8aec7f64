//! Parts of definitions in the form of Go's internal types, for errors that print them.
//!
//! Where a member is written otherwise than its field is called, [`internal_json`](pratique_validation::rules::internal_json) needs
//! the name of the field.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/types_jsonschema.go

use pratique_json::{Object, Value};

/// A schema with the names of the fields of `JSONSchemaProps`.
pub(super) fn schema(value: &Value<'_>) -> Value<'static> {
    let Value::Object(members) = value else {
        return Value::Null;
    };
    let mut form = Object::new();
    for (name, member) in members.iter() {
        form.insert(field_name(name), field(name, member));
    }
    form.into()
}

/// The items of a schema: a schema, or a list of them.
pub(super) fn items(value: &Value<'_>) -> Value<'static> {
    let mut form = Object::new();
    match value {
        Value::Array(schemas) => form.insert("JSONSchemas", schemas.iter().map(schema).collect::<Vec<_>>()),
        other => form.insert("Schema", schema(other)),
    };
    form.into()
}

/// A version, without the members that errors about it do not print.
pub(super) fn version(value: &Value<'_>, left_out: &[&str]) -> Value<'static> {
    let Value::Object(members) = value else {
        return Value::Null;
    };
    let mut form = Object::new();
    for (name, member) in members.iter().filter(|(name, _)| !left_out.contains(name)) {
        let member = match (name, member.get("openAPIV3Schema")) {
            ("schema", Some(of)) => {
                let mut holder = Object::new();
                holder.insert("openAPIV3Schema", schema(of));
                holder.into()
            }
            _ => member.rewritten(""),
        };
        form.insert(name.to_owned(), member);
    }
    form.into()
}

fn field_name(name: &str) -> String {
    match name.strip_prefix("x-kubernetes-") {
        Some("validations") => "XValidations".to_owned(),
        // `x-kubernetes-list-map-keys` is `XListMapKeys`; case does not matter.
        Some(extension) => format!("X{}", extension.replace('-', "")),
        None => name.trim_start_matches('$').to_owned(),
    }
}

fn field(name: &str, value: &Value<'_>) -> Value<'static> {
    match (name, value) {
        ("not", value) => schema(value),
        ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
            Value::Array(schemas.iter().map(schema).collect())
        }
        ("properties" | "patternProperties" | "definitions", Value::Object(members)) => {
            by_name(members, schema)
        }
        ("dependencies", Value::Object(members)) => by_name(members, dependency),
        // It is there where it is neither a schema nor a list of them.
        ("items", value) => items(value),
        ("additionalProperties" | "additionalItems", value) => boolean_or_schema(value),
        (_, value) => value.rewritten(""),
    }
}

fn by_name(members: &Object<'_>, form: fn(&Value<'_>) -> Value<'static>) -> Value<'static> {
    let mut named = Object::new();
    for (name, member) in members.iter() {
        named.insert(name.to_owned(), form(member));
    }
    named.into()
}

fn dependency(value: &Value<'_>) -> Value<'static> {
    let mut form = Object::new();
    match value {
        Value::Array(_) => form.insert("Property", value.rewritten("")),
        other => form.insert("Schema", schema(other)),
    };
    form.into()
}

fn boolean_or_schema(value: &Value<'_>) -> Value<'static> {
    let mut form = Object::new();
    match value {
        Value::Null => return Value::Null,
        Value::Bool(allows) => form.insert("Allows", *allows),
        schemas => {
            form.insert("Allows", true);
            form.insert("Schema", schema(schemas))
        }
    };
    form.into()
}
