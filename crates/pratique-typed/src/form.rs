//! Objects in the form of their kind.
//!
//! Unknown fields are dropped, empty ones are left out or filled in, quantities and times have their
//! canonical form. An object that came from an API server has that form already; it is only checked, and not
//! copied.

mod scalar;
mod settle;

use std::borrow::Cow;
use std::cell::Cell;

use pratique_json::{Interrupted, Object, Progress, Value};
use pratique_schema::{Field, Presence, Release, Scalar, Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

use crate::settled_form::settled;

pub(crate) use scalar::canonical;
pub(crate) use settle::settle_fitting;
pub use settle::{
    SettledObject, settle_again, settle_edited, settle_in, settle_keeping_empty, settle_strict,
};

/// An object in the form of its kind in a release; `None` where it has that form, or where the release does not know the
/// kind.
///
/// # Errors
/// It was interrupted.
pub fn typed<'a>(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &'a Value<'a>,
    progress: &Progress<'_>,
) -> Result<Option<Value<'a>>, Interrupted> {
    let schema = release.schema();
    match schema.kind(kind) {
        Some(id) => typed_as(schema, id, object, progress),
        None => Ok(None),
    }
}

/// An object in the form of a type of a schema; `None` where it has that form.
///
/// # Errors
/// It was interrupted.
pub fn typed_as<'a>(
    schema: &'static Schema,
    id: TypeId,
    object: &'a Value<'a>,
    progress: &Progress<'_>,
) -> Result<Option<Value<'a>>, Interrupted> {
    let Some(object) = object.as_object() else {
        return Ok(None);
    };
    let typed = if settled(schema, id, object, progress) {
        None
    } else {
        FormTyping::new(schema, progress).structure(id, object)
    };
    progress.outcome().map(|()| typed)
}

/// Whether objects of a kind that have its form have it still once they were written and read again: whole numbers are
/// integers then.
pub fn keeps_form(release: &'static Release, kind: &GroupVersionKind) -> bool {
    let schema = release.schema();
    schema.kind(kind).is_some_and(|id| !schema.get(id).has_floats)
}

/// The type of the struct at a place in objects of a kind, by names and indices.
pub fn type_at(schema: &'static Schema, kind: &GroupVersionKind, path: &[String]) -> Option<TypeId> {
    let root = Shape::Struct(schema.kind(kind)?);
    let final_shape = path.iter().try_fold(&root, |shape, name| match shape {
        Shape::Struct(id) => Some(&schema.get(*id).field(name)?.shape),
        Shape::List(inner) | Shape::Map(inner) => Some(&**inner),
        Shape::Scalar(_) => None,
    });
    match final_shape {
        Some(Shape::Struct(id)) => Some(*id),
        _ => None,
    }
}

/// An object with other `apiVersion` and `kind`; `None` where it has these.
///
/// # Errors
/// It was interrupted.
pub fn named<'a>(
    kind: &'a GroupVersionKind,
    object: &'a Value<'a>,
    progress: &Progress<'_>,
) -> Result<Option<Value<'a>>, Interrupted> {
    let is_named = object.as_object().is_none_or(|members| is_named(kind, members));
    if is_named {
        return Ok(None);
    }
    let mut object = object.try_borrowed(progress)?;
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion", kind.api_version());
        members.insert("kind", kind.kind.as_str());
    }
    Ok(Some(object))
}

/// Whether an object has the `apiVersion` and `kind` of a kind.
pub(crate) fn is_named(kind: &GroupVersionKind, object: &Object<'_>) -> bool {
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    kind.is_of_version(text("apiVersion")) && text("kind") == kind.kind
}

/// A value that was written as JSON and read again: whole numbers are integers then, however they were written first.
/// `None` where nothing changes.
///
/// # Errors
/// It was interrupted.
pub fn reread<'a>(value: &'a Value<'a>, progress: &Progress<'_>) -> Result<Option<Value<'a>>, Interrupted> {
    let read = read_again(value, progress);
    progress.outcome().map(|()| read)
}

fn read_again<'a>(value: &'a Value<'a>, progress: &Progress<'_>) -> Option<Value<'a>> {
    let again = |value| read_again(value, progress);
    match value {
        Value::Float(_) => Some(value.rewritten("")).filter(|read| read.as_int().is_some()),
        Value::NilArray => Some(Value::Null),
        Value::Array(elements) if progress.nodes(elements.len()) => {
            let read = changes(elements.iter(), again)?;
            Some(Value::Array(or_old(elements.iter(), read).collect()))
        }
        Value::Object(object) if progress.nodes(object.len()) => {
            let values = || object.iter().map(|(_, value)| value);
            let read = changes(values(), again)?;
            let keys = object.iter().map(|(key, _)| Cow::Borrowed(key));
            Some(Value::Object(keys.zip(or_old(values(), read)).collect()))
        }
        _ => None,
    }
}

