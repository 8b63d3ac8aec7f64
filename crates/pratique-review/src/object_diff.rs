//! What changed in an object, as lines of YAML.

use pratique_json::{Object, Value};
use pratique_state::yaml;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// The number of lines around a change.
const CONTEXT: usize = 3;

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// `-`, `+`, a blank, or `@` before what does not follow on the line before.
    pub tag: char,
    /// Its text.
    pub text: String,
}

/// The lines that differ between two objects, with what is around them. What the types of a server add when they decode an object is
/// left out.
pub fn diff_objects(old_object: &Value<'_>, new_object: &Value<'static>) -> Vec<DiffLine> {
    let new_object = without_defaults(old_object, new_object);
    let (old, new) = (yaml::block(old_object, 0), yaml::block(&new_object, 0));
    let diff = TextDiff::from_lines(&old, &new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(DiffLine {
            tag: '@',
            text: hunk.header().to_string(),
        });
        lines.extend(hunk.iter_changes().map(|change| DiffLine {
            tag: match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            },
            text: change.value().trim_end_matches('\n').to_owned(),
        }));
    }
    lines
}

/// Removes the nulls and empty mappings that an API server's types add when an object is decoded. Documents are not so
/// deep that recursion would be a risk.
pub fn without_defaults(old_value: &Value<'_>, new_value: &Value<'static>) -> Value<'static> {
    match (old_value, new_value) {
        (Value::Object(old_members), Value::Object(new_members)) => {
            let is_empty = |value: &Value<'_>| match value {
                Value::Null => true,
                Value::Object(object) => object.is_empty(),
                _ => false,
            };
            let kept = new_members
                .iter()
                .filter(|(key, value)| old_members.contains_key(key) || !is_empty(value));
            let kept = kept.map(|(key, value)| {
                let value = match old_members.get(key) {
                    Some(old_member) => without_defaults(old_member, value),
                    None => value.clone(),
                };
                (key.to_owned().into(), value)
            });
            Value::Object(kept.collect::<Object<'static>>())
        }
        (Value::Array(old_elements), Value::Array(new_elements)) => {
            let elements = new_elements.iter().enumerate();
            let elements = elements.map(
                |(index, element)| match counterpart(old_elements, index, element) {
                    Some(old_element) => without_defaults(old_element, element),
                    None => element.clone(),
                },
            );
            Value::Array(elements.collect())
        }
        (_, new_value) => new_value.clone(),
    }
}

/// The former state of an element: the one with the same name, or without names the one at the same index.
fn counterpart<'v>(
    old_elements: &'v [Value<'v>],
    index: usize,
    element: &Value<'_>,
) -> Option<&'v Value<'v>> {
    match element.get("name") {
        Some(name) => old_elements.iter().find(|item| item.get("name") == Some(name)),
        None => old_elements.get(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old_object: &str, new_object: &str) -> Vec<String> {
        let read = |json: &str| pratique_json::parse(json.as_bytes()).unwrap().into_owned();
        let lines = diff_objects(&read(old_object), &read(new_object)).into_iter();
        lines.map(|line| format!("{}{}", line.tag, line.text)).collect()
    }

    #[test]
    fn changes_have_lines_around_them() {
        let lines = diff(r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#);
        assert_eq!(lines, ["@@@ -1,2 +1,2 @@", " a: 1", "-b: 2", "+b: 3"]);
        assert!(diff("{}", "{}").is_empty());
    }

    #[test]
    fn what_types_add_is_no_change() {
        let given = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}],"x":1}}"#;
        let decoded = r#"{"metadata":{"creationTimestamp":null,"labels":{"l":"1"},"name":"a"},
            "spec":{"containers":[{"name":"d","resources":{}},{"name":"c","resources":{}}],"x":1},"status":{}}"#;
        let expected = [
            "@@@ -1,6 +1,10 @@",
            " metadata:",
            "+  labels:",
            "+    l: \"1\"",
            "   name: a",
            " spec:",
            "   containers:",
            "+  - name: d",
            "+    resources: {}",
            "   - name: c",
            "   x: 1",
        ];
        assert_eq!(diff(given, decoded), expected);
    }
}
