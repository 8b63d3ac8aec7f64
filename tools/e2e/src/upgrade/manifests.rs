//! Manifests of files and directories, as objects.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pratique_harness::{ToolError, entries};
use pratique_yaml::yaml_as_json;
use serde_json::Value;

/// The objects of all manifests, each once, and how much else there was.
#[derive(Default)]
pub(super) struct ManifestObjects {
    pub(super) objects: Vec<Value>,
    seen: BTreeSet<String>,
    repeated: usize,
    /// Documents that are no objects, such as values of charts.
    others: usize,
    /// Documents that are no YAML, such as templates.
    unread: usize,
}

/// What files of manifests end with.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

impl ManifestObjects {
    /// Reads a file, or the files in a directory and those below it.
    pub(super) fn read(&mut self, path: &Path) -> Result<(), ToolError> {
        if path.is_dir() {
            // A link may lead back to where it is.
            let mut entries = entries(path)?.into_iter().filter(|path| !path.is_symlink());
            return entries.try_for_each(|path| self.read(&path));
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            return Ok(());
        }
        let text = fs::read(path).map_err(ToolError::file(path))?;
        for document in documents(&String::from_utf8_lossy(&text)) {
            let parsed = yaml_as_json(document.as_bytes()).ok();
            match parsed.and_then(|text| serde_json::from_str(&text).ok()) {
                Some(Value::Null) => {}
                Some(object) => self.add(object),
                None => self.unread += 1,
            }
        }
        Ok(())
    }

    /// Adds an object, or those of a list. Recursion ends with the items of the list.
    fn add(&mut self, object: Value) {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if let (Some(Value::Array(items)), true) = (object.get("items"), text("/kind").ends_with("List")) {
            return items.iter().for_each(|item| self.add(item.clone()));
        }
        let has_name = ["/metadata/name", "/metadata/generateName"]
            .iter()
            .any(|path| !text(path).is_empty());
        if text("/apiVersion").is_empty() || text("/kind").is_empty() || !has_name {
            self.others += 1;
        } else if self.seen.insert(object.to_string()) {
            self.objects.push(object);
        } else {
            self.repeated += 1;
        }
    }

    /// What was read.
    pub(super) fn describe(&self) -> String {
        format!(
            "{} objects, {} repeated; {} documents are no objects, {} no YAML",
            self.objects.len(),
            self.repeated,
            self.others,
            self.unread
        )
    }
}

/// The documents of a text.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        let is_separator = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with('#'));
        if is_separator {
            documents.push(String::new());
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_separated() {
        assert_eq!(
            documents("a: 1\n--- # two\nb: 2\n---\n"),
            ["a: 1\n", "b: 2\n", ""]
        );
    }

    #[test]
    fn lists_are_their_items() {
        let mut manifests = ManifestObjects::default();
        let map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        manifests.add(
            serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [map, map, {"kind": "Values"}]}),
        );
        assert_eq!(
            manifests.describe(),
            "1 objects, 1 repeated; 1 documents are no objects, 0 no YAML"
        );
    }
}