/// The values that change, in their places; `None` where all stay.
fn changes<'a>(
    values: impl ExactSizeIterator<Item = &'a Value<'a>>,
    change: impl Fn(&'a Value<'a>) -> Option<Value<'a>>,
) -> Option<Vec<Option<Value<'a>>>> {
    let count = values.len();
    let mut changed = Vec::new();
    for (at, value) in values.enumerate() {
        if let Some(value) = change(value) {
            changed.resize_with(at, || None);
            changed.push(Some(value));
        }
    }
    if changed.is_empty() {
        return None;
    }
    changed.resize_with(count, || None);
    Some(changed)
}

/// The new values, or where there is none the old ones.
fn or_old<'a>(
    old: impl Iterator<Item = &'a Value<'a>>,
    new: Vec<Option<Value<'a>>>,
) -> impl Iterator<Item = Value<'a>> {
    old.zip(new)
        .map(|(old, new)| new.unwrap_or_else(|| old.borrowed()))
}

/// Brings objects into the form of their type. Once its `progress` is interrupted, it leaves values as they
/// are.
struct FormTyping<'p> {
    schema: &'static Schema,
    progress: &'p Progress<'p>,
    /// Whether an empty list or map stayed that is left out where the object is written.
    kept_empty: Cell<bool>,
}

/// The change of a member.
enum MemberEdit<'a> {
    Keep,
    Drop,
    Replace(Value<'a>),
}

/// Recursion follows the nesting of the value, which the parser bounds, and of the schema's own structs.
impl<'p> FormTyping<'p> {
    fn new(schema: &'static Schema, progress: &'p Progress<'_>) -> Self {
        FormTyping {
            schema,
            progress,
            kept_empty: Cell::new(false),
        }
    }

    fn structure<'a>(&self, id: TypeId, object: &'a Object<'a>) -> Option<Value<'a>> {
        if !self.progress.nodes(object.len()) {
            return None;
        }
        let of = self.schema.get(id);
        let is_missing = |field: &&'static Field| !object.contains_key(field.name);
        let mut walk = of.fields.walk();
        let mut always = 0;
        let mut edits: Vec<MemberEdit<'a>> = Vec::new();
        for (at, (name, value)) in object.iter().enumerate() {
            let edit = match walk.field(name) {
                None => MemberEdit::Drop,
                Some(field) => {
                    always += usize::from(field.is_always());
                    self.field(field, value)
                }
            };
            if !matches!(edit, MemberEdit::Keep) {
                // Most objects have nothing to edit, and pay for no list of edits.
                edits.resize_with(at, || MemberEdit::Keep);
                edits.push(edit);
            }
        }
        if edits.is_empty() && always == of.fields.always_count() {
            return None;
        }
        edits.resize_with(object.len(), || MemberEdit::Keep);
        let missing = of.fields.always().filter(is_missing);
        let kept = object
            .iter()
            .zip(edits)
            .filter_map(|((name, value), edit)| match edit {
                MemberEdit::Keep => Some((Cow::Borrowed(name), value.borrowed())),
                MemberEdit::Drop => None,
                MemberEdit::Replace(value) => Some((Cow::Borrowed(name), value)),
            });
        let added = missing.map(|field| (Cow::Borrowed(field.name), self.absent(field)));
        Some(Value::Object(kept.chain(added).collect()))
    }

