//! Writes the table of how built-in types are merged, from OpenAPI documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_harness::ToolError;
use pratique_json::Value;
use pratique_schema::merge::{
    DEDUCED, ListMerging, MapType, MergeType, MergeTypeId, OpenApi, ScalarKind, UNTYPED,
};

use super::{openapi, within};

/// Reads the OpenAPI documents of directories and writes `table`. What is in an earlier directory counts.
pub(super) fn run(directories: &[PathBuf], table: &Path) -> Result<(), ToolError> {
    let texts = directories.iter().map(|directory| openapi::texts(directory));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let mut documents = Vec::new();
    for (version, text) in texts.iter().flatten() {
        let document = pratique_json::parse(text).map_err(within(version))?;
        documents.push((version, document));
    }
    // Of schemas of one name the last one is taken.
    let schemas = documents.iter().rev().flat_map(|(_, document)| schemas(document));
    let reader = OpenApi::read(schemas).map_err(|error| error.to_string())?;
    let (types, names) = reader.into_parts();
    let names: HashMap<MergeTypeId, String> =
        names.into_iter().map(|(name, id)| (id, short(&name))).collect();
    let mut writer = MergeWriter {
        types: &types,
        names: &names,
        wanted: BTreeSet::new(),
    };
    let mut text = String::from(HEAD);
    let by_name: BTreeMap<&str, MergeTypeId> = names.iter().map(|(id, name)| (name.as_str(), *id)).collect();
    let mut versions: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (version, document) in &documents {
        let known = versions.entry(version).or_default();
        for (kind, name) in kinds(document, version) {
            known.entry(kind).or_insert(name);
        }
    }
    for (version, kinds) in versions {
        let _ = writeln!(text, "version {version}");
        for (kind, name) in kinds {
            if let Some(id) = by_name.get(name.as_str()) {
                let _ = writeln!(text, "kind {version}/{kind} {name}");
                writer.wanted.insert((name, *id));
            }
        }
    }
    writer.write_types(&mut text);
    std::fs::write(table, text).map_err(ToolError::file(table))
}

const HEAD: &str = "\
# How the built-in types of Kubernetes are merged. Made by `cargo xtask codegen`; do not edit.
# version GROUP/VERSION
# kind GROUP/VERSION/KIND TYPE
# type TYPE [atomic]
#  FIELD SHAPE
# SHAPE: a TYPE, `numeric`, `string`, `boolean`, `untyped` for any of them, `any` for anything,
#   `deduced` for anything whose maps are merged by member, `untyped-atomic` for anything that is merged as a whole,
#   `{SHAPE` for a map, `!{SHAPE` for one that is merged as a whole, `[SHAPE` for a list that is, `=SHAPE` for a set,
#   `(KEY[=DEFAULT],…)SHAPE` for a list whose elements these fields identify.
";

/// The schemas of a document: whole, as a server and the sources have it, or of its schemas alone.
pub(super) fn schemas<'v>(document: &'v Value<'v>) -> impl Iterator<Item = (&'v str, &'v Value<'v>)> {
    let components = document.get("components").unwrap_or(document);
    let schemas = components.get("schemas").and_then(Value::as_object);
    schemas.into_iter().flat_map(|schemas| schemas.iter())
}

/// The kinds of a document's own version, and their types; objects are no lists and no options.
fn kinds(document: &Value<'_>, version: &str) -> BTreeMap<String, String> {
    let mut type_names = BTreeMap::new();
    for (name, schema) in schemas(document).filter(|(name, _)| !name.contains(".meta.v1.")) {
        let kinds = schema
            .get("x-kubernetes-group-version-kind")
            .and_then(Value::as_array);
        for kind in kinds.into_iter().flatten() {
            let text = |key| kind.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_of_version = format!("{}/{}", text("group"), text("version")) == version;
            if is_of_version && !text("kind").ends_with("List") {
                type_names.insert(text("kind").to_owned(), short(name));
            }
        }
    }
    type_names
}

