//! Variants of objects: values at paths, and JSON merge patches.

use pratique_json::{Object, Value};

/// Why a path cannot be read, or leads to no place in an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    /// It is too long.
    #[error("a path has no more than {LONGEST} steps")]
    TooLong,
    /// Steps are not separated.
    #[error("expected a dot or a bracket before `{0}`")]
    NoSeparator(String),
    /// It starts with an index.
    #[error("a path starts with a field")]
    NoField,
    /// A field has no name.
    #[error("a field is empty")]
    EmptyField,
    /// A quoted field has no end.
    #[error("a quoted field is not closed by `\"]`")]
    OpenQuote,
    /// A bracket has no end.
    #[error("a bracket is not closed")]
    OpenBracket,
    /// A bracket has neither an index nor a field.
    #[error("`{0}` is no index, nor `+` or a quoted field")]
    NoIndex(String),
    /// An index is beyond the list, which has so many elements.
    #[error("there are {0} elements only")]
    TooFewElements(usize),
    /// A field of what is no mapping.
    #[error("what should have the field `{0}` is no mapping")]
    NoMapping(String),
    /// An element of what is no list.
    #[error("what should have elements is no list")]
    NoList,
}

/// A path into an object: `spec.containers[0].image`, `metadata.labels["a/b"]`, `spec.volumes[+]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectPath(Vec<PathStep>);

/// The maximum length of a path: deeper values would overflow the stack.
const LONGEST: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Field(String),
    Index(usize),
    /// After the last element.
    Append,
}

impl ObjectPath {
    /// Parses a path; gives the first field separately.
    pub(crate) fn parse(text: &str) -> Result<(String, ObjectPath), PathError> {
        let mut steps = Vec::new();
        let mut rest = text;
        let mut first = true;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner)?,
                None => field(rest.strip_prefix('.').filter(|_| !first).unwrap_or(rest))?,
            };
            steps.push(step);
            if steps.len() > LONGEST {
                return Err(PathError::TooLong);
            }
            rest = after;
            if !(rest.is_empty() || rest.starts_with(['.', '['])) {
                return Err(PathError::NoSeparator(rest.to_owned()));
            }
            first = false;
        }
        let mut steps = steps.into_iter();
        match steps.next() {
            Some(PathStep::Field(root)) => Ok((root, ObjectPath(steps.collect()))),
            _ => Err(PathError::NoField),
        }
    }

    /// Sets a value; missing parents become mappings or lists.
    pub(crate) fn set(&self, target: &mut Value<'static>, value: Value<'static>) -> Result<(), PathError> {
        let mut at = target;
        for step in &self.0 {
            at = match step {
                PathStep::Field(name) => member(at, name)?,
                PathStep::Index(index) => {
                    let elements = elements(at)?;
                    let count = elements.len();
                    if *index == count {
                        elements.push(Value::Null);
                    }
                    elements.get_mut(*index).ok_or(PathError::TooFewElements(count))?
                }
                PathStep::Append => {
                    let elements = elements(at)?;
                    let count = elements.len();
                    elements.push(Value::Null);
                    elements.get_mut(count).ok_or(PathError::TooFewElements(count))?
                }
            };
        }
        *at = value;
        Ok(())
    }

    /// The value, if it exists.
    pub(crate) fn find<'v>(&self, target: &'v Value<'v>) -> Option<&'v Value<'v>> {
        self.0.iter().try_fold(target, |at, step| match (step, at) {
            (PathStep::Field(name), Value::Object(object)) => object.get(name),
            (PathStep::Index(index), Value::Array(elements)) => elements.get(*index),
            _ => None,
        })
    }

    /// Removes the value, if it exists.
    pub(crate) fn remove(&self, target: &mut Value<'static>) {
        let Some((last, way)) = self.0.split_last() else {
            *target = Value::Null;
            return;
        };
        let mut at = target;
        for step in way {
            let next = match (step, at) {
                (PathStep::Field(name), Value::Object(object)) => object.get_mut(name),
                (PathStep::Index(index), Value::Array(elements)) => elements.get_mut(*index),
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return,
            }
        }
        match (last, at) {
            (PathStep::Field(name), Value::Object(object)) => {
                object.remove(name);
            }
            (PathStep::Index(index), Value::Array(elements)) if *index < elements.len() => {
                elements.remove(*index);
            }
            _ => {}
        }
    }
}

