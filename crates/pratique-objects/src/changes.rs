//! The differences between an object before and after it was defaulted.

use pratique_json::Value;

/// The outermost paths of values that are new or different in `after`: `spec.strategy`,
/// `spec.containers[0].imagePullPolicy`.
pub fn changed_paths(old: &Value<'_>, new: &Value<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    walk(old, new, &mut String::new(), &mut paths);
    paths
}

/// Recursion follows the nesting of the values, which their parser bounds.
fn walk(old: &Value<'_>, new: &Value<'_>, path: &mut String, paths: &mut Vec<String>) {
    let length = path.len();
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let removed = old.iter().filter(|(name, _)| !new.contains_key(name));
            let names = removed.map(|(name, _)| (name, None));
            for (name, value) in names.chain(new.iter().map(|(name, value)| (name, Some(value)))) {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                match (old.get(name), value) {
                    (Some(old), Some(new)) => walk(old, new, path, paths),
                    _ => paths.push(path.clone()),
                }
                path.truncate(length);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                path.push_str(&format!("[{at}]"));
                walk(old, new, path, paths);
                path.truncate(length);
            }
        }
        (old, new) if old == new => {}
        _ => paths.push(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_paths_are_listed() {
        let read = |text: &'static str| pratique_json::parse(text.as_bytes()).unwrap();
        let before = read(r#"{"a":{"b":[{"c":1},{}]},"d":1,"e":2,"f":[1]}"#);
        let after = read(r#"{"a":{"b":[{"c":1,"n":{"x":1}},{}]},"d":1,"f":[1,2],"g":{}}"#);
        assert_eq!(changed_paths(&before, &after), ["e", "a.b[0].n", "f", "g"]);
        assert!(changed_paths(&before, &before).is_empty());
    }
}
