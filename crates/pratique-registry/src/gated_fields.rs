//! Fields behind feature gates that are off: an object does not get them, unless it had them before.

use pratique_json::{Object, Value};
use pratique_schema::FeatureGates;
use pratique_types::field;

use crate::edited_object::{EditTarget, EditedObject};
use crate::object::{self, FieldPath};

/// A field that is dropped without a word, as its feature is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatedDrop {
    /// The field, as a server writes paths: `spec.volumes[0].emptyDir.mode`.
    pub path: String,
    /// The feature gate.
    pub gate: &'static str,
}

/// Drops fields behind gates that are off, and remembers which.
#[derive(Debug)]
pub(crate) struct FieldDropper {
    pub(crate) gates: FeatureGates,
    pub(crate) dropped: Vec<GatedDrop>,
    /// The paths of empty lists that were dropped, of which nobody misses anything.
    pub(crate) dropped_empty: Vec<String>,
}

/// The fields of one feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatedFields {
    /// The feature gate.
    pub(crate) gate: &'static str,
    /// The fields.
    pub(crate) fields: &'static [FieldPattern],
    /// Whether the feature outlives its gate: a release without the gate has the fields.
    pub(crate) outlives_gate: bool,
}

impl GatedFields {
    /// Fields behind a gate.
    pub(crate) const fn new(gate: &'static str, fields: &'static [FieldPattern]) -> Self {
        GatedFields {
            gate,
            fields,
            outlives_gate: false,
        }
    }

    /// Fields of a feature that is stable in the latest release, and was off by default before.
    pub(crate) const fn graduated(gate: &'static str, fields: &'static [FieldPattern]) -> Self {
        GatedFields {
            gate,
            fields,
            outlives_gate: true,
        }
    }
}

/// Names of fields from the outermost on: `*` stands for all elements of a list or values of a map, `a|b` for both fields, `a>b` for
/// the first of them that is there.
pub(crate) type FieldPattern = &'static [&'static str];

impl FieldDropper {
    /// Drops nothing yet.
    pub(crate) fn new(gates: FeatureGates) -> Self {
        FieldDropper {
            gates,
            dropped: Vec::new(),
            dropped_empty: Vec::new(),
        }
    }

    /// Whether a feature is on, or a release has it without its gate, as one that is stable in the latest release.
    pub(crate) fn is_on_or_graduated(&self, gate: &str) -> bool {
        self.gates.is_on(gate) || self.gates.release().gates().get(gate).is_none()
    }

    /// Drops the fields of a feature that is off from a part of a new object, which is at `place`, unless the old one uses one of
    /// them.
    pub(crate) fn drop_unused<'v>(
        &mut self,
        (object, place): (&mut impl EditTarget<'v>, FieldPath<'_>),
        old: Option<&Value<'_>>,
        feature: GatedFields,
    ) {
        let is_used = |old| feature.fields.iter().any(|pattern| has_any(old, pattern));
        let is_on = if feature.outlives_gate {
            self.is_on_or_graduated(feature.gate)
        } else {
            self.gates.is_on(feature.gate)
        };
        if is_on || old.is_some_and(is_used) {
            return;
        }
        let (drops, empty_lists) = (&mut self.dropped, &mut self.dropped_empty);
        let mut remember = |path: &field::Path<'_>, value: &Value<'_>| {
            if value.is_null() {
                return;
            }
            let drop = GatedDrop::new(feature.gate, place, path);
            if is_unset(value) {
                empty_lists.push(drop.path);
            } else {
                drops.push(drop);
            }
        };
        for pattern in feature.fields {
            // The first name of a pattern of a whole object is one name.
            drop_all(
                object.edit(pattern.first().copied()),
                pattern,
                &field::Path::ROOT,
                &mut remember,
            );
        }
    }

    /// Drops a field of a gate that is off, unless the old object has it.
    pub(crate) fn drop_field(
        &mut self,
        object: &mut EditedObject<'_>,
        old: Option<&Value<'_>>,
        gate: &'static str,
        path: FieldPath<'_>,
    ) {
        if self.gates.is_on(gate) || old.is_some_and(|old| object::has(old, path)) {
            return;
        }
        if object::remove(object, path).is_some_and(|value| !is_unset(&value)) {
            let path = path.join(".");
            self.dropped.push(GatedDrop { path, gate });
        }
    }
}

