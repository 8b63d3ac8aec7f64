//! A value of an object together with its path.

use pratique_json::Value;
use pratique_types::field::Path;

use crate::member_index::{MemberIndex, MemberPosition, NamePlace};

static ABSENT: Value<'static> = Value::Null;

/// A value of an object, or the absence of one, and the path that errors about it name. Nodes live on the stack: walking an
/// object costs no allocation, and a path becomes text only in an error.
#[derive(Clone, Copy, Debug)]
pub struct Node<'p, 'v> {
    value: &'v Value<'v>,
    path: Path<'p>,
    /// Where its members are, if that is known.
    index: Option<&'p MemberIndex>,
}

impl<'v> Node<'static, 'v> {
    /// The object itself.
    pub fn root(value: &'v Value<'v>) -> Self {
        Node {
            value,
            path: Path::ROOT,
            index: None,
        }
    }
}

impl<'p, 'v> Node<'p, 'v> {
    /// A value with a path of its own.
    pub fn with_path(value: &'v Value<'v>, path: Path<'p>) -> Self {
        Node {
            value,
            path,
            index: None,
        }
    }

    /// No value, at a path.
    pub fn absent(path: Path<'p>) -> Self {
        Node::with_path(&ABSENT, path)
    }

    /// The same, with an index of its members: worth it where rules ask for more than a few.
    pub(crate) fn with_index<'c>(&'c self, index: &'c MemberIndex) -> Node<'c, 'v> {
        Node {
            index: Some(index),
            ..*self
        }
    }

    /// A member, which may be absent.
    #[inline]
    pub fn child<'c>(&'c self, name: &'c str) -> Node<'c, 'v> {
        let value = match self.index {
            None => self.search(name),
            // What is absent, as most is, costs no call.
            Some(index) => match index.position(NamePlace::new(name)) {
                Some(position) => self.member_at(position, name),
                None => &ABSENT,
            },
        };
        Node::with_path(value, self.path.child(name))
    }

    #[inline(never)]
    fn search(&self, name: &str) -> &'v Value<'v> {
        self.value.get(name).unwrap_or(&ABSENT)
    }

    #[inline(never)]
    fn member_at(&self, position: MemberPosition, name: &str) -> &'v Value<'v> {
        position.find(self.value, name).unwrap_or(&ABSENT)
    }

    /// A member that errors name otherwise than it is written.
    pub fn child_as<'c>(&'c self, name: &'c str, printed_name: &'c str) -> Node<'c, 'v> {
        Node::with_path(self.child(name).value, self.path.child(printed_name))
    }

    /// The member of a map, whose path has its key in brackets.
    pub fn key<'c>(&'c self, key: &'c str) -> Node<'c, 'v> {
        Node::with_path(self.value.get(key).unwrap_or(&ABSENT), self.path.key(key))
    }

    /// The elements of a list.
    pub fn items<'c>(&'c self) -> impl ExactSizeIterator<Item = Node<'c, 'v>> + Clone {
        let elements = self.value.as_array().unwrap_or_default();
        let elements = elements.iter().enumerate();
        elements.map(|(index, value)| Node::with_path(value, self.path.index(index)))
    }

    /// The members of a map, in the order of their keys.
    pub fn entries<'c>(&'c self) -> impl Iterator<Item = (&'v str, Node<'c, 'v>)>
    where
        'v: 'c,
    {
        let members = self.value.as_object().map(|object| object.iter());
        members
            .into_iter()
            .flatten()
            .map(|(key, value)| (key, Node::with_path(value, self.path.key(key))))
    }

    /// The text, empty where there is none.
    pub fn as_text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// The number, 0 where there is none.
    pub fn int(&self) -> i64 {
        self.value.as_int().unwrap_or_default()
    }

    /// The number, if there is one.
    pub fn some_int(&self) -> Option<i64> {
        self.value.as_int()
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        self.value.as_bool() == Some(true)
    }

    /// The truth value, if there is one.
    pub fn some_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// Whether there is a value: whether the pointer of Go is not nil.
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether there is no value, or an empty one.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The number of elements or members.
    pub fn len(&self) -> usize {
        match self.value {
            Value::Array(elements) => elements.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        }
    }

    /// The value.
    pub fn value(&self) -> &'v Value<'v> {
        self.value
    }

    /// The path.
    pub fn path(&self) -> &Path<'p> {
        &self.path
    }

    /// Whether it has the same value as another; absent and empty are the same, as in `equality.Semantic`.
    pub fn is_same(&self, other: &Node<'_, '_>) -> bool {
        self.is_same_value(other.value)
    }

    /// The same of a value.
    pub(crate) fn is_same_value(&self, other: &Value<'_>) -> bool {
        let is_map = self.path.name().is_some_and(is_map);
        is_same(self.value, other) || (is_map && is_empty_map(self.value) && is_empty_map(other))
    }
}

