//! The paths of fields as a server writes them: `spec.containers[0].ports`, `data[a b]`.

use std::borrow::Cow;

use pratique_json::Value;
use pratique_manifest::{Location, NodeId, ObjectSource, PathStep, Span, Tree, TreeValue};

/// A path to a field of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// Reads a path. What stands in brackets is an index or a key, which only the object tells.
    ///
    /// ```
    /// use pratique_review::FieldPath;
    ///
    /// let path = FieldPath::parse("metadata.annotations[a.b/c].d[0]");
    /// assert_eq!(path.names(), ["metadata", "annotations", "a.b/c", "d", "0"]);
    /// assert!(FieldPath::parse("<nil>").names().is_empty());
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut names = Vec::new();
        let mut rest = if text == "<nil>" { "" } else { text };
        while !rest.is_empty() {
            let inner = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'));
            let (name, after) = inner.unwrap_or_else(|| {
                let end = rest.find(['.', '[']).filter(|end| *end > 0);
                rest.split_at(end.unwrap_or(rest.len()))
            });
            names.push(name.to_owned());
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        FieldPath(names)
    }

    /// The names, keys and indices on the way.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The path below a field.
    #[must_use]
    pub fn below(&self, field: &str) -> Self {
        let mut path = FieldPath::parse(field);
        path.0.extend(self.0.iter().cloned());
        path
    }

    /// Where the field of the object at a node stands; of a field that is not there, what should have it.
    pub fn nearest_span(&self, tree: &Tree, object: NodeId) -> Span {
        tree.nearest_span(object, &self.steps(tree, object))
    }

    /// The same as a place in the text of the object.
    pub fn locate(&self, source: &ObjectSource, object: NodeId) -> Location {
        let span = self.nearest_span(source.tree(), object);
        source.document().location(span)
    }

    /// How many of its steps lead to something in the object at a node.
    pub fn depth(&self, tree: &Tree, object: NodeId) -> usize {
        let steps = self.steps(tree, object);
        let leads = |length: &usize| {
            steps
                .get(..*length)
                .is_some_and(|head| tree.find(object, head).is_some())
        };
        (1..=steps.len()).take_while(leads).count()
    }

    /// The path as the tree has it: what stands in brackets is an index in a list, and a key elsewhere.
    fn steps(&self, tree: &Tree, object: NodeId) -> Vec<PathStep> {
        let mut at = Some(object);
        let mut steps = Vec::new();
        for name in &self.0 {
            let is_list = at.is_some_and(|node| matches!(tree.get(node).value, TreeValue::List(_)));
            let step = match name.parse() {
                Ok(index) if is_list => PathStep::Index(index),
                _ => PathStep::Field(name.clone()),
            };
            at = at.and_then(|node| tree.find(node, std::slice::from_ref(&step)));
            steps.push(step);
        }
        steps
    }

    /// The value that the path leads to.
    pub(crate) fn value<'v>(&self, object: &'v Value<'v>) -> Option<&'v Value<'v>> {
        self.0.iter().try_fold(object, |value, name| member(value, name))
    }

    /// Its first steps.
    pub(crate) fn head(&self, length: usize) -> &[String] {
        self.0.get(..length).unwrap_or(&self.0)
    }

    /// How many steps it has in common with another one.
    pub(crate) fn shared_steps(&self, other: &FieldPath) -> usize {
        let pairs = self.0.iter().zip(&other.0);
        pairs.take_while(|(one, other)| one == other).count()
    }
}

fn member<'v>(value: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    match value {
        Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    }
}

/// A value as a line has room for it.
pub(crate) fn shortened(value: &Value<'_>) -> String {
    const LONGEST: usize = 60;
    let text: Cow<'_, str> = match value {
        Value::String(text) if !text.is_empty() => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    };
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