impl GatedDrop {
    /// A field below a place in an object.
    pub(crate) fn new(gate: &'static str, place: FieldPath<'_>, path: &field::Path<'_>) -> Self {
        let separator = if place.is_empty() { "" } else { "." };
        GatedDrop {
            path: format!("{}{separator}{path}", place.join(".")),
            gate,
        }
    }
}

/// The fields of several features: most objects have none of them, as one look at each tells.
// Row `validate-all` of `benches/`: a look for each feature takes twenty times as long.
#[derive(Debug, Default)]
pub(crate) struct FieldTree {
    /// With the names of the fields.
    members: Vec<(&'static str, FieldTree)>,
    /// All elements of a list, or values of a map.
    each: Option<Box<FieldTree>>,
    /// Whether a pattern ends here.
    is_field: bool,
}

impl FieldTree {
    /// Takes the fields of features.
    pub(crate) fn new(features: &[GatedFields]) -> Self {
        let mut tree = FieldTree::default();
        for pattern in features.iter().flat_map(|feature| feature.fields) {
            tree.add(pattern);
        }
        tree
    }

    /// Recursion follows the pattern.
    fn add(&mut self, pattern: &[&'static str]) {
        match pattern.split_first() {
            None => self.is_field = true,
            Some((&"*", rest)) => self.each.get_or_insert_default().add(rest),
            Some((names, rest)) => {
                for name in names.split(['|', '>']) {
                    match self.members.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, member)) => member.add(rest),
                        None => {
                            let mut member = FieldTree::default();
                            member.add(rest);
                            self.members.push((name, member));
                        }
                    }
                }
            }
        }
    }

    /// Whether a value has one of the fields, or perhaps has. Recursion follows the patterns.
    pub(crate) fn may_be_in(&self, value: &Value<'_>) -> bool {
        let is_in_each = |member| self.each.as_ref().is_some_and(|each| each.may_be_in(member));
        match value {
            _ if self.is_field => true,
            Value::Array(elements) => elements.iter().any(is_in_each),
            Value::Object(members) => {
                let mut fields = self.members.iter();
                fields.any(|(name, field)| members.get(name).is_some_and(|member| field.may_be_in(member)))
                    || (self.each.is_some() && members.iter().any(|(_, member)| is_in_each(member)))
            }
            _ => false,
        }
    }
}

/// Whether a field is there. Recursion follows the pattern.
fn has_any(value: &Value<'_>, pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return !is_unset(value);
    };
    match (*first, value) {
        ("*", Value::Array(elements)) => elements.iter().any(|element| has_any(element, rest)),
        ("*", Value::Object(members)) => members.iter().any(|(_, member)| has_any(member, rest)),
        (names, Value::Object(members)) => {
            let mut members = all_names(names, members).filter_map(|name| members.get(name));
            members.any(|member| has_any(member, rest))
        }
        _ => false,
    }
}

/// The names of the fields of an object that a part of a pattern stands for.
fn all_names<'p>(names: &'p str, members: &Object<'_>) -> impl Iterator<Item = &'p str> + use<'p> {
    let is_there = |name: &&str| members.get(name).is_some_and(|member| !member.is_null());
    let (all, first) = if names.contains('>') {
        (None, names.split('>').find(is_there))
    } else {
        (Some(names.split('|')), None)
    };
    all.into_iter().flatten().chain(first)
}