/// Applies a JSON merge patch (RFC 7386). Recursion is safe: the depth of documents is bounded.
pub(crate) fn merge(target: &mut Value<'static>, patch: Value<'static>) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !matches!(target, Value::Object(_)) {
        *target = Value::Object(Object::new());
    }
    let Value::Object(object) = target else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            object.remove(&key);
            continue;
        }
        if !object.contains_key(&key) {
            object.insert(key.clone(), Value::Null);
        }
        if let Some(member) = object.get_mut(&key) {
            merge(member, value);
        }
    }
}

fn bracket(inner: &str) -> Result<(PathStep, &str), PathError> {
    if let Some(quoted) = inner.strip_prefix('"') {
        let (name, rest) = quoted.split_once("\"]").ok_or(PathError::OpenQuote)?;
        return Ok((PathStep::Field(name.to_owned()), rest));
    }
    let (text, rest) = inner.split_once(']').ok_or(PathError::OpenBracket)?;
    if text == "+" {
        return Ok((PathStep::Append, rest));
    }
    let index = text.parse().map_err(|_| PathError::NoIndex(text.to_owned()))?;
    Ok((PathStep::Index(index), rest))
}

fn field(text: &str) -> Result<(PathStep, &str), PathError> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some(("", _)) | None => Err(PathError::EmptyField),
        Some((name, rest)) => Ok((PathStep::Field(name.to_owned()), rest)),
    }
}

fn member<'v>(value: &'v mut Value<'static>, name: &str) -> Result<&'v mut Value<'static>, PathError> {
    if value.is_null() {
        *value = Value::Object(Object::new());
    }
    let Value::Object(object) = value else {
        return Err(PathError::NoMapping(name.to_owned()));
    };
    if !object.contains_key(name) {
        object.insert(name.to_owned(), Value::Null);
    }
    object
        .get_mut(name)
        .ok_or_else(|| PathError::NoMapping(name.to_owned()))
}

fn elements<'v>(value: &'v mut Value<'static>) -> Result<&'v mut Vec<Value<'static>>, PathError> {
    if value.is_null() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(elements) => Ok(elements),
        _ => Err(PathError::NoList),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value<'static> {
        pratique_json::parse(json.as_bytes()).unwrap().into_owned()
    }

    #[track_caller]
    fn set(path: &str, expected: Result<&str, &str>) {
        let mut target = value(r#"{"spec":{"list":[1,2],"x":1}}"#);
        let done = ObjectPath::parse(path).and_then(|(_, path)| path.set(&mut target, Value::Bool(true)));
        let found = done
            .map(|()| target.to_string())
            .map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{path}");
    }

    #[test]
    fn values_are_set() {
        set("object.spec.x", Ok(r#"{"spec":{"list":[1,2],"x":true}}"#));
        set("object.spec.list[1]", Ok(r#"{"spec":{"list":[1,true],"x":1}}"#));
        set("object.spec.list[+]", Ok(r#"{"spec":{"list":[1,2,true],"x":1}}"#));
        set("object.spec.list[2]", Ok(r#"{"spec":{"list":[1,2,true],"x":1}}"#));
        set(
            r#"object.m["a.b/c"][0].d"#,
            Ok(r#"{"m":{"a.b/c":[{"d":true}]},"spec":{"list":[1,2],"x":1}}"#),
        );
        set("object", Ok("true"));
    }

    #[test]
    fn paths_may_lead_nowhere() {
        set("object.spec.list[5]", Err("there are 2 elements only"));
        set(
            "object.spec.x.y",
            Err("what should have the field `y` is no mapping"),
        );
        set("object.spec.x[0]", Err("what should have elements is no list"));
        set(
            "object.spec[a]",
            Err("`a` is no index, nor `+` or a quoted field"),
        );
        set("object..x", Err("a field is empty"));
        set("[0]", Err("a path starts with a field"));
        set(&"a.".repeat(200), Err("a path has no more than 100 steps"));
        set("a[0]b", Err("expected a dot or a bracket before `b`"));
    }

    #[test]
    fn values_are_removed() {
        let mut target = value(r#"{"spec":{"list":[1,2],"x":1}}"#);
        for path in ["object.spec.list[0]", "object.spec.x", "object.nothing.here"] {
            ObjectPath::parse(path).unwrap().1.remove(&mut target);
        }
        assert_eq!(target.to_string(), r#"{"spec":{"list":[2]}}"#);
    }

    #[test]
    fn patches_merge() {
        let mut target = value(r#"{"a":{"b":1,"c":2},"d":[1]}"#);
        merge(
            &mut target,
            value(r#"{"a":{"b":null,"e":{"f":null,"g":1}},"d":[2]}"#),
        );
        assert_eq!(target.to_string(), r#"{"a":{"c":2,"e":{"g":1}},"d":[2]}"#);
    }
}
