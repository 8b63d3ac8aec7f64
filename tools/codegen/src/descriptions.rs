//! Writes the table of what fields of built-in types are for, in the words of Kubernetes, from OpenAPI documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use pratique_harness::ToolError;
use pratique_json::Value;

use super::merge::{schemas, short};
use super::{openapi, within};

/// Reads the OpenAPI documents of a directory and writes `table`. Of schemas of one name the first one is taken.
pub(super) fn run(openapi: &Path, table: &Path) -> Result<(), ToolError> {
    let mut types = BTreeMap::new();
    for (version, text) in openapi::texts(openapi)? {
        let document = pratique_json::parse(&text).map_err(within(&version))?;
        for (name, schema) in schemas(&document) {
            let lines = lines(schema);
            if !lines.is_empty() {
                types.entry(short(name)).or_insert(lines);
            }
        }
    }
    let mut text = String::from(HEAD);
    for (name, lines) in types {
        let _ = write!(text, "type {name}\n{lines}");
    }
    std::fs::write(table, text).map_err(ToolError::file(table))
}

const HEAD: &str = "\
# What fields of the built-in types of Kubernetes are for, in its words (Apache-2.0). Made by `cargo xtask codegen`; do not edit.
# type TYPE
#  FIELD DESCRIPTION
# Lines of a description are divided by tabs.
";

fn lines(schema: &Value<'_>) -> String {
    let mut text = String::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (field, of) in properties.into_iter().flat_map(|properties| properties.iter()) {
        // Of all types alike.
        if matches!(field, "apiVersion" | "kind") {
            continue;
        }
        let description = of.get("description").and_then(Value::as_str).unwrap_or_default();
        if !description.is_empty() {
            let _ = writeln!(
                text,
                " {field} {}",
                description.replace('\t', " ").replace('\n', "\t")
            );
        }
    }
    text
}
