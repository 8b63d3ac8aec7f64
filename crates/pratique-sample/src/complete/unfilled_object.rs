//! Objects without a field that defaults fill in other objects: a Deployment of type `Recreate` has no
//! `strategy.rollingUpdate`. Which they are is found by defaulting.

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::{FieldPresence, Release, Shape, StructType, TypeId};
use pratique_types::GroupVersionKind;

use super::build::{FieldFacts, facts_below};
use super::named_fields::NamedFields;

/// An object in which defaults leave out a field that they fill in others.
pub(super) struct UnfilledObject {
    pub(super) object: Value<'static>,
    /// The field.
    pub(super) name: &'static str,
    /// The condition under which it is left out: `type is Recreate`; empty if that depends on other fields that are present.
    /// `None` if it is never filled.
    pub(super) condition: Option<String>,
}

/// The maximum depth; deeper types are recursive.
const MOST_DEPTH: usize = 14;

/// A step from a value to a part of it: a member, or the first element.
#[derive(Clone, Copy)]
enum PathStep {
    Member(&'static str),
    First,
}

/// A field that defaults fill, and the struct that has it.
struct FilledField {
    holder: Vec<PathStep>,
    of: &'static StructType,
    name: &'static str,
    /// All fields of the holder that are taken to be filled.
    defaults: Vec<&'static str>,
}

/// Objects without one of the fields that expressions name, made of a defaulted object.
pub(super) fn unfilled(
    objects: &ObjectCodec,
    kind: &GroupVersionKind,
    id: TypeId,
    whole: &Value<'static>,
    interest: &NamedFields,
) -> Vec<UnfilledObject> {
    // What another release than that of the defaults has is not defaulted.
    if !objects.has_kind(kind) {
        return Vec::new();
    }
    let release = objects.gates().release();
    let mut finder = FilledFieldFinder {
        release,
        interest,
        path: Vec::new(),
        filled: Vec::new(),
    };
    finder.visit(id, whole, &[]);
    let mut objects_without = Vec::new();
    for field in finder.filled {
        let left_out = |removed: &[&'static str], selected: Option<(&'static str, &'static str)>| {
            let mut object = whole.clone();
            let holder = part(&mut object, &field.holder)?;
            for name in removed {
                holder.remove(name);
            }
            if let Some((selector, value)) = selected {
                holder.insert(selector, value);
            }
            objects.default(kind, &mut object).ok()?;
            let is_filled = part(&mut object, &field.holder)?.contains_key(field.name);
            (!is_filled).then_some(object)
        };
        let name = field.name;
        let unfilled = |object, condition| UnfilledObject {
            object,
            name,
            condition,
        };
        if let Some(object) = left_out(&field.defaults, None) {
            objects_without.push(unfilled(object, None));
            continue;
        }
        let absent = left_out(&[name], None).map(|object| unfilled(object, Some(String::new())));
        let selected = selectors(release, field.of, name).filter_map(|(selector, value)| {
            let object = left_out(&[name], Some((selector, value)))?;
            Some(unfilled(object, Some(format!("{selector} is {value}"))))
        });
        objects_without.extend(absent.into_iter().chain(selected));
    }
    objects_without
}

/// The other fields of a type that take one of some texts, with each of these.
fn selectors(
    release: &'static Release,
    of: &'static StructType,
    name: &str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let constraints = release.constraints().for_type(of.name);
    let others = of.fields.iter().filter(move |field| field.name != name);
    others.flat_map(move |field| {
        constraints
            .values(field.name)
            .iter()
            .map(|value| (field.name, *value))
    })
}

/// Finds the fields that defaults fill and that expressions name.
struct FilledFieldFinder<'n> {
    release: &'static Release,
    interest: &'n NamedFields,
    /// The way to the value that is visited.
    path: Vec<PathStep>,
    filled: Vec<FilledField>,
}

