//! Checks values against the chart's schema, without Helm, which also checks patterns.
//!
//! Only what the schema uses of JSON Schema is understood; whatever else it says is a fault of the schema.

use serde_json::{Map, Value};

use super::objects::items;

/// Keywords that describe a schema, and those that only Helm checks.
const PASSED_OVER: [&str; 4] = ["$schema", "definitions", "pattern", "title"];

/// The faults of values by a schema.
#[must_use]
pub fn misfits(schema: &Value, values: &Value) -> Vec<String> {
    let mut look = SchemaChecker {
        whole: schema,
        faults: Vec::new(),
    };
    look.at(schema, values, "");
    look.faults
}

struct SchemaChecker<'s> {
    whole: &'s Value,
    faults: Vec<String>,
}

/// Recursion follows the values, which are read from files and bounded there.
impl SchemaChecker<'_> {
    fn at(&mut self, schema: &Value, value: &Value, place: &str) {
        for (keyword, wanted) in schema.as_object().into_iter().flatten() {
            let fits = match keyword.as_str() {
                "type" => wanted.as_str().is_some_and(|name| is(name, value)),
                "enum" => items(wanted).contains(value),
                "minimum" => value.as_i64() >= wanted.as_i64(),
                "maximum" => value.as_i64() <= wanted.as_i64(),
                "minItems" => items(value).len() as u64 >= wanted.as_u64().unwrap_or(0),
                "minLength" => length(value) >= wanted.as_u64().unwrap_or(0),
                "maxLength" => length(value) <= wanted.as_u64().unwrap_or(0),
                "required" => items(wanted)
                    .iter()
                    .filter_map(Value::as_str)
                    .all(|name| value.get(name).is_some()),
                "$ref" => self.referred(wanted, value, place),
                "items" => self.elements(wanted, value, place),
                "properties" => self.members(wanted, value, place),
                "additionalProperties" => self.others(schema, wanted, value, place),
                other => PASSED_OVER.contains(&other),
            };
            if !fits {
                self.faults.push(format!("{place}: {keyword}"));
            }
        }
    }

    fn referred(&mut self, to: &Value, value: &Value, place: &str) -> bool {
        let pointer = to.as_str().and_then(|to| to.strip_prefix('#'));
        let schema_part = pointer.and_then(|pointer| self.whole.pointer(pointer)).cloned();
        if let Some(schema) = &schema_part {
            self.at(schema, value, place);
        }
        schema_part.is_some()
    }

    fn elements(&mut self, schema: &Value, value: &Value, place: &str) -> bool {
        for (at, element) in items(value).iter().enumerate() {
            self.at(schema, element, &format!("{place}[{at}]"));
        }
        true
    }

    fn members(&mut self, schemas: &Value, value: &Value, place: &str) -> bool {
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            if let Some(value) = value.get(name) {
                self.at(schema, value, &format!("{place}.{name}"));
            }
        }
        true
    }

    fn others(&mut self, schema: &Value, wanted: &Value, value: &Value, place: &str) -> bool {
        let named = schema.get("properties").and_then(Value::as_object);
        let is_other = |name: &str| named.is_none_or(|named: &Map<String, Value>| !named.contains_key(name));
        let others = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_other(name));
        for (name, value) in others {
            let place = format!("{place}.{name}");
            match wanted {
                Value::Bool(false) => self.faults.push(format!("{place}: there is no such value")),
                schema => self.at(schema, value, &place),
            }
        }
        true
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => false,
    }
}

/// In characters.
fn length(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| text.chars().count() as u64)
}
