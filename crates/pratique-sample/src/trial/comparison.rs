//! Comparisons of objects before and after mutations.

use pratique_json::Value;

/// The object with the elements of each list in an order that depends on nothing but them.
pub(super) fn with_sorted_lists(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Array(elements) => {
            let mut sorted: Vec<Value<'static>> = elements.iter().map(with_sorted_lists).collect();
            sorted.sort_by_cached_key(ToString::to_string);
            Value::Array(sorted.into_iter().collect())
        }
        Value::Object(members) => {
            let members = members.iter();
            let sorted = members.map(|(name, value)| (name.to_string().into(), with_sorted_lists(value)));
            Value::Object(sorted.collect())
        }
        other => other.clone().into_owned(),
    }
}

/// The most bytes of a value in a line.
const LONGEST: usize = 120;

/// The first value in which an object differs from another one, with its path: `spec.type: "ExternalName"`, `no spec.ports`.
pub fn describe_difference(other: &Value<'_>, object: &Value<'_>) -> Option<String> {
    let (path, value) = find_difference(other, object)?;
    let Some(value) = value else {
        return Some(format!("no {path}"));
    };
    let mut text = value.to_string();
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    Some(format!("{path}: {text}"))
}

/// The first value that is different, with its path; `None` for one that is not there.
/// Recursion follows the nesting of the values, which their parser bounds.
fn find_difference<'v, 'a>(
    other: &Value<'_>,
    object: &'v Value<'a>,
) -> Option<(String, Option<&'v Value<'a>>)> {
    match (other, object) {
        (Value::Object(old), Value::Object(new)) => {
            if let Some((name, _)) = old.iter().find(|(name, _)| !new.contains_key(name)) {
                return Some((name.to_owned(), None));
            }
            new.iter().find_map(|(name, value)| {
                let (path, value) = match old.get(name) {
                    Some(old) => find_difference(old, value)?,
                    None => (String::new(), Some(value)),
                };
                Some((join_path(name, &path), value))
            })
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let mut pairs = old.iter().zip(new.iter()).enumerate();
            pairs.find_map(|(index, (old, new))| {
                let (path, value) = find_difference(old, new)?;
                Some((join_path(&format!("[{index}]"), &path), value))
            })
        }
        (old, new) if old == new => None,
        (_, new) => Some((String::new(), Some(new))),
    }
}

/// A path behind the step that leads to where it begins.
fn join_path(step: &str, path: &str) -> String {
    let has_point = !path.is_empty() && !path.starts_with('[');
    format!("{step}{}{path}", if has_point { "." } else { "" })
}

/// Items of the list or map at a JSON pointer that an object had before and has no more: names of keys, or of elements. None
/// where it was empty, or is no list or map.
pub fn lost_items(previous: &Value<'_>, after: &Value<'_>, pointer: &str) -> Vec<String> {
    match (value_at(previous, pointer), value_at(after, pointer)) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let lost = old.iter().filter(|(key, _)| !new.contains_key(key));
            lost.map(|(key, _)| key.to_string()).collect()
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            let lost = old
                .iter()
                .filter(|item| !new.iter().any(|other| is_same_item(item, other)));
            lost.map(name_of).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a list at a path of fields, such as `spec.containers`, has lost elements and is the same otherwise.
pub(super) fn has_only_fewer(previous: &Value<'_>, after: &Value<'_>, path: &str) -> bool {
    let fields: Vec<&str> = path.split('.').collect();
    let old = previous.at(&fields).and_then(Value::as_array);
    let new = after.at(&fields).and_then(Value::as_array);
    let (Some(old), Some(new)) = (old, new) else {
        return false;
    };
    new.len() < old.len() && new.iter().all(|item| old.contains(item))
}

/// The lists of an object that have elements, by the pointers to them; none within lists.
pub fn find_filled_lists(object: &Value<'_>) -> Vec<String> {
    let mut filled = Vec::new();
    let mut pending = vec![(String::new(), object)];
    while let Some((pointer, value)) = pending.pop() {
        match value {
            Value::Array(elements) if elements.iter().next().is_some() => filled.push(pointer),
            Value::Object(members) => {
                pending.extend(members.iter().map(|(name, value)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    (format!("{pointer}/{name}"), value)
                }));
            }
            _ => {}
        }
    }
    filled
}

