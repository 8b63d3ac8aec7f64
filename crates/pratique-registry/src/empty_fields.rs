//! Empty lists and maps, which are left out where an object is written: a server has them until then, and its validation tells them from
//! none.

use pratique_json::Value;

/// Adds the empty lists and maps of an object to what became of it. Recursion follows the nesting of the object, which its parser bounds.
pub(crate) fn restore_empty<'v>(original: &Value<'v>, object: &mut Value<'v>) {
    match (original, object) {
        (Value::Object(original), Value::Object(members)) => {
            for (name, value) in original.iter() {
                match members.get_mut(name) {
                    Some(member) => restore_empty(value, member),
                    None if is_empty(value) => drop(members.insert(name.to_owned(), value.clone())),
                    None => {}
                }
            }
        }
        (Value::Array(original), Value::Array(elements)) => {
            for (value, element) in original.iter().zip(elements) {
                restore_empty(value, element);
            }
        }
        _ => {}
    }
}

fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_is_there_again() {
        let value = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let original = value(r#"{"a": [], "b": [{"c": {}, "d": 1}], "e": {"f": []}, "g": "", "h": {}}"#);
        let mut object = value(r#"{"b": [{"d": 2}, {"d": 3}], "h": {"i": 1}}"#);
        restore_empty(&original, &mut object);
        let expected = value(r#"{"a": [], "b": [{"c": {}, "d": 2}, {"d": 3}], "h": {"i": 1}}"#);
        assert_eq!(object, expected);
    }
}
