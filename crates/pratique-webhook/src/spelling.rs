//! The spelling of the values that a patch tests.
//!
//! The reference compares strings and numbers as they are written: a document as an API server writes it (`<` is
//! `\u003c`, 0.50 is 0.5), a patch as the webhook wrote it. A tested value with another spelling is found only where the
//! same patch put it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use pratique_json::{Object, Value, escape_html, parse};
use serde_json::value::RawValue;

use crate::patch::OperationMembers;

/// Longer values are compared as they were decoded, because each of their levels would be scanned.
const LONGEST: usize = 64 * 1024;

/// The most bytes of values that are scanned in one patch, at each level again. Later values are compared as they were
/// decoded.
const MOST: usize = 8 * 1024 * 1024;

/// A value that no document has.
const UNMATCHABLE: Value<'static> = Value::Float(f64::INFINITY);

/// The values to look for in place of those that operations test, where their spelling matters.
pub(crate) fn tested(operations: &[Option<OperationMembers>]) -> Vec<Option<Value<'static>>> {
    let mut put = BTreeSet::new();
    let left = BytesLeft(Cell::new(MOST));
    let tested = operations.iter().map(|operation| {
        let members = operation.as_ref()?;
        let value = members
            .get("value")
            .filter(|value| value.get().len() <= LONGEST)?;
        if members.get("op").is_some_and(|op| op.get() == r#""test""#) {
            return looked_for(value, &put, 0, &left).ok();
        }
        leaves(value, &mut put, 0, &left);
        None
    });
    tested.collect()
}

/// How many bytes may still be scanned.
struct BytesLeft(Cell<usize>);

impl BytesLeft {
    /// Takes the bytes of a value from the budget; returns whether they sufficed.
    fn suffice(&self, value: &RawValue) -> bool {
        let rest = self.0.get().checked_sub(value.get().len());
        self.0.set(rest.unwrap_or_default());
        rest.is_some()
    }
}

/// A value in which everything that an API server would spell otherwise is made unmatchable.
fn looked_for(
    value: &RawValue,
    put: &BTreeSet<String>,
    depth: usize,
    left: &BytesLeft,
) -> Result<Value<'static>, ()> {
    let inside = |value: &RawValue| looked_for(value, put, depth + 1, left);
    if depth > pratique_json::MAX_DEPTH || !left.suffice(value) {
        return Err(());
    }
    match ValueShape::new(value) {
        ValueShape::Array(elements) => elements
            .iter()
            .map(|element| inside(element))
            .collect::<Result<Vec<_>, ()>>()
            .map(Value::Array),
        ValueShape::Object(members) => members
            .iter()
            .map(|(key, value)| Ok((key.clone().into(), inside(value)?)))
            .collect::<Result<Object<'_>, ()>>()
            .map(Value::Object),
        ValueShape::Leaf(text) => {
            let value = parse(text.as_bytes()).map_err(drop)?.into_owned();
            let written = value.to_string();
            let plain = escape_html(&written) == text || put.contains(text);
            Ok(if plain { value } else { UNMATCHABLE })
        }
    }
}

/// Notes how the leaves of a value are spelt.
fn leaves(value: &RawValue, put: &mut BTreeSet<String>, depth: usize, left: &BytesLeft) {
    if depth > pratique_json::MAX_DEPTH || !left.suffice(value) {
        return;
    }
    match ValueShape::new(value) {
        ValueShape::Array(elements) => elements
            .iter()
            .for_each(|element| leaves(element, put, depth + 1, left)),
        ValueShape::Object(members) => members
            .values()
            .for_each(|value| leaves(value, put, depth + 1, left)),
        ValueShape::Leaf(text) => drop(put.insert(text.to_owned())),
    }
}

/// A value, one level deep.
enum ValueShape<'r> {
    Array(Vec<Box<RawValue>>),
    Object(BTreeMap<String, Box<RawValue>>),
    Leaf(&'r str),
}

impl<'r> ValueShape<'r> {
    fn new(value: &'r RawValue) -> Self {
        let text = value.get();
        // A part of a document that was parsed can be parsed again.
        match text.as_bytes().first() {
            Some(b'[') => ValueShape::Array(serde_json::from_str(text).unwrap_or_default()),
            Some(b'{') => ValueShape::Object(serde_json::from_str(text).unwrap_or_default()),
            _ => ValueShape::Leaf(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::{Progress, parse};
    use pratique_schema::Release;

    use crate::patch;

    /// Whether a patch finds all that it tests.
    #[track_caller]
    fn check(operations: &str, expected: bool) {
        let document = r#"{"ratio":0.5,"count":3,"text":"é<&>","list":["a",{"x":1}],"empty":{}}"#;
        let operations = patch::decode(operations.as_bytes(), Release::latest()).unwrap();
        let patched = pratique_merge::json_patch::apply(
            parse(document.as_bytes()).unwrap(),
            &operations,
            &Progress::unwatched(),
        );
        assert_eq!(patched.is_ok(), expected, "{patched:?}");
    }

    #[track_caller]
    fn check_test(path: &str, value: &str, expected: bool) {
        check(
            &format!(r#"[{{"op":"test","path":"{path}","value":{value}}}]"#),
            expected,
        );
    }

    #[test]
    fn values_are_compared_as_they_are_written() {
        check_test("/ratio", "0.5", true);
        check_test("/ratio", "0.50", false);
        check_test("/ratio", "5e-1", false);
        check_test("/count", "3", true);
        check_test("/count", "3.0", false);
        check_test("/text", r#""é\u003c\u0026\u003e""#, true);
        check_test("/text", r#""é<&>""#, false);
        check_test("/text", r#""\u00e9\u003c\u0026\u003e""#, false);
        check_test("/list", r#"[ "a" , {"x": 1} ]"#, true);
        check_test("/list", r#"["a", {"x": 1.0}]"#, false);
        check_test("/empty", "{}", true);
        check_test("/none", "null", true);
    }

    #[test]
    fn deep_values_are_looked_at_within_bounds() {
        // Each level is read again: a gigabyte and more.
        let deep = format!("{}\"{}\"{}", "[".repeat(300), "x".repeat(50_000), "]".repeat(300));
        let add = format!(r#"{{"op":"add","path":"/new","value":{deep}}}"#);
        let test = r#"{"op":"test","path":"/count","value":3}"#;
        let operations = format!("[{}{test}]", format!("{add},").repeat(100));
        let began = std::time::Instant::now();
        check(&operations, true);
        // Values that are not scanned are compared as they were decoded.
        let spelt = r#"{"op":"test","path":"/ratio","value":0.50}"#;
        check(&format!("[{}{spelt}]", format!("{add},").repeat(100)), true);
        check(&format!("[{spelt}]"), false);
        assert!(began.elapsed().as_secs() < 300, "{:?}", began.elapsed());
    }

    #[test]
    fn what_a_patch_puts_it_finds() {
        let put = |value: &str, tested: &str| {
            format!(
                r#"[{{"op":"add","path":"/new","value":{value}}},{{"op":"test","path":"/new","value":{tested}}}]"#
            )
        };
        check(&put(r#"{"a":"<"}"#, r#"{"a":"<"}"#), true);
        check(&put("0.50", "0.50"), true);
        check(&put(r#""<""#, r#"">""#), false);
    }
}
