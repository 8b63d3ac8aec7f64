//! The changes of mutating policies, as a unified diff of YAML.

use pratique_json::{Object, Value};
use pratique_state::yaml;
use similar::{ChangeTag, TextDiff};

use crate::evaluation::chain;
use crate::evaluation::defaults;
use crate::evaluation::result::ReviewResult;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// The number of context lines.
const CONTEXT: usize = 3;

/// The diff of a changed object; empty if it is unchanged.
pub(crate) fn diff_text(result: &ReviewResult<'_>, style: StreamStyle) -> PrintableText {
    let place = &result.input.place();
    if let Some(steps) = &result.steps {
        return chain::diffs(steps, place, style);
    }
    let old_object = &result.input.request.object;
    let new_object = result.outcome.object.as_ref();
    let mut out = PrintableText::new();
    if let Some(new_object) = new_object {
        for line in defaults::lines(&result.defaults) {
            out.push(&text!(
                "{}
",
                style.paint(TextTone::Faint, text!("# {}", line))
            ));
        }
        out.push(&between(
            place,
            "as policies leave it",
            old_object,
            new_object,
            style,
        ));
    }
    out
}

/// The diff of an object at a place to what it became.
pub(crate) fn between(
    place: &str,
    became: &str,
    old_object: &Value<'_>,
    new_object: &Value<'static>,
    style: StreamStyle,
) -> PrintableText {
    let new_object = without_defaults(old_object, new_object);
    let (old, new) = (yaml::block(old_object, 0), yaml::block(&new_object, 0));
    let diff = TextDiff::from_lines(&old, &new);
    let mut out = text!("--- {}\n+++ {} ({})\n", place, place, became);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let header = style.paint(TextTone::Faint, hunk.header());
        out.push(&text!("{}\n", header));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches('\n');
            let line = match change.tag() {
                ChangeTag::Delete => style.paint(TextTone::Bad, text!("-{}", line)),
                ChangeTag::Insert => style.paint(TextTone::Good, text!("+{}", line)),
                ChangeTag::Equal => text!(" {}", line),
            };
            out.push(&text!("{}\n", line));
        }
    }
    out
}

/// Removes the nulls and empty mappings that an API server's types add when an object is decoded. Documents are not so
/// deep that recursion would be a risk.
pub(crate) fn without_defaults(old_value: &Value<'_>, new_value: &Value<'static>) -> Value<'static> {
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

    fn value(json: &str) -> Value<'static> {
        pratique_json::parse(json.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        let before = value(r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}],"x":1}}"#);
        let after = value(
            r#"{"metadata":{"creationTimestamp":null,"labels":{"l":"1"},"name":"a"},
                "spec":{"containers":[{"name":"d","resources":{}},{"name":"c","resources":{}}],"x":1},"status":{}}"#,
        );
        assert_eq!(
            between(
                "f.yaml:1:1",
                "as policies leave it",
                &before,
                &after,
                StreamStyle::default()
            )
            .as_str(),
            "--- f.yaml:1:1\n+++ f.yaml:1:1 (as policies leave it)\n@@ -1,6 +1,10 @@\n metadata:\n+  labels:\n+    l: \"1\"\n   name: a\n spec:\n   containers:\n+  - name: d\n+    resources: {}\n   - name: c\n   x: 1\n"
        );
    }
}
