//! Sets of the fields of objects, and their form in `managedFields`.

use std::collections::BTreeMap;

use pratique_json::{Object, Value};
use pratique_schema::merge::{MergeSchema, MergeTypeId};

use super::element;

/// A set of fields of an object: a tree of path elements, of which some are members.
///
/// Path elements are kept as they are written: `f:name`, `k:{"name":"a"}`, `v:"a"` or `i:0`.
// Upstream: structured-merge-diff/fieldpath/set.go, Set
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    nodes: BTreeMap<String, SetNode>,
}

/// One path element of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SetNode {
    member: bool,
    children: FieldSet,
}

impl SetNode {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl FieldSet {
    /// The set of the fields at these paths of field names.
    pub(crate) fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = FieldSet::default();
        for path in paths {
            let path: Vec<String> = path.iter().map(|name| element::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.values().all(SetNode::is_empty)
    }

    /// Makes the field at a path a member. The empty path is none.
    pub(crate) fn insert(&mut self, path: &[String]) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let node = self.nodes.entry(first.clone()).or_default();
        if rest.is_empty() {
            node.member = true
        } else {
            node.children.insert(rest)
        }
    }

    /// Whether an element at the top is a member.
    pub(crate) fn has(&self, element: &str) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// The set below an element, if it is not empty.
    pub(crate) fn below(&self, element: &str) -> Option<&FieldSet> {
        let children = &self.nodes.get(element)?.children;
        (!children.is_empty()).then_some(children)
    }

    pub(crate) fn union(&self, other: &FieldSet) -> FieldSet {
        let mut nodes = self.nodes.clone();
        for (element, node) in &other.nodes {
            let merged = nodes.entry(element.clone()).or_default();
            merged.member |= node.member;
            merged.children = merged.children.union(&node.children);
        }
        FieldSet { nodes }
    }

    pub(crate) fn intersection(&self, other: &FieldSet) -> FieldSet {
        self.combine(|element, node| {
            let other = other.nodes.get(element)?;
            Some(SetNode {
                member: node.member && other.member,
                children: node.children.intersection(&other.children),
            })
        })
    }

    /// The members that are not members of the other set.
    pub(crate) fn difference(&self, other: &FieldSet) -> FieldSet {
        self.combine(|element, node| {
            let Some(other) = other.nodes.get(element) else {
                return Some(node.clone());
            };
            Some(SetNode {
                member: node.member && !other.member,
                children: node.children.difference(&other.children),
            })
        })
    }

    /// The members that neither are members of the other set nor lie below one.
    pub(crate) fn recursive_difference(&self, other: &FieldSet) -> FieldSet {
        self.combine(|element, node| {
            let Some(other) = other.nodes.get(element) else {
                return Some(node.clone());
            };
            (!other.member).then(|| SetNode {
                member: node.member,
                children: node.children.recursive_difference(&other.children),
            })
        })
    }

    fn combine(&self, mut change: impl FnMut(&str, &SetNode) -> Option<SetNode>) -> FieldSet {
        let nodes = self.nodes.iter().filter_map(|(element, node)| {
            let node = change(element, node)?;
            (!node.is_empty()).then(|| (element.clone(), node))
        });
        FieldSet {
            nodes: nodes.collect(),
        }
    }

    /// The set with every declared field a member that has members below it.
    // Upstream: structured-merge-diff/fieldpath/set.go, EnsureNamedFieldsAreMembers
    pub(crate) fn with_declared_fields(&self, schema: &MergeSchema, of: Option<MergeTypeId>) -> FieldSet {
        let of = of.map(|id| schema.get(id));
        let map = of.and_then(|of| of.map.as_ref());
        let list = of.and_then(|of| of.list.as_ref());
        let nodes = self.nodes.iter().map(|(element, node)| {
            let name = element::field_name(element);
            let declared = name.and_then(|name| map?.field(name));
            let below = match name {
                Some(_) => declared.or_else(|| map?.element),
                None => list.map(|list| list.element),
            };
            let node = SetNode {
                member: node.member || declared.is_some() && !node.children.is_empty(),
                children: node.children.with_declared_fields(schema, below),
            };
            (element.clone(), node)
        });
        FieldSet {
            nodes: nodes.collect(),
        }
    }

