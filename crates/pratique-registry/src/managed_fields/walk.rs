//! The fields of an object, and how two objects of a type differ in theirs.

use std::collections::BTreeMap;

use pratique_json::{Object, Value};
use pratique_schema::merge::{ListMerging, ListType, MapType, MergeSchema, MergeType, MergeTypeId};

use super::element;
use super::set::FieldSet;

/// A type as it applies to a value: the first of its alternatives that fits.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AtomType<'s> {
    Map(&'s MapType),
    Scalar,
    List(&'s ListType),
}

/// Which of its possibilities a type is for a value.
// Upstream: structured-merge-diff/typed/helpers.go, deduceAtom, handleAtom
pub(super) fn atom<'s>(of: &'s MergeType, value: Option<&Value<'_>>) -> Option<AtomType<'s>> {
    let deduced = match value {
        Some(Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) => {
            of.scalar.map(|_| AtomType::Scalar)
        }
        Some(Value::Array(_) | Value::NilArray) => of.list.as_ref().map(AtomType::List),
        Some(Value::Object(_)) => of.map.as_ref().map(AtomType::Map),
        Some(Value::Null) | None => None,
    };
    deduced
        .or(of.map.as_ref().map(AtomType::Map))
        .or(of.scalar.map(|_| AtomType::Scalar))
        .or(of.list.as_ref().map(AtomType::List))
}

/// How an object differs from another one.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectComparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl ObjectComparison {
    /// The differences outside of some fields.
    pub(super) fn without(&self, fields: &FieldSet) -> ObjectComparison {
        ObjectComparison {
            added: self.added.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            removed: self.removed.recursive_difference(fields),
        }
    }
}

/// Compares two objects of a type.
// Upstream: structured-merge-diff/typed/compare.go, compareWalker
pub(super) fn compare(
    schema: &MergeSchema,
    of: MergeTypeId,
    old: &Value<'_>,
    new: &Value<'_>,
) -> ObjectComparison {
    let mut walk = CompareWalk {
        schema,
        path: Vec::new(),
        comparison: ObjectComparison::default(),
    };
    walk.value(Some(of), Some(old), Some(new));
    walk.comparison
}

struct CompareWalk<'s> {
    schema: &'s MergeSchema,
    path: Vec<String>,
    comparison: ObjectComparison,
}

/// Recursion follows the nesting of the values, which their parser bounds.
impl CompareWalk<'_> {
    fn value(&mut self, of: Option<MergeTypeId>, old: Option<&Value<'_>>, new: Option<&Value<'_>>) {
        let mut leaf = false;
        if let Some(id) = of {
            let of = self.schema.get(id);
            let (old_atom, new_atom) = (atom(of, old), atom(of, new));
            if new.is_none() {
                leaf |= self.atom(old_atom, old, new);
            } else if old.is_none() || old_atom == new_atom {
                leaf |= self.atom(new_atom, old, new);
            } else {
                self.atom(old_atom, old, new);
                leaf |= self.atom(new_atom, old, new);
            }
        }
        if !leaf {
            match (old, new) {
                (None, _) => self.comparison.added.insert(&self.path),
                (_, None) => self.comparison.removed.insert(&self.path),
                _ => {}
            }
        }
    }

    /// Whether the value was compared as a whole.
    fn atom(&mut self, atom: Option<AtomType<'_>>, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> bool {
        match atom {
            Some(AtomType::Map(of)) => {
                let (old_members, new_members) =
                    (old.and_then(Value::as_object), new.and_then(Value::as_object));
                let empty =
                    old_members.is_none_or(Object::is_empty) && new_members.is_none_or(Object::is_empty);
                if of.atomic || empty {
                    return self.leaf(old, new);
                }
                self.members(of, old_members, new_members);
                false
            }
            Some(AtomType::List(of)) => {
                let (old_items, new_items) = (old.and_then(Value::as_array), new.and_then(Value::as_array));
                let is_empty = |list: Option<&[Value<'_>]>| list.is_none_or(<[_]>::is_empty);
                if of.merging == ListMerging::Atomic || is_empty(old_items) && is_empty(new_items) {
                    return self.leaf(old, new);
                }
                self.items(of, old_items.unwrap_or_default(), new_items.unwrap_or_default());
                false
            }
            Some(AtomType::Scalar) => self.leaf(old, new),
            None => false,
        }
    }

    fn leaf(&mut self, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> bool {
        match (old, new) {
            (None, _) => self.comparison.added.insert(&self.path),
            (_, None) => self.comparison.removed.insert(&self.path),
            (Some(old), Some(new)) if !is_same(old, new) => self.comparison.modified.insert(&self.path),
            _ => {}
        }
        true
    }

    fn members(&mut self, of: &MapType, old: Option<&Object<'_>>, new: Option<&Object<'_>>) {
        let names = |object: Option<&Object<'_>>| -> Vec<String> {
            let names = object.into_iter().flat_map(Object::iter);
            names.map(|(name, _)| name.to_owned()).collect()
        };
        let mut all = names(old);
        all.extend(names(new));
        all.sort();
        all.dedup();
        for name in all {
            let member = of.member(&name);
            let (old_member, new_member) = (
                old.and_then(|old| old.get(&name)),
                new.and_then(|new| new.get(&name)),
            );
            self.path.push(element::field(&name));
            self.value(member, old_member, new_member);
            self.path.pop();
        }
    }

    fn items(&mut self, of: &ListType, old: &[Value<'_>], new: &[Value<'_>]) {
        let (old_elements, new_elements) = (by_element(of, old), by_element(of, new));
        let elements: Vec<&String> = old_elements
            .keys()
            .chain(new_elements.keys().filter(|key| !old_elements.contains_key(*key)))
            .collect();
        for element in elements {
            let one = old_elements.get(element).map_or(&[][..], Vec::as_slice);
            let other = new_elements.get(element).map_or(&[][..], Vec::as_slice);
            self.path.push(element.clone());
            match (one, other) {
                ([] | [_], [] | [_]) => {
                    self.value(Some(of.element), one.first().copied(), other.first().copied());
                }
                ([_, _, ..], [_, _, ..]) => {
                    if one != other {
                        self.comparison.modified.insert(&self.path);
                    }
                }
                ([_, _, ..], _) => {
                    if let Some(new) = other.first() {
                        self.value(Some(of.element), None, Some(new));
                    }
                    self.comparison.removed.insert(&self.path);
                }
                (_, [_, _, ..]) => {
                    if let Some(old) = one.first() {
                        self.value(Some(of.element), Some(old), None);
                    }
                    self.comparison.added.insert(&self.path);
                }
            }
            self.path.pop();
        }
    }
}