/// Whether two values are equal where absent and empty lists and maps are the same.
///
/// A struct without members is another value than none. What is a map and what a struct is told by the name.
// Upstream: apimachinery/pkg/api/equality/semantic.go, Semantic
pub(crate) fn is_same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Object(one), Value::Object(other)) => {
            // What is requested of devices has a struct where devices have a map.
            let is_map =
                |name: &str| is_map(name) && !(name == "capacity" && one.contains_key("deviceClassName"));
            let is_same_member = |name: &str, value: &Value<'_>, other: Option<&Value<'_>>| {
                let other = other.unwrap_or(&ABSENT);
                is_same(value, other) || (is_map(name) && is_empty_map(value) && is_empty_map(other))
            };
            one.iter()
                .all(|(name, value)| is_same_member(name, value, other.get(name)))
                && other
                    .iter()
                    .all(|(name, value)| one.contains_key(name) || is_same_member(name, value, None))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (one, other) => one == other || (is_nothing(one) && is_nothing(other)),
    }
}

/// Whether it is as if it were absent. An empty object is not: decoding leaves out empty maps, so that it is a struct behind a
/// pointer, which is not nil.
fn is_nothing(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::NilArray => true,
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

fn is_empty_map(value: &Value<'_>) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        other => other.is_null(),
    }
}

/// Whether fields of a name are maps, in all kinds that have one.
fn is_map(name: &str) -> bool {
    const MAPS: &[&str] = &[
        "allocatable",
        "allocatedResourceStatuses",
        "allocatedResources",
        "annotations",
        "attributes",
        "binaryData",
        "capacity",
        "data",
        "defaultRequest",
        "hard",
        "labels",
        "limits",
        "matchLabels",
        "maxLimitRequestRatio",
        "nodeSelector",
        "options",
        "overhead",
        "parameters",
        "requests",
        "stringData",
        "used",
        "volumeAttributes",
    ];
    MAPS.binary_search(&name).is_ok()
}

impl From<&Node<'_, '_>> for String {
    fn from(node: &Node<'_, '_>) -> Self {
        node.path.to_string()
    }
}

impl From<Node<'_, '_>> for String {
    fn from(node: Node<'_, '_>) -> Self {
        node.path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, right: &str, expected: bool) {
        let parse = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let (left, right) = (parse(left), parse(right));
        assert_eq!(is_same(&left, &right), expected);
        assert_eq!(is_same(&right, &left), expected);
    }

    #[test]
    fn empty_lists_and_maps_are_none_and_structs_are_not() {
        check(r#"{"labels":{},"args":[]}"#, "{}", true);
        check(r#"{"capacity":{}}"#, "{}", true);
        check(
            r#"{"deviceClassName":"c","capacity":{}}"#,
            r#"{"deviceClassName":"c"}"#,
            false,
        );
        check(r#"{"a":{"limits":{}}}"#, r#"{"a":{}}"#, true);
        check(r#"{"emptyDir":{}}"#, "{}", false);
        check(r#"{"a":null}"#, "{}", true);
        check(r#"{"labels":{"a":"b"}}"#, "{}", false);
    }
}