    /// The paths of all members, as messages show them: `.spec.containers[name="a"].image`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        for (element, node) in &self.nodes {
            if node.member {
                paths.push(format!("{prefix}{}", element::show_element(element)));
            }
        }
        for (element, node) in &self.nodes {
            let prefix = format!("{prefix}{}", element::show_element(element));
            node.children.collect_paths(&prefix, paths);
        }
    }

    /// The set as `fieldsV1` has it.
    // Upstream: structured-merge-diff/fieldpath/serialize.go, emitContentsV1
    pub(crate) fn to_json(&self) -> Value<'static> {
        self.to_object(false).into()
    }

    fn to_object(&self, itself: bool) -> Object<'static> {
        let mut object = Object::new();
        if itself {
            object.insert(".", Object::new());
        }
        for (element, node) in &self.nodes {
            if node.children.is_empty() {
                if node.member {
                    object.insert(element.clone(), Object::new());
                }
                continue;
            }
            object.insert(element.clone(), node.children.to_object(node.member));
        }
        object
    }

    /// Reads `fieldsV1`; `None` if it has not that form.
    pub(crate) fn from_json(value: &Value<'_>) -> Option<FieldSet> {
        let mut set = FieldSet::default();
        for (name, below) in value.as_object()?.iter() {
            if name == "." {
                continue;
            }
            let children = below.as_object()?;
            let node = SetNode {
                member: children.is_empty() || children.contains_key("."),
                children: FieldSet::from_json(below)?,
            };
            set.nodes.insert(element::normalized(name)?, node);
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> FieldSet {
        FieldSet::from_json(&pratique_json::parse(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn sets_are_written_as_they_are_read() {
        for text in [
            "{}",
            r#"{"f:a":{}}"#,
            r#"{"f:a":{".":{},"f:b":{}},"f:c":{"k:{\"name\":\"x\",\"port\":1}":{".":{},"f:name":{}},"v:\"y\"":{}}}"#,
        ] {
            assert_eq!(set(text).to_json().to_string(), text);
        }
        assert!(FieldSet::from_json(&pratique_json::parse(br#"{"x:a":{}}"#).unwrap()).is_none());
        assert!(FieldSet::from_json(&pratique_json::parse(br#"{"f:a":1}"#).unwrap()).is_none());
    }

    #[test]
    fn differences_keep_what_is_below_or_not() {
        let all = set(r#"{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{}}"#);
        let some = set(r#"{"f:a":{".":{},"f:c":{}}}"#);
        assert_eq!(
            all.difference(&some).to_json().to_string(),
            r#"{"f:a":{"f:b":{}},"f:d":{}}"#
        );
        assert_eq!(
            all.recursive_difference(&set(r#"{"f:a":{}}"#))
                .to_json()
                .to_string(),
            r#"{"f:d":{}}"#
        );
        assert_eq!(
            all.intersection(&some).to_json().to_string(),
            some.to_json().to_string()
        );
        assert_eq!(some.union(&all), all);
        assert!(some.difference(&all).is_empty());
    }

    #[test]
    fn paths_are_shown_as_in_messages() {
        let paths =
            set(r#"{"f:a":{"k:{\"name\":\"x\",\"port\":1}":{".":{},"f:b":{}},"v:\"y\"":{}},"f:c":{}}"#)
                .paths();
        assert_eq!(
            paths,
            [
                ".c",
                r#".a[name="x",port=1]"#,
                r#".a[="y"]"#,
                r#".a[name="x",port=1].b"#
            ]
        );
    }
}
