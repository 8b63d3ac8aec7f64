//! The JSON Schema of suites, for editors, derived from the decoder's tables.

use serde_json::{Map, Value, json};

use crate::format::SUITE;
use crate::shape::{Shape, Struct};

/// The JSON schema of suites.
pub fn schema() -> Value {
    schema_of("Pratique test suite", &SUITE)
}

/// The JSON schema of documents of a shape.
pub fn schema_of(title: &str, of: &'static Struct) -> Value {
    let mut definitions = Map::new();
    let reference = structure(of, &mut definitions);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": title,
        "$ref": reference,
        "definitions": definitions,
    })
}

/// Adds the definition of a mapping, and gives its reference.
fn structure(of: &'static Struct, definitions: &mut Map<String, Value>) -> String {
    let name = format!("#/definitions/{}", of.name);
    if definitions.contains_key(of.name) {
        return name;
    }
    // Insert the name before the fields, which may refer to it.
    definitions.insert(of.name.to_owned(), Value::Null);
    let properties = of.fields.iter().map(|field| {
        let mut schema = value(field.shape, definitions);
        match schema.as_object_mut() {
            // Siblings of `$ref` are ignored.
            Some(object) if !object.contains_key("$ref") => {
                object.insert("description".to_owned(), field.about.into());
            }
            _ => schema = json!({ "allOf": [schema], "description": field.about }),
        }
        (field.name.to_owned(), schema)
    });
    let properties: Map<String, Value> = properties.collect();
    let required: Vec<&str> = of
        .fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": of.about,
        "additionalProperties": false,
        "properties": properties,
    });
    if let Some(object) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        object.insert("required".to_owned(), required.into());
    }
    definitions.insert(of.name.to_owned(), schema);
    name
}

fn value(shape: Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::OneOf(names) => json!({ "type": "string", "enum": names }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Integer => json!({ "type": "integer" }),
        Shape::Any => json!({}),
        Shape::Object => json!({ "type": "object" }),
        Shape::List(item) => json!({ "type": "array", "items": value(*item, definitions) }),
        Shape::Map(item) => json!({ "type": "object", "additionalProperties": value(*item, definitions) }),
        Shape::Struct(of) => json!({ "$ref": structure(of, definitions) }),
        Shape::TextOr(other) => json!({ "anyOf": [{ "type": "string" }, value(*other, definitions)] }),
        Shape::BoolOr(other) => json!({ "anyOf": [{ "type": "boolean" }, value(*other, definitions)] }),
        Shape::OneOfOr(names, other) => {
            json!({ "anyOf": [{ "type": "string", "enum": names }, value(*other, definitions)] })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_decoder() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/suite.schema.json");
        let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text);
    }

    #[test]
    fn references_lead_somewhere() {
        let schema = schema();
        let text = schema.to_string();
        for rest in text.split("\"$ref\":\"#/definitions/").skip(1) {
            let name = rest.split('"').next().unwrap();
            let definition = schema.pointer(&format!("/definitions/{name}")).unwrap();
            assert!(definition.is_object(), "{name}");
        }
    }
}