/// Lists count by their length.
fn is_unset(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

/// Removes a field everywhere, and tells where it was there. Recursion follows the pattern.
fn drop_all(
    value: &mut Value<'_>,
    pattern: &[&str],
    path: &field::Path<'_>,
    tell: &mut dyn FnMut(&field::Path<'_>, &Value<'_>),
) {
    let Some((first, rest)) = pattern.split_first() else {
        return;
    };
    match (*first, value) {
        ("*", Value::Array(elements)) => {
            for (index, element) in elements.iter_mut().enumerate() {
                drop_all(element, rest, &path.index(index), tell);
            }
        }
        ("*", Value::Object(members)) => {
            for (key, member) in members.iter_mut() {
                drop_all(member, rest, &path.key(key), tell);
            }
        }
        (names, Value::Object(members)) => {
            for name in all_names(names, members) {
                let path = path.child(name);
                if rest.is_empty() {
                    if let Some(member) = members.remove(name) {
                        tell(&path, &member);
                    }
                } else if let Some(member) = members.get_mut(name) {
                    drop_all(member, rest, &path, tell);
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
    fn check(old: Option<&str>, expected: &str, paths: &[&str]) {
        const FEATURE: GatedFields = GatedFields::new("EmptyDirVolumeMode", &[&["a|b", "*", "c"], &["d"]]);
        let mut object = read(r#"{"a":[{"c":1,"x":1},{}],"b":{"k":{"c":{}}},"d":[1]}"#);
        let mut kept = object.clone();
        let mut dropper = FieldDropper::new(FeatureGates::default());
        dropper.drop_unused((&mut object, &["spec"]), old.map(read).as_ref(), FEATURE);
        assert_eq!(object.to_string(), expected, "{old:?}");
        let dropped: Vec<&str> = dropper.dropped.iter().map(|drop| drop.path.as_str()).collect();
        assert_eq!(dropped, paths, "{old:?}");
        let mut dropper = FieldDropper::new(FeatureGates::default().with(FEATURE.gate, true));
        let unchanged = kept.to_string();
        dropper.drop_unused((&mut kept, &["spec"]), old.map(read).as_ref(), FEATURE);
        assert_eq!(
            (kept.to_string(), dropper.dropped),
            (unchanged, Vec::new()),
            "{old:?}"
        );
    }

    #[test]
    fn the_first_that_is_there_counts() {
        const FEATURE: GatedFields = GatedFields::new("EmptyDirVolumeMode", &[&["*", "a>b>c", "x"]]);
        let cases = [
            (r#"[{"a":{"x":1},"b":{"x":1}}]"#, r#"[{"a":{},"b":{"x":1}}]"#),
            (r#"[{"a":{},"b":{"x":1}}]"#, r#"[{"a":{},"b":{"x":1}}]"#),
            (r#"[{"a":null,"b":{"x":1}}]"#, r#"[{"a":null,"b":{}}]"#),
            (r#"[{"c":{"x":1}},{}]"#, r#"[{"c":{}},{}]"#),
        ];
        for (text, expected) in cases {
            let mut object = read(text);
            let mut dropper = FieldDropper::new(FeatureGates::default());
            dropper.drop_unused((&mut object, &[]), None, FEATURE);
            assert_eq!(object.to_string(), expected, "{text}");
            // What is used is seen in the same places.
            let mut object = read(text);
            let mut dropper = FieldDropper::new(FeatureGates::default());
            let old = read(text);
            dropper.drop_unused((&mut object, &[]), Some(&old), FEATURE);
            assert_eq!(object, old, "{text}");
        }
        let unused = read(r#"[{"a":{},"b":{"x":1}}]"#);
        let mut object = read(r#"[{"b":{"x":1}}]"#);
        let mut dropper = FieldDropper::new(FeatureGates::default());
        dropper.drop_unused((&mut object, &[]), Some(&unused), FEATURE);
        assert_eq!(object.to_string(), r#"[{"b":{}}]"#);
    }

    #[test]
    fn one_look_tells_where_there_is_none() {
        const FEATURES: [GatedFields; 3] = [
            GatedFields::new("A", &[&["a|b", "*", "c"], &["d"]]),
            GatedFields::new("B", &[&["a", "*", "e>f", "g"]]),
            GatedFields::new("C", &[&["a", "h"]]),
        ];
        let tree = FieldTree::new(&FEATURES);
        for (text, expected) in [
            (r#"{"a":[{"x":1,"d":1},{}],"b":{"k":{}},"c":1}"#, false),
            (r#"{"a":[{},{"c":null}]}"#, true),
            (r#"{"b":{"k":{"c":1}}}"#, true),
            (r#"{"b":{"k":{"e":{"g":1}}}}"#, false),
            (r#"{"a":[{"f":{"g":1}}]}"#, true),
            (r#"{"a":{"h":[]}}"#, true),
            (r#"{"d":0}"#, true),
            ("[]", false),
            ("1", false),
        ] {
            assert_eq!(tree.may_be_in(&read(text)), expected, "{text}");
        }
    }

    #[test]
    fn fields_stay_where_they_were_used() {
        let dropped = r#"{"a":[{"x":1},{}],"b":{"k":{}}}"#;
        let kept = r#"{"a":[{"c":1,"x":1},{}],"b":{"k":{"c":{}}},"d":[1]}"#;
        let paths = ["spec.a[0].c", "spec.b[k].c", "spec.d"];
        check(None, dropped, &paths);
        check(Some(r#"{"a":[{}],"d":[]}"#), dropped, &paths);
        check(Some(r#"{"b":{"k":{"c":null}}}"#), dropped, &paths);
        check(Some(r#"{"b":{"k":{"c":0}}}"#), kept, &[]);
        check(Some(r#"{"d":[1]}"#), kept, &[]);
    }
}
