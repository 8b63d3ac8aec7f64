//! How lists, maps and structs are merged, from OpenAPI documents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How a list, a map or a struct is merged, where it is not the default.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Merging {
    /// As a whole.
    Atomic,
    /// As a set of scalars.
    Set,
    /// Element by element, which these fields identify.
    Map(Vec<String>),
}

/// By `SCHEMA` for structs and `SCHEMA.field` for their fields.
pub(super) fn read(directory: &Path) -> Result<BTreeMap<String, Merging>, String> {
    let mut merging = BTreeMap::new();
    for path in documents(directory)? {
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let document: Value =
            serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let schemas = document.get("schemas").and_then(Value::as_object);
        for (name, schema) in schemas.into_iter().flatten() {
            merging.extend(of(schema).map(|merge| (name.clone(), merge)));
            let properties = schema.get("properties").and_then(Value::as_object);
            for (field, schema) in properties.into_iter().flatten() {
                merging.extend(of(schema).map(|merge| (format!("{name}.{field}"), merge)));
            }
        }
    }
    Ok(merging)
}

/// The served `GROUP/VERSION`s, from the names of the documents.
pub(super) fn served(directory: &Path) -> Result<BTreeSet<String>, String> {
    let stems = documents(directory)?.into_iter();
    let stems = stems.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let names = stems.map(|stem| {
        let parts: Vec<&str> = stem.split("__").collect();
        match parts.as_slice() {
            ["api", version] => format!("/{version}"),
            [_, group, version] => format!("{group}/{version}"),
            _ => stem,
        }
    });
    Ok(names.collect())
}

fn documents(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("api") && name.ends_with(".json"))
        })
        .collect();
    paths.sort();
    Ok(paths)
}

fn of(schema: &Value) -> Option<Merging> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    match (text("x-kubernetes-list-type"), text("x-kubernetes-map-type")) {
        (Some("atomic"), _) | (_, Some("atomic")) => Some(Merging::Atomic),
        (Some("set"), _) => Some(Merging::Set),
        (Some("map"), _) => {
            let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            let keys = keys.into_iter().flatten().filter_map(Value::as_str);
            Some(Merging::Map(keys.map(str::to_owned).collect()))
        }
        _ => None,
    }
}