/// Whether two elements are the same, or have one name.
fn is_same_item(one: &Value<'_>, other: &Value<'_>) -> bool {
    let name = one.get("name").filter(|name| name.as_str().is_some());
    one == other || (name.is_some() && other.get("name") == name)
}

fn name_of(item: &Value<'_>) -> String {
    let name = item.get("name").and_then(Value::as_str).map(str::to_owned);
    name.unwrap_or_else(|| item.to_string())
}

/// The value at a JSON pointer.
fn value_at<'v, 'a>(object: &'v Value<'a>, pointer: &str) -> Option<&'v Value<'a>> {
    let steps = pointer.strip_prefix('/')?.split('/');
    steps.into_iter().try_fold(object, |at, step| {
        let name = step.replace("~1", "/").replace("~0", "~");
        match at {
            Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
            other => other.get(&name),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost() {
        let read = |text: &'static str| pratique_json::parse(text.as_bytes()).unwrap();
        let old = read(r#"{"m":{"a/b":{"x":1,"y":2}},"l":[{"name":"a","v":1},{"name":"b"},3]}"#);
        let new = read(r#"{"m":{"a/b":{"x":2}},"l":[{"name":"a","v":2},3]}"#);
        assert_eq!(lost_items(&old, &new, "/m/a~1b"), ["y"]);
        assert_eq!(lost_items(&old, &new, "/l"), ["b"]);
        assert!(lost_items(&old, &new, "/l/0").is_empty());
        assert!(lost_items(&old, &new, "/n").is_empty() && lost_items(&old, &new, "m").is_empty());
    }

    #[test]
    fn the_first_difference() {
        let describe = |old: &'static str, new: &'static str| {
            let read = |text: &'static str| pratique_json::parse(text.as_bytes()).unwrap();
            describe_difference(&read(old), &read(new))
        };
        let old = r#"{"a":{"b":[{"c":1},{"d":2}]},"e":3}"#;
        assert_eq!(describe(old, old), None);
        for (new, expected) in [
            (
                r#"{"a":{"b":[{"c":1},{"d":{"x":3}}]},"e":3}"#,
                r#"a.b[1].d: {"x":3}"#,
            ),
            (r#"{"a":{"b":[{"c":1},{"d":2}]}}"#, "no e"),
            (r#"{"a":{"b":[{"c":1},{}]},"e":4}"#, "no a.b[1].d"),
            (r#"{"a":{"b":[]},"e":3}"#, "a.b: []"),
            (r#"{"a":{"b":[{"c":1},{"d":2}],"n":""},"e":3}"#, r#"a.n: """#),
        ] {
            assert_eq!(describe(old, new).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_lists_have() {
        let read = |text: &'static str| pratique_json::parse(text.as_bytes()).unwrap();
        let old = read(r#"{"a":{"b/c":[1,2],"d":[]},"e":[[3]]}"#);
        let mut filled = find_filled_lists(&old);
        filled.sort();
        assert_eq!(filled, ["/a/b~1c", "/e"]);
        let fewer = |after: &'static str| has_only_fewer(&old, &read(after), "a.b/c");
        assert!(fewer(r#"{"a":{"b/c":[2]}}"#) && fewer(r#"{"a":{"b/c":[]}}"#));
        assert!(!fewer(r#"{"a":{"b/c":[3]}}"#) && !fewer(r#"{"a":{"b/c":[1,2]}}"#) && !fewer(r#"{"a":{}}"#));
    }

    #[test]
    fn order_does_not_count() {
        let read = |text: &'static str| with_sorted_lists(&pratique_json::parse(text.as_bytes()).unwrap());
        assert_eq!(read(r#"{"a":[{"b":[2,1]},3]}"#), read(r#"{"a":[3,{"b":[1,2]}]}"#));
        assert_ne!(read(r#"{"a":[1,1]}"#), read(r#"{"a":[1]}"#));
    }
}
