//! Expressions that share nothing: each reads another field of the object, and no text comes twice.

use serde_json::{Value, json};

/// Three validations that no other number has, all of which hold.
pub(super) fn validations(index: usize, object: &Value) -> Value {
    let mut leaves = Vec::new();
    collect(object, "object", &mut leaves);
    let validation = |step: usize| {
        let number = 3 * index + step;
        let (path, leaf) = leaves.get(number % leaves.len().max(1))?;
        let expression = expression(path, leaf, number / leaves.len().max(1), number);
        Some(json!({"expression": expression, "message": format!("rule {number} does not hold")}))
    };
    json!({"validations": (0..3).filter_map(validation).collect::<Vec<_>>()})
}

/// All values that hold no others, with the expressions that read them.
fn collect(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, &format!("{path}{}", step(name)), leaves);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &format!("{path}[{at}]"), leaves);
            }
        }
        leaf => leaves.push((path.to_owned(), leaf.clone())),
    }
}

fn step(name: &str) -> String {
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric());
    if name == "namespace" {
        ".__namespace__".to_owned()
    } else if is_plain {
        format!(".{name}")
    } else {
        format!("['{name}']")
    }
}

/// Something that is true of a field, in one of several ways, and that contains the number.
fn expression(path: &str, leaf: &Value, way: usize, number: usize) -> String {
    match (leaf, way % 4) {
        (Value::String(_), 0) => format!("{path} != 'other-{number}'"),
        (Value::String(_), 1) => format!("{path}.size() < {}", 1_000 + number),
        (Value::String(_), 2) => format!("!{path}.startsWith('other-{number}')"),
        (Value::String(_), _) => format!("!({path} in ['other-{number}', 'another-{number}'])"),
        (Value::Number(_), 0) => format!("{path} < {}", 100_000 + number),
        (Value::Number(_), 1) => format!("{path} != {}", 200_000 + number),
        (Value::Number(_), _) => format!("{path} + {number} >= {number}"),
        (Value::Bool(true), _) => format!("{path} || object.metadata.name == 'other-{number}'"),
        (Value::Bool(false), _) => format!("!{path} || object.metadata.name == 'other-{number}'"),
        (_, _) => format!("has(object.metadata) && {number} >= 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_way() {
        let object = json!({"a": {"b.c": "x", "namespace": 1}, "list": [true]});
        let mut leaves = Vec::new();
        collect(&object, "object", &mut leaves);
        let paths: Vec<&str> = leaves.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            ["object.a['b.c']", "object.a.__namespace__", "object.list[0]"]
        );
    }
}
