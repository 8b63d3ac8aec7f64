//! Structured merge.

use arbitrary::Unstructured;
use pratique_json::{self as json, Object, Progress, Value};
use pratique_merge::structured_merge::{Patch, apply};
use pratique_schema::Release;
use pratique_schema::merge::{ListMerging, MergeSchema, MergeTypeId, ScalarKind};
use pratique_types::GroupVersionKind;

use crate::input::{self, InputForm};

/// Kinds with lists of all sorts.
const KINDS: [(&str, &str, &str); 6] = [
    ("", "v1", "Pod"),
    ("", "v1", "Service"),
    ("", "v1", "PersistentVolume"),
    ("apps", "v1", "Deployment"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"),
];

/// A kind, an object and a patch. A patch that is refused leaves the object as it was; one that was merged changes nothing
/// when it is merged again, and the result is of the kind's type as the object was.
pub fn merge(input: &[u8]) {
    let schema = Release::latest().merge_schema();
    match input::read(input, 3) {
        None => {}
        Some(InputForm::Text(parts)) => {
            let [kind, object, patch] = parts.as_slice() else {
                return;
            };
            let kind = std::str::from_utf8(kind).unwrap_or_default();
            let of = KINDS
                .iter()
                .find(|(_, _, name)| *name == kind.trim())
                .and_then(|of| id(schema, *of));
            if let (Some(of), Ok(object), Ok(patch)) = (of, json::parse(object), json::parse(patch)) {
                merged(schema, of, &object, &patch);
            }
        }
        Some(InputForm::Choices(mut choices)) => {
            let Some(of) = input::pick(&mut choices, &KINDS).and_then(|of| id(schema, of)) else {
                return;
            };
            let mut generator = ValueGenerator { schema, left: 200 };
            let object = generator.value(&mut choices, of, 8);
            let patch = generator.value(&mut choices, of, 8);
            merged(schema, of, &object, &patch);
        }
    }
}

fn id(schema: &MergeSchema, (group, version, kind): (&str, &str, &str)) -> Option<MergeTypeId> {
    schema.kind(&GroupVersionKind::new(group, version, kind)).ok()
}

fn merged(schema: &MergeSchema, of: MergeTypeId, object: &Value<'_>, patch: &Value<'_>) {
    let mut once = object.clone();
    match apply(
        schema,
        of,
        &mut once,
        Patch::from(patch.clone()),
        &Progress::unwatched(),
    ) {
        Ok(()) => {
            let mut twice = once.clone();
            let again = apply(
                schema,
                of,
                &mut twice,
                Patch::from(patch.clone()),
                &Progress::unwatched(),
            );
            assert_eq!(again, Ok(()), "{object} merged with {patch} is {once}");
            assert_eq!(twice, once, "{object} merged with {patch}");
        }
        Err(error) => {
            assert_eq!(&once, object, "{patch} was refused");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Makes values of a type, and sometimes of another.
struct ValueGenerator<'s> {
    schema: &'s MergeSchema,
    /// How many more values it makes.
    left: usize,
}

impl ValueGenerator<'_> {
    fn value(&mut self, choices: &mut Unstructured<'_>, of: MergeTypeId, depth: usize) -> Value<'static> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth == 0 || input::up_to(choices, 40) == 40 {
            return input::scalar(choices);
        }
        let of = self.schema.get(of);
        if let Some(map) = &of.map {
            let declared: Vec<(&str, MergeTypeId)> = map.fields().collect();
            let mut members = Object::new();
            for _ in 0..input::up_to(choices, 5) {
                if let Some((name, of)) = input::pick(choices, &declared) {
                    members.insert(name.to_owned(), self.value(choices, of, depth - 1));
                } else if let Some(of) = map.element {
                    members.insert(input::key(choices), self.value(choices, of, depth - 1));
                }
            }
            return Value::Object(members);
        }
        if let Some(list) = &of.list {
            let count = input::up_to(choices, 3);
            let mut elements: Vec<_> = (0..count)
                .map(|_| self.value(choices, list.element, depth - 1))
                .collect();
            if let ListMerging::Keyed(keys) = &list.merging {
                for element in &mut elements {
                    self.identify(
                        choices,
                        keys.iter().map(|key| key.name.as_str()),
                        list.element,
                        element,
                    );
                }
            }
            return Value::Array(elements);
        }
        match of.scalar {
            Some(ScalarKind::Boolean) => Value::Bool(input::up_to(choices, 1) == 1),
            Some(ScalarKind::Numeric) => Value::Int(input::pick(choices, &[80, 0, 81]).unwrap_or_default()),
            Some(ScalarKind::String) => {
                Value::from(input::pick(choices, &["a", "TCP", "b", ""]).unwrap_or_default())
            }
            _ => input::scalar(choices),
        }
    }

    /// Gives an element most of the fields that identify it.
    fn identify<'k>(
        &mut self,
        choices: &mut Unstructured<'_>,
        keys: impl Iterator<Item = &'k str>,
        of: MergeTypeId,
        element: &mut Value<'static>,
    ) {
        let (Value::Object(members), Some(map)) = (element, &self.schema.get(of).map) else {
            return;
        };
        for name in keys.filter(|_| input::up_to(choices, 6) < 6).collect::<Vec<_>>() {
            if let Some(of) = map.field(name) {
                members.insert(name.to_owned(), self.value(choices, of, 2));
            }
        }
    }
}
