//! Objects of documents as JSON values, and the items of lists, as clients of an API server read them.

use std::borrow::Cow;

use pratique_json::{Object, Value};

use crate::{
    ManifestFile, NodeId, ObjectSource, Problem, ProblemList, Rule, Tree, list_items, read_documents, tree,
};

/// An object of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its node.
    pub node: NodeId,
    /// Whether it is an item of a list.
    pub is_listed: bool,
    /// The version and kind that its list implies for it.
    implied: Option<ImpliedType>,
}

/// The version and kind that a list implies for its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpliedType {
    api_version: String,
    kind: String,
}

impl ImpliedType {
    /// What a list with a version and a kind implies.
    // Upstream: apimachinery/pkg/apis/meta/v1/unstructured/helpers.go, unstructuredJSONScheme.decodeToList
    pub fn of_list(api_version: Option<&str>, kind: Option<&str>) -> Option<Self> {
        let kind = kind?;
        let kind = kind.strip_suffix("List").unwrap_or(kind);
        (!kind.is_empty()).then(|| ImpliedType {
            api_version: api_version.unwrap_or_default().to_owned(),
            kind: kind.to_owned(),
        })
    }

    /// Adds the version and the kind to an object that has neither.
    pub fn complete(&self, object: &mut Object<'_>) {
        if has_no_type(object) {
            object.insert("apiVersion", self.api_version.clone());
            object.insert("kind", self.kind.clone());
        }
    }
}

/// Whether an object says neither its version nor its kind.
pub fn has_no_type(object: &Object<'_>) -> bool {
    let mut fields = ["apiVersion", "kind"].into_iter();
    fields.all(|field| {
        object
            .get(field)
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
    })
}

/// Whether an object is a list, as [`list_items`] says of a document.
pub fn is_list(object: &Value<'_>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    match object.get("items") {
        Some(Value::Array(items)) if !items.is_empty() => !kind.is_empty(),
        Some(Value::Array(_) | Value::Null) => kind.ends_with("List"),
        _ => false,
    }
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
        if let Some(implied) = &self.implied {
            implied.complete(&mut object);
        }
        Value::Object(object)
    }
}

/// The objects of a document: the document itself, or the items of a list.
pub fn items(source: &ObjectSource) -> Items {
    items_at(source.tree(), source.root())
}

/// The objects of a node: the node itself, or the items of a list.
pub fn items_at(tree: &Tree, node: NodeId) -> Items {
    let mut items = Items::default();
    let root = Item {
        node,
        is_listed: false,
        implied: None,
    };
    items.collect(tree, root);
    items
}

/// The items that a document consists of: a sequence of items of a list, or one of them, with what the list implies for them.
pub fn items_of(source: &ObjectSource, implied: Option<ImpliedType>) -> Items {
    let root = source.root();
    let nodes = match &source.tree().get(root).value {
        tree::TreeValue::List(nodes) => nodes.as_slice(),
        _ => &[root],
    };
    let mut items = Items::default();
    for node in nodes {
        let item = Item {
            node: *node,
            is_listed: true,
            implied: implied.clone(),
        };
        items.collect(source.tree(), item);
    }
    items
}

/// The objects of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// Them, in their order.
    pub objects: Vec<Item>,
    /// Lists whose kind is not that of a list: they are lists to clients, and a server would say that `items` is an unknown field.
    pub unusual_lists: Vec<NodeId>,
}

impl Items {
    /// Recursion is safe: the depth of trees is bounded.
    fn collect(&mut self, tree: &Tree, item: Item) {
        let Some(nodes) = list_items(tree, item.node) else {
            self.objects.push(item);
            return;
        };
        let text = |key: &str| match &tree.get(tree.entry(item.node, key)?.value).value {
            tree::TreeValue::String(text, _) => Some(&**text),
            _ => None,
        };
        let kind = text("kind");
        if !kind.is_some_and(|kind| kind.ends_with("List")) {
            self.unusual_lists.push(item.node);
        }
        let implied = ImpliedType::of_list(text("apiVersion"), kind);
        for node in nodes {
            let item = Item {
                node: *node,
                is_listed: true,
                implied: implied.clone(),
            };
            self.collect(tree, item);
        }
    }
}

