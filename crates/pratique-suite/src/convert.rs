//! Converts documents to JSON values, and lists to their items.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_manifest as manifest;
use pratique_manifest::{NodeId, ObjectSource, Tree};

/// An object of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its node.
    pub node: NodeId,
    /// The version and kind that a typed list implies for its items.
    typed: Option<(String, String)>,
}

impl Item {
    /// The object as a JSON value, with the version and kind that its list implies.
    pub fn value(&self, tree: &Tree) -> Value<'static> {
        match convert(tree, self.node) {
            Value::Object(object) => self.named(object),
            other => other,
        }
    }

    /// Adds the implied version and kind to the object.
    pub fn named(&self, object: Object<'static>) -> Value<'static> {
        let mut object = object;
        if let Some((version, kind)) = self.typed.as_ref().filter(|_| !object.contains_key("kind")) {
            object.insert("apiVersion", version.clone());
            object.insert("kind", kind.clone());
        }
        Value::Object(object)
    }
}

/// The objects of a document: the document itself, or the items of a list.
pub fn items(source: &ObjectSource) -> Vec<Item> {
    let mut items = Vec::new();
    let root = Item {
        node: source.root(),
        typed: None,
    };
    collect(source.tree(), root, &mut items);
    items
}

/// The items that a document consists of: a sequence of items of a list, or one of them. `typed` is the version and the kind
/// that the list implies.
pub fn items_of(source: &ObjectSource, typed: Option<(String, String)>) -> Vec<Item> {
    let root = source.root();
    let nodes = match &source.tree().get(root).value {
        manifest::Value::List(nodes) => nodes.as_slice(),
        _ => &[root],
    };
    let mut items = Vec::with_capacity(nodes.len());
    for node in nodes {
        let item = Item {
            node: *node,
            typed: typed.clone(),
        };
        collect(source.tree(), item, &mut items);
    }
    items
}

/// Recursion is safe: the depth of trees is bounded.
fn collect(tree: &Tree, item: Item, items: &mut Vec<Item>) {
    let text = |key: &str| match &tree.get(tree.entry(item.node, key)?.value).value {
        manifest::Value::String(text, _) => Some(text.to_string()),
        _ => None,
    };
    let kind = text("kind").unwrap_or_default();
    let listed = tree
        .entry(item.node, "items")
        .map(|entry| &tree.get(entry.value).value);
    let nodes = match (kind.strip_suffix("List"), listed) {
        (Some(_), Some(manifest::Value::List(nodes))) => nodes.as_slice(),
        // What a template writes whose loop gives nothing.
        (Some(_), Some(manifest::Value::Null)) => &[],
        _ => {
            items.push(item);
            return;
        }
    };
    let of = kind.strip_suffix("List").unwrap_or_default();
    let version = text("apiVersion").unwrap_or_default();
    let typed = (!of.is_empty()).then(|| (version, of.to_owned()));
    for node in nodes {
        collect(
            tree,
            Item {
                node: *node,
                typed: typed.clone(),
            },
            items,
        );
    }
}

/// Converts a node to a JSON value; the last of equal keys wins. Recursion is safe: the depth of trees is bounded.
pub fn convert(tree: &Tree, id: NodeId) -> Value<'static> {
    match &tree.get(id).value {
        manifest::Value::Null => Value::Null,
        manifest::Value::Bool(value) => Value::Bool(*value),
        manifest::Value::Number(text) => number(text),
        manifest::Value::String(text, _) => Value::String(Cow::Owned(text.to_string())),
        manifest::Value::List(nodes) => Value::Array(nodes.iter().map(|node| convert(tree, *node)).collect()),
        manifest::Value::Map(entries) => {
            let member =
                |entry: &manifest::Entry| (Cow::Owned(entry.key.to_string()), convert(tree, entry.value));
            Value::Object(entries.iter().map(member).collect::<Object<'static>>())
        }
    }
}

/// Converts a number literal as an API server's decoder does.
fn number(text: &str) -> Value<'static> {
    let finite = || text.parse::<f64>().ok().filter(|number| number.is_finite());
    let whole = text.parse::<i64>().ok().map(Value::Int);
    whole.or_else(|| finite().map(Value::Float)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{ManifestFile, TreeNode, read_documents};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let file = ManifestFile {
            path: "f".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).unwrap();
        let found = documents.iter().flat_map(|document| {
            let tree = document.source.tree();
            let items = items(&document.source).into_iter();
            items.map(|item| item.value(tree).to_string())
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn values_are_the_servers() {
        check(
            "a: 010\nb: yes\nc: 1.0\nd: 9223372036854775808\n",
            &[r#"{"a":8,"b":true,"c":1,"d":9223372036854776000}"#],
        );
    }

    #[track_caller]
    fn check_received(text: &str, expected: Result<&[&str], &str>) {
        let file = ManifestFile {
            path: "f".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).unwrap();
        let source = &documents[0].source;
        let kind = pratique_types::GroupVersionKind::new("", "v1", "Pod");
        let found = pratique_typed::decode::received(&kind, TreeNode::new(source.tree(), source.root()));
        let found = found.as_deref().map_err(String::as_str);
        let expected = expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected.as_deref().map_err(|text| *text), "{text}");
    }

    #[test]
    fn json_is_read_in_its_order() {
        check_received(
            r#"{"metadata":{"name":"a","name":"b"},"spec":{"x":1,"nodeName":"a","nodeName":"b"},"y":1,"a":1,"y":2}"#,
            Ok(&[
                r#"duplicate field "metadata.name""#,
                r#"unknown field "spec.x""#,
                r#"duplicate field "spec.nodeName""#,
                r#"unknown field "y""#,
                r#"unknown field "a""#,
            ]),
        );
        check_received(
            r#"{"spec":{"priority":1e30,"hostNetwork":1}}"#,
            Err(
                "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number 1e30 into Go \
                 struct field PodSpec.spec.priority of type int32",
            ),
        );
    }

    #[test]
    fn yaml_is_read_in_the_order_of_keys() {
        check_received(
            "x: 1\na: 1\nspec: {priority: 1.0, priority: 2, x: 1}\n",
            Ok(&[
                r#"unknown field "a""#,
                r#"unknown field "spec.x""#,
                r#"unknown field "x""#,
            ]),
        );
        check_received(
            "spec: {priority: 1e30, hostNetwork: 1}\n",
            Err(
                "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go \
                 struct field PodSpec.spec.hostNetwork of type bool",
            ),
        );
    }

    #[test]
    fn lists_give_their_items() {
        check(
            "{kind: List, apiVersion: v1, items: [{kind: Pod}, {kind: List, items: [{kind: Node}]}]}",
            &[r#"{"kind":"Pod"}"#, r#"{"kind":"Node"}"#],
        );
        check(
            "{kind: PodList, apiVersion: v1, items: [{a: 1}, {kind: Pod}]}",
            &[r#"{"a":1,"apiVersion":"v1","kind":"Pod"}"#, r#"{"kind":"Pod"}"#],
        );
        check(
            "{kind: AccessList, spec: {}}",
            &[r#"{"kind":"AccessList","spec":{}}"#],
        );
    }
}