impl FilledFieldFinder<'_> {
    /// Visits a value of a type and those in it. Recursion is safe: its depth is bounded.
    fn visit(&mut self, id: TypeId, value: &Value<'_>, inherited: &[(&'static str, FieldPresence)]) {
        let Value::Object(members) = value else { return };
        if self.path.len() > MOST_DEPTH {
            return;
        }
        let of = self.release.schema().get(id);
        let given = self.release.given().for_type(of.name);
        let facts: FieldFacts = given.iter().chain(inherited).copied().collect();
        let is_default = |name: &str| {
            let mut facts = facts.iter();
            facts.any(|(path, presence)| *path == name && matches!(presence, FieldPresence::Default(_)))
        };
        let names = of.fields.iter().map(|field| field.name);
        let defaults: Vec<&str> = names.filter(|name| is_default(name)).collect();
        for field in of.fields.iter() {
            let Some(member) = members.get(field.name) else {
                continue;
            };
            if !field.is_always() && self.interest.names(field.name) && defaults.contains(&field.name) {
                self.filled.push(FilledField {
                    holder: self.path.clone(),
                    of,
                    name: field.name,
                    defaults: defaults.clone(),
                });
            }
            let below = facts_below(&facts, field.name);
            self.path.push(PathStep::Member(field.name));
            match (&field.shape, member) {
                (Shape::Struct(id), member) => self.visit(*id, member, &below),
                (Shape::List(element), Value::Array(elements)) => {
                    if let (Shape::Struct(id), Some(first)) = (&**element, elements.iter().next()) {
                        self.path.push(PathStep::First);
                        self.visit(*id, first, &below);
                        self.path.pop();
                    }
                }
                _ => {}
            }
            self.path.pop();
        }
    }
}

/// The members of a part of an object.
fn part<'o>(
    object: &'o mut Value<'static>,
    path: &[PathStep],
) -> Option<&'o mut pratique_json::Object<'static>> {
    let mut at = object;
    for step in path {
        at = match (step, at) {
            (PathStep::Member(name), Value::Object(members)) => members.get_mut(name)?,
            (PathStep::First, Value::Array(elements)) => elements.first_mut()?,
            _ => return None,
        };
    }
    match at {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::complete::build::{CompleteSpec, OptionalFill, SelectedMetadata, build};
    use crate::complete::required_constants::RequiredConstants;

    /// Which fields of served kinds these are.
    #[test]
    fn fields_that_defaults_fill_in_some_objects() {
        let objects = ObjectCodec::with_placeholder("2025-01-01T00:00:00Z");
        let everything = NamedFields::everything();
        let selected = SelectedMetadata::default();
        let spec = CompleteSpec {
            release: Release::latest(),
            interest: &everything,
            fill: OptionalFill::Towards(&[]),
            without: None,
            round: 0,
            quantity: "1",
            selected: &selected,
            required: &RequiredConstants::default(),
            namespaced: true,
        };
        let mut found = BTreeSet::new();
        for served in Release::latest().resources().served() {
            let kind = &served.kind;
            let Some(id) = Release::latest().schema().kind(kind) else {
                continue;
            };
            let mut object = build(id, &kind.api_version(), &kind.kind, &spec).object;
            if objects.default(kind, &mut object).is_ok() {
                for UnfilledObject { name, condition, .. } in
                    unfilled(&objects, kind, id, &object, &everything)
                {
                    let version = kind.api_version();
                    let condition = condition.as_deref().unwrap_or("never");
                    found.insert(format!("{version} {} {name}: {condition}", kind.kind));
                }
            }
        }
        let found: Vec<String> = found.into_iter().collect();
        assert_eq!(found, EXPECTED);
    }

    const EXPECTED: &[&str] = &[
        "apps/v1 DaemonSet rollingUpdate: type is OnDelete",
        "apps/v1 Deployment rollingUpdate: type is Recreate",
        "apps/v1 StatefulSet rollingUpdate: ",
        "apps/v1 StatefulSet rollingUpdate: type is OnDelete",
        "apps/v1 StatefulSet rollingUpdate: type is Recreate",
        "apps/v1 StatefulSet rollingUpdate: type is RollingUpdate",
        "v1 ConfigMap data: never",
    ];
}