    fn field<'a>(&self, field: &'static Field, value: &'a Value<'a>) -> MemberEdit<'a> {
        match field.presence {
            Presence::UnlessNull if value.is_null() => return MemberEdit::Drop,
            Presence::UnlessEmpty if value.is_empty() => return MemberEdit::Drop,
            Presence::Nullable if value.is_null() => return MemberEdit::Keep,
            _ => {}
        }
        match self.value(&field.shape, value) {
            // The zero time is null now.
            Some(Value::Null) if field.presence == Presence::UnlessEmpty => MemberEdit::Drop,
            Some(value) => MemberEdit::Replace(value),
            None => MemberEdit::Keep,
        }
    }

    /// The value of a field that is always there.
    fn absent<'a>(&self, field: &'static Field) -> Value<'a> {
        match field.presence {
            Presence::Nullable => Value::Null,
            _ => self.zero(&field.shape),
        }
    }

    fn value<'a>(&self, shape: &'static Shape, value: &'a Value<'a>) -> Option<Value<'a>> {
        match (shape, value) {
            (Shape::Struct(id), Value::Object(object)) => self.structure(*id, object),
            (Shape::List(element), Value::Array(elements)) => {
                let edited = self.edited(element, elements.iter())?;
                Some(Value::Array(or_old(elements.iter(), edited).collect()))
            }
            (Shape::Map(of), Value::Object(object)) => {
                let values = || object.iter().map(|(_, value)| value);
                let edited = self.edited(of, values())?;
                let keys = object.iter().map(|(key, _)| Cow::Borrowed(key));
                Some(Value::Object(keys.zip(or_old(values(), edited)).collect()))
            }
            (Shape::Scalar(Scalar::Json | Scalar::Time | Scalar::MicroTime | Scalar::Bytes), Value::Null)
            | (Shape::List(_) | Shape::Map(_), Value::Null) => None,
            (shape, Value::Null) => Some(self.zero(shape)),
            (Shape::Scalar(scalar), value) => scalar::canonical(*scalar, value),
            // No API server would have taken it.
            _ => None,
        }
    }

    fn edited<'a>(
        &self,
        shape: &'static Shape,
        values: impl ExactSizeIterator<Item = &'a Value<'a>>,
    ) -> Option<Vec<Option<Value<'a>>>> {
        changes(values, |value| {
            if self.progress.nodes(1) {
                self.value(shape, value)
            } else {
                None
            }
        })
    }

    fn zero<'a>(&self, shape: &'static Shape) -> Value<'a> {
        match shape {
            Shape::Scalar(scalar) => scalar::zero(*scalar),
            Shape::Struct(id) => {
                let of = self.schema.get(*id);
                let always = of.fields.always();
                let members = always.map(|field| (Cow::Borrowed(field.name), self.absent(field)));
                Value::Object(members.collect())
            }
            Shape::List(_) | Shape::Map(_) => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, object: &str, expected: &str) {
        let kind = GroupVersionKind::new("", "v1", kind);
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let typed = typed(Release::latest(), &kind, &object, &Progress::unwatched()).unwrap();
        let text = typed.as_ref().unwrap_or(&object).to_string();
        assert_eq!(text, expected);
        let mut copy = object.clone();
        if let Value::Object(copy) = &mut copy {
            let schema = Release::latest().schema();
            settle_in(schema, schema.kind(&kind).unwrap(), copy, &Progress::unwatched());
        }
        assert_eq!(copy.to_string(), expected);
        // Once it has its form it keeps it.
        let again = pratique_json::parse(text.as_bytes()).unwrap();
        let typed = super::typed(Release::latest(), &kind, &again, &Progress::unwatched());
        assert_eq!(typed, Ok(None), "{text}");
    }

    #[test]
    fn structs_appear_and_empty_fields_vanish() {
        check(
            "Pod",
            "{}",
            r#"{"metadata":{},"spec":{"containers":null},"status":{}}"#,
        );
        check(
            "Pod",
            r#"{"metadata":{"labels":{},"frobs":1},"spec":{"hostNetwork":false,"automountServiceAccountToken":false,
                "containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":0}]}]},"status":null}"#,
            r#"{"metadata":{},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"a","ports":[{"containerPort":80}],"resources":{}}]},"status":{}}"#,
        );
        check(
            "Service",
            r#"{"spec":{"ports":[{"port":80}]}}"#,
            r#"{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":0}]},"status":{"loadBalancer":{}}}"#,
        );
    }

    #[test]
    fn scalars_get_their_canonical_form() {
        let with = |limits: &str| {
            format!(
                r#"{{"metadata":{{}},"spec":{{"containers":[{{"name":"a","resources":{{"limits":{limits}}}}}]}},"status":{{}}}}"#
            )
        };
        check(
            "Pod",
            &with(r#"{"cpu":"1000m","memory":"1.5Gi","x":2}"#),
            &with(r#"{"cpu":"1","memory":"1536Mi","x":"2"}"#),
        );
        check(
            "Namespace",
            r#"{"metadata":{"creationTimestamp":"2024-01-02T03:04:05.6+02:00"},"spec":{},"status":{}}"#,
            r#"{"metadata":{"creationTimestamp":"2024-01-02T01:04:05Z"},"spec":{},"status":{}}"#,
        );
    }

    #[test]
    fn whole_numbers_are_floats_where_the_type_says_so() {
        let kind = GroupVersionKind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let text = br#"{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"minimum":1}}}]}}"#;
        let object = pratique_json::parse(text).unwrap();
        let typed = typed(Release::latest(), &kind, &object, &Progress::unwatched())
            .unwrap()
            .unwrap();
        let version = &typed.at(&["spec", "versions"]).unwrap().as_array().unwrap()[0];
        let minimum = version.at(&["schema", "openAPIV3Schema", "minimum"]);
        assert_eq!(minimum, Some(&Value::Float(1.0)));
        let pod = GroupVersionKind::new("", "v1", "Pod");
        assert!(!keeps_form(Release::latest(), &kind) && keeps_form(Release::latest(), &pod));
    }

    #[test]
    fn fields_are_those_of_the_release() {
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let pod = br#"{"metadata":{},"spec":{"containers":null,"volumes":[{"emptyDir":{"mode":493},"name":"v"}]},"status":{}}"#;
        let pod = pratique_json::parse(pod).unwrap();
        let form = |version| {
            let release = Release::by_version(version).unwrap();
            let formed = typed(release, &kind, &pod, &Progress::unwatched()).unwrap();
            formed.map(|formed| formed.to_string().contains("mode"))
        };
        assert_eq!([form("1.37"), form("1.36")], [None, Some(false)]);
    }

    #[test]
    fn names_are_set() {
        let kind = GroupVersionKind::new("apps", "v1", "Deployment");
        let object =
            pratique_json::parse(br#"{"apiVersion":"extensions/v1beta1","kind":"Deployment"}"#).unwrap();
        let progress = Progress::unwatched();
        let named = super::named(&kind, &object, &progress).unwrap().unwrap();
        assert_eq!(
            named.to_string(),
            r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#
        );
        assert_eq!(super::named(&kind, &named, &progress), Ok(None));
    }
}