/// Whether two values are the same; an integer may equal a float: a body may have `5.0` for a stored 5.
// Upstream: structured-merge-diff/value/value.go, EqualsUsing
fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Int(integer), Value::Float(float)) | (Value::Float(float), Value::Int(integer)) => {
            // As there, where an integer beyond 53 bits is rounded.
            *integer as f64 == *float
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has =
                |(name, value): (&str, &Value<'_>)| other.get(name).is_some_and(|of| is_same(value, of));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

/// The items of a list by their path elements. Those without one are left out.
fn by_element<'v, 'a>(of: &ListType, items: &'v [Value<'a>]) -> BTreeMap<String, Vec<&'v Value<'a>>> {
    let mut by_element: BTreeMap<String, Vec<&'v Value<'a>>> = BTreeMap::new();
    for item in items {
        if let Some(element) = element::of_item(of, item) {
            by_element.entry(element).or_default().push(item);
        }
    }
    by_element
}

/// All fields of an object of a type.
// Upstream: structured-merge-diff/typed/tofieldset.go, toFieldSetWalker
pub(super) fn fields(schema: &MergeSchema, of: MergeTypeId, object: &Value<'_>) -> FieldSet {
    let mut walk = FieldWalk {
        schema,
        path: Vec::new(),
        set: FieldSet::default(),
    };
    walk.value(Some(of), object);
    walk.set
}

struct FieldWalk<'s> {
    schema: &'s MergeSchema,
    path: Vec<String>,
    set: FieldSet,
}

impl FieldWalk<'_> {
    fn value(&mut self, of: Option<MergeTypeId>, value: &Value<'_>) {
        let Some(id) = of else {
            return;
        };
        match atom(self.schema.get(id), Some(value)) {
            Some(AtomType::Map(of)) if !of.atomic => {
                for (name, member) in value.as_object().into_iter().flat_map(Object::iter) {
                    self.path.push(element::field(name));
                    self.value(of.member(name), member);
                    let empty = member.is_null() || member.as_object().is_some_and(Object::is_empty);
                    if empty || of.field(name).is_none() {
                        self.set.insert(&self.path);
                    }
                    self.path.pop();
                }
            }
            Some(AtomType::List(of)) if of.merging != ListMerging::Atomic => {
                for (element, items) in by_element(of, value.as_array().unwrap_or_default()) {
                    self.path.push(element);
                    if let [item] = items.as_slice() {
                        self.value(Some(of.element), item);
                    }
                    self.set.insert(&self.path);
                    self.path.pop();
                }
            }
            Some(_) => self.set.insert(&self.path),
            None => {}
        }
    }
}

/// An object without the items and members of a set; `None` where nothing is left of a value.
// Upstream: structured-merge-diff/typed/remove.go, removingWalker
pub(super) fn remove(
    schema: &MergeSchema,
    of: Option<MergeTypeId>,
    value: &Value<'static>,
    fields: &FieldSet,
) -> Option<Value<'static>> {
    let atom = of.and_then(|id| atom(schema.get(id), Some(value)));
    match (atom, value) {
        (Some(AtomType::List(of)), Value::Array(items)) => {
            if of.merging == ListMerging::Atomic {
                return None;
            }
            let kept: Vec<Value<'static>> = items
                .iter()
                .filter_map(|item| {
                    let element = element::of_item(of, item)?;
                    if fields.has(&element) {
                        return None;
                    }
                    match fields.below(&element) {
                        Some(below) => {
                            Some(remove(schema, Some(of.element), item, below).unwrap_or_default())
                        }
                        None => Some(item.clone()),
                    }
                })
                .collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        (Some(AtomType::Map(of)), Value::Object(members)) => {
            if of.atomic {
                return None;
            }
            let mut kept = Object::new();
            for (name, member) in members.members() {
                let element = element::field(name);
                if fields.has(&element) {
                    continue;
                }
                let left = match fields.below(&element) {
                    Some(below) => remove(schema, of.member(name), member, below).unwrap_or_default(),
                    None => member.clone(),
                };
                kept.insert(name.clone(), left);
            }
            (!kept.is_empty()).then(|| kept.into())
        }
        _ => Some(value.clone()),
    }
}
