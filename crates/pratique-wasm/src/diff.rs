//! What mutations changed, as lines of YAML.

use pratique_json::Value;
use pratique_state::yaml;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// The number of lines around a change.
const CONTEXT: usize = 3;

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DiffLine {
    /// `-`, `+`, a blank, or `@` before what does not follow on the line before.
    pub(crate) tag: char,
    /// Its text.
    pub(crate) text: String,
}

/// The lines that differ between two objects, with what is around them.
pub(crate) fn between(old_object: &Value<'_>, new_object: &Value<'_>) -> Vec<DiffLine> {
    let (old, new) = (yaml::block(old_object, 0), yaml::block(new_object, 0));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_lines_around_them() {
        let value = |json: &str| pratique_json::parse(json.as_bytes()).unwrap().into_owned();
        let lines = between(&value(r#"{"a":1,"b":2}"#), &value(r#"{"a":1,"b":3}"#));
        let shown: Vec<String> = lines
            .iter()
            .map(|line| format!("{}{}", line.tag, line.text))
            .collect();
        assert_eq!(shown, ["@@@ -1,2 +1,2 @@", " a: 1", "-b: 2", "+b: 3"]);
        assert_eq!(between(&value("{}"), &value("{}")), []);
    }
}