/// `io.k8s.api.core.v1.Pod` → `core/v1.Pod`
pub(super) fn short(name: &str) -> String {
    let local = ["io.k8s.api.", "io.k8s.apimachinery.pkg.apis."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    local.map_or_else(|| name.to_owned(), |local| local.replacen('.', "/", 1))
}

struct MergeWriter<'t> {
    types: &'t [MergeType],
    names: &'t HashMap<MergeTypeId, String>,
    /// The structs to write.
    wanted: BTreeSet<(String, MergeTypeId)>,
}

impl MergeWriter<'_> {
    fn write_types(&mut self, text: &mut String) {
        let mut written = BTreeMap::new();
        while let Some((name, id)) = self.wanted.pop_first() {
            if written.contains_key(&name) {
                continue;
            }
            let of = self.merge_type(id);
            let Some(map) = &of.map else { continue };
            let mut lines = format!("type {name}{}\n", if map.atomic { " atomic" } else { "" });
            for (field, id) in map.fields() {
                let _ = writeln!(lines, " {field} {}", self.shape(id));
            }
            written.insert(name, lines);
        }
        text.extend(written.into_values());
    }

    fn merge_type(&self, id: MergeTypeId) -> MergeType {
        self.types.get(id.index()).cloned().unwrap_or_default()
    }

    fn shape(&mut self, id: MergeTypeId) -> String {
        match id {
            UNTYPED => return "untyped-atomic".to_owned(),
            DEDUCED => return "deduced".to_owned(),
            _ => {}
        }
        let of = self.merge_type(id);
        match (&of.scalar, &of.list, &of.map) {
            (Some(_), Some(_), Some(map)) if map.atomic => "untyped-atomic".to_owned(),
            (Some(_), Some(_), Some(_)) => "any".to_owned(),
            (Some(scalar), ..) => scalar_name(*scalar).to_owned(),
            (_, Some(list), _) => {
                let element = self.shape(list.element);
                match &list.merging {
                    ListMerging::Atomic => format!("[{element}"),
                    ListMerging::Set => format!("={element}"),
                    ListMerging::Keyed(keys) => {
                        let keys = keys.iter().map(|key| match &key.default {
                            Some(default) => format!("{}={default}", key.name),
                            None => key.name.clone(),
                        });
                        format!("({}){element}", keys.collect::<Vec<_>>().join(","))
                    }
                }
            }
            (_, _, Some(map)) => self.map_shape(id, map),
            _ => String::new(),
        }
    }

    fn map_shape(&mut self, id: MergeTypeId, map: &MapType) -> String {
        if let (0, Some(element)) = (map.fields().len(), map.element) {
            let prefix = if map.atomic { "!{" } else { "{" };
            return format!("{prefix}{}", self.shape(element));
        }
        let name = match self.names.get(&id) {
            Some(name) => name.clone(),
            None => self.copy_name(map),
        };
        self.wanted.insert((name.clone(), id));
        name
    }

    /// The name of a copy of a type that is merged in another way than the type itself.
    fn copy_name(&self, map: &MapType) -> String {
        let original = self.names.iter().find(|(id, _)| {
            let of = self.types.get(id.index()).and_then(|of| of.map.as_ref());
            of.is_some_and(|of| of.fields().eq(map.fields()))
        });
        let original = original.map_or("inline", |(_, name)| name);
        format!("{original}{}", if map.atomic { "+atomic" } else { "+granular" })
    }
}

fn scalar_name(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Numeric => "numeric",
        ScalarKind::String => "string",
        ScalarKind::Boolean => "boolean",
        ScalarKind::Untyped => "untyped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_whole_or_schemas_alone() {
        let alone = r#"{"schemas": {"io.k8s.api.core.v1.Pod": {"required": ["spec"]}}}"#;
        for text in [format!(r#"{{"components": {alone}}}"#), alone.to_owned()] {
            let document = pratique_json::parse(text.as_bytes()).unwrap();
            let names: Vec<&str> = schemas(&document).map(|(name, _)| name).collect();
            assert_eq!(names, ["io.k8s.api.core.v1.Pod"], "{text}");
        }
    }
}
