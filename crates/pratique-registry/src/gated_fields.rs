//! Fields behind feature gates that are off: an object does not get them, unless it had them before.

use pratique_json::Value;
use pratique_schema::FeatureGates;

use crate::object;

/// The fields of one feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatedFields {
    /// The feature gate.
    pub(crate) gate: &'static str,
    /// The fields.
    pub(crate) fields: &'static [FieldPattern],
}

impl GatedFields {
    /// Fields behind a gate.
    pub(crate) const fn new(gate: &'static str, fields: &'static [FieldPattern]) -> Self {
        GatedFields { gate, fields }
    }
}

/// Names of fields from the outermost on: `*` stands for all elements of a list or values of a map, `a|b` for both fields.
pub(crate) type FieldPattern = &'static [&'static str];

/// Drops the fields of a feature that is off from a new object, unless the old one uses one of them.
pub(crate) fn drop_unused(
    object: &mut Value<'static>,
    old: Option<&Value<'static>>,
    feature: GatedFields,
    gates: FeatureGates,
) {
    let is_used = |old| feature.fields.iter().any(|pattern| has_any(old, pattern));
    if !gates.is_on(feature.gate) && !old.is_some_and(is_used) {
        for pattern in feature.fields {
            drop_all(object, pattern);
        }
    }
}

/// Whether a field is there. Recursion follows the pattern.
fn has_any(value: &Value<'static>, pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return !is_unset(value);
    };
    match (*first, value) {
        ("*", Value::Array(elements)) => elements.iter().any(|element| has_any(element, rest)),
        ("*", Value::Object(members)) => members.iter().any(|(_, member)| has_any(member, rest)),
        (names, Value::Object(members)) => names
            .split('|')
            .filter_map(|name| members.get(name))
            .any(|member| has_any(member, rest)),
        _ => false,
    }
}

/// Lists count by their length.
fn is_unset(value: &Value<'static>) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

/// Removes a field everywhere. Recursion follows the pattern.
fn drop_all(value: &mut Value<'static>, pattern: &[&str]) {
    let Some((first, rest)) = pattern.split_first() else {
        return;
    };
    match (*first, value) {
        ("*", Value::Array(elements)) => {
            for element in elements {
                drop_all(element, rest);
            }
        }
        ("*", Value::Object(members)) => {
            for member in members.values_mut() {
                drop_all(member, rest);
            }
        }
        (names, value @ Value::Object(_)) => {
            for name in names.split('|') {
                if rest.is_empty() {
                    object::remove(value, &[name]);
                } else if let Some(member) = value.get_mut(name) {
                    drop_all(member, rest);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value<'static> {
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[track_caller]
    fn check(old: Option<&str>, expected: &str) {
        const FEATURE: GatedFields = GatedFields::new("EmptyDirVolumeMode", &[&["a|b", "*", "c"], &["d"]]);
        let mut object = read(r#"{"a":[{"c":1,"x":1},{}],"b":{"k":{"c":{}}},"d":[1]}"#);
        let mut kept = object.clone();
        drop_unused(
            &mut object,
            old.map(read).as_ref(),
            FEATURE,
            FeatureGates::default(),
        );
        assert_eq!(object.to_string(), expected, "{old:?}");
        let gates = FeatureGates::default().with(FEATURE.gate, true);
        let unchanged = kept.to_string();
        drop_unused(&mut kept, old.map(read).as_ref(), FEATURE, gates);
        assert_eq!(kept.to_string(), unchanged, "{old:?}");
    }

    #[test]
    fn fields_stay_where_they_were_used() {
        let dropped = r#"{"a":[{"x":1},{}],"b":{"k":{}}}"#;
        let kept = r#"{"a":[{"c":1,"x":1},{}],"b":{"k":{"c":{}}},"d":[1]}"#;
        check(None, dropped);
        check(Some(r#"{"a":[{}],"d":[]}"#), dropped);
        check(Some(r#"{"b":{"k":{"c":null}}}"#), dropped);
        check(Some(r#"{"b":{"k":{"c":0}}}"#), kept);
        check(Some(r#"{"d":[1]}"#), kept);
    }
}