/// Converts a node to a JSON value; the last of equal keys wins. Recursion is safe: the depth of trees is bounded.
pub fn convert(tree: &Tree, id: NodeId) -> Value<'static> {
    match &tree.get(id).value {
        tree::TreeValue::Null => Value::Null,
        tree::TreeValue::Bool(value) => Value::Bool(*value),
        tree::TreeValue::Number(text) => number(text),
        tree::TreeValue::String(text, _) => Value::String(Cow::Owned(text.to_string())),
        tree::TreeValue::List(nodes) => Value::Array(nodes.iter().map(|node| convert(tree, *node)).collect()),
        tree::TreeValue::Map(entries) => {
            let member =
                |entry: &tree::Entry| (Cow::Owned(entry.key.to_string()), convert(tree, entry.value));
            Value::Object(entries.iter().map(member).collect::<Object<'static>>())
        }
    }
}

/// The objects of a file, or all its problems.
pub fn objects(file: &ManifestFile) -> Result<Vec<Value<'static>>, ProblemList> {
    let mut objects = Vec::new();
    let documents = read_documents(file)?;
    for document in &documents {
        let tree = document.source.tree();
        for item in items(&document.source).objects {
            match item.value(tree) {
                Value::Null if !item.is_listed => {}
                object @ Value::Object(_) => objects.push(object),
                _ => {
                    let message = "expected an object: a mapping with apiVersion and kind";
                    let location = document.source.document().location(tree.get(item.node).span);
                    return Err(vec![Problem::new(Rule::WrongType, message).at(location)].into());
                }
            }
        }
    }
    Ok(objects)
}

/// Converts a number literal as an API server's decoder does.
fn number(text: &str) -> Value<'static> {
    let finite = || text.parse::<f64>().ok().filter(|number| number.is_finite());
    let whole = text.parse::<i64>().ok().map(Value::Int);
    whole.or_else(|| finite().map(Value::Float)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeNode;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let file = ManifestFile {
            path: "f".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).unwrap();
        let found = documents.iter().flat_map(|document| {
            let tree = document.source.tree();
            let items = items(&document.source).objects.into_iter();
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
        let schema = pratique_schema::Release::latest().schema();
        let node = TreeNode::new(source.tree(), source.root());
        let found = pratique_typed::decode::received_in(schema, &kind, node);
        let found = found.as_deref().map_err(String::as_str);
        let expected = expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected.as_deref().map_err(|text| *text), "{text}");
    }

    #[test]
    fn json_is_read_in_its_order() {
        check_received(
            r#"{"y":1,"metadata":{"name":"a","name":"b"},"spec":{"x":1,"nodeName":"a"},"a":1}"#,
            Ok(&[
                r#"unknown field "y""#,
                r#"unknown field "spec.x""#,
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

    #[test]
    fn items_make_a_list_of_any_kind() {
        check(
            "{kind: ConfigMap, apiVersion: v1, items: [{kind: Pod}, {kind: Secret, items: [{kind: Node}]}]}",
            &[r#"{"kind":"Pod"}"#, r#"{"kind":"Node"}"#],
        );
        // What says neither its version nor its kind is of the kind of its list.
        check(
            "{kind: Pod, apiVersion: v1, items: [{a: 1}, {kind: ''}, {apiVersion: v2}]}",
            &[
                r#"{"a":1,"apiVersion":"v1","kind":"Pod"}"#,
                r#"{"apiVersion":"v1","kind":"Pod"}"#,
                r#"{"apiVersion":"v2"}"#,
            ],
        );
        for object in [
            r#"{"items":[],"kind":"Pod"}"#,
            r#"{"items":"a","kind":"Pod"}"#,
            r#"{"items":null,"kind":"Pod"}"#,
            r#"{"items":[{"kind":"Pod"}]}"#,
            r#"{"items":[{"kind":"Pod"}],"kind":""}"#,
            r#"{"kind":"Pod","spec":{"items":[{"kind":"Node"}]}}"#,
        ] {
            check(object, &[object]);
            assert!(
                !is_list(&pratique_json::parse(object.as_bytes()).unwrap()),
                "{object}"
            );
        }
        check("{kind: PodList, items: []}", &[]);
        check("{kind: PodList, items: }", &[]);
        for list in [
            r#"{"items":[1],"kind":"Pod"}"#,
            r#"{"items":[],"kind":"PodList"}"#,
            r#"{"items":null,"kind":"List"}"#,
        ] {
            assert!(is_list(&pratique_json::parse(list.as_bytes()).unwrap()), "{list}");
        }
    }
}
