//! Values as compact JSON text, without recursion.

use crate::tree::{Entry, NodeId, StringStyle, Tree, TreeValue};

/// The parts that are still to be written, last first.
enum PendingPart<'a> {
    Value(NodeId),
    Key(&'a str),
    Text(char),
}

/// A value as JSON. Of a key that is given twice, the last value counts.
pub fn write(tree: &Tree, id: NodeId) -> String {
    let mut text = String::new();
    let mut rest = vec![PendingPart::Value(id)];
    while let Some(next) = rest.pop() {
        match next {
            PendingPart::Text(c) => text.push(c),
            PendingPart::Key(key) => text.push_str(&quoted(key)),
            PendingPart::Value(id) => match &tree.get(id).value {
                TreeValue::Null => text.push_str("null"),
                TreeValue::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
                TreeValue::Number(number) => text.push_str(number),
                TreeValue::String(string, StringStyle::Binary) => {
                    text.push_str(&quoted(string).replace(char::REPLACEMENT_CHARACTER, r"\ufffd"));
                }
                TreeValue::String(string, _) => text.push_str(&quoted(string)),
                TreeValue::List(items) => {
                    text.push('[');
                    rest.push(PendingPart::Text(']'));
                    for (index, item) in items.iter().enumerate().rev() {
                        rest.push(PendingPart::Value(*item));
                        rest.extend((index > 0).then_some(PendingPart::Text(',')));
                    }
                }
                TreeValue::Map(entries) => {
                    text.push('{');
                    rest.push(PendingPart::Text('}'));
                    for (index, entry) in last_of_each(entries).into_iter().enumerate().rev() {
                        rest.extend([
                            PendingPart::Value(entry.value),
                            PendingPart::Text(':'),
                            PendingPart::Key(&entry.key),
                        ]);
                        rest.extend((index > 0).then_some(PendingPart::Text(',')));
                    }
                }
            },
        }
    }
    text
}

/// The entries that count, by key.
fn last_of_each(entries: &[Entry]) -> Vec<&Entry> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    // The sort is stable, so of equal keys the last comes first once it is turned around.
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    sorted.reverse();
    sorted.dedup_by(|a, b| a.key == b.key);
    sorted.reverse();
    sorted
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compact_and_sorted() {
        let text = r#"{"b": [1, {"x": null}, []], "a": "\n<", "b": [true, 1.50]}"#;
        let document = crate::json::parse(text.as_bytes(), &crate::budget::Budget::unlimited()).unwrap();
        let written = write(&document.tree, document.root);
        assert_eq!(written, r#"{"a":"\n<","b":[true,1.50]}"#);
    }

    #[test]
    fn deep_values_cost_no_stack() {
        let text = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
        let document = crate::json::parse(text.as_bytes(), &crate::budget::Budget::unlimited()).unwrap();
        assert_eq!(write(&document.tree, document.root), text);
    }
}
