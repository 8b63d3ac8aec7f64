//! Files with nothing in them: empty ones, and empty lists. Nothing says of which plugin they are, and there is nothing to check.

use pratique_json::Value;
use pratique_manifest::convert::convert;
use pratique_manifest::{ManifestFile, read_documents};

/// Whether a file has nothing but comments, separators and empty lists.
pub(super) fn has_nothing(path: &str, content: Vec<u8>) -> bool {
    let file = ManifestFile {
        path: path.to_owned(),
        content,
    };
    read_documents(&file).is_ok_and(|documents| {
        let mut objects = documents
            .iter()
            .map(|document| convert(document.source.tree(), document.source.root()));
        objects.all(|object| object.is_null() || is_empty_list(&object))
    })
}

fn is_empty_list(object: &Value<'_>) -> bool {
    let text = |name| object.get(name).and_then(Value::as_str);
    let items = match object.get("items") {
        None | Some(Value::Null) => 0,
        Some(Value::Array(items)) => items.len(),
        Some(_) => return false,
    };
    text("kind") == Some("List") && text("apiVersion") == Some("v1") && items == 0
}
