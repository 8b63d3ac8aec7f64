//! Writes the table of what OpenAPI says of the values of built-in types: what is required, the values of
//! enumerations, and the keys of lists.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::ToolError;
use pratique_json::Value;

use super::merge::{schemas, short};
use super::{openapi, within};

/// Reads the OpenAPI documents of directories and writes `table`. Of schemas of one name the first one is taken.
pub(super) fn run(directories: &[PathBuf], table: &Path) -> Result<(), ToolError> {
    let mut types = BTreeMap::new();
    let texts = directories.iter().map(|directory| openapi::texts(directory));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    for (version, text) in texts.iter().flatten() {
        let document = pratique_json::parse(text).map_err(within(version))?;
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
# What values of the built-in types of Kubernetes must hold. Made by `cargo xtask codegen`; do not edit.
# type TYPE
#  required FIELD…
#  enum FIELD VALUE…
#  keys FIELD KEY…
# A set has no keys of its own; its line has the word `keys` and the field only.
";

fn lines(schema: &Value<'_>) -> String {
    let mut text = String::new();
    let required = texts(schema.get("required"));
    if !required.is_empty() {
        let _ = writeln!(text, " required {}", required.join(" "));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (field, of) in properties.into_iter().flat_map(|properties| properties.iter()) {
        let values = texts(of.get("enum"));
        if !values.is_empty() {
            let _ = writeln!(text, " enum {field} {}", values.join(" "));
        }
        let keys = texts(of.get("x-kubernetes-list-map-keys"));
        let is_set = of.get("x-kubernetes-list-type").and_then(Value::as_str) == Some("set");
        if !keys.is_empty() || is_set {
            let _ = writeln!(text, "{}", format!(" keys {field} {}", keys.join(" ")).trim_end());
        }
    }
    text
}

/// The texts of a list, but for empty ones and those with blanks.
fn texts<'v>(list: Option<&'v Value<'_>>) -> Vec<&'v str> {
    let list = list.and_then(Value::as_array).unwrap_or_default();
    let texts = list.iter().filter_map(Value::as_str);
    texts
        .filter(|text| !text.is_empty() && !text.contains(char::is_whitespace))
        .collect()
}
