//! The changes of mutating policies, as a unified diff of YAML.

use pratique_json::Value;
use pratique_review::{DiffLine, diff_objects};

use crate::evaluation::chain;
use crate::evaluation::defaults;
use crate::evaluation::result::ReviewResult;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

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
    let mut out = text!("--- {}\n+++ {} ({})\n", place, place, became);
    for DiffLine { tag, text } in diff_objects(old_object, new_object) {
        let line = match tag {
            '@' => style.paint(TextTone::Faint, text),
            '-' => style.paint(TextTone::Bad, text!("-{}", text)),
            '+' => style.paint(TextTone::Good, text!("+{}", text)),
            _ => text!(" {}", text),
        };
        out.push(&text!("{}\n", line));
    }
    out
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
