//! Grows a list, map or string of an object.

use pratique_json::Value;
use pratique_schema::{Release, Scalar, Shape};
use pratique_types::GroupVersionKind;

use crate::generate;
use crate::reads::ReadStep;
use crate::scalar;

/// A part of a kind's objects that can grow.
#[derive(Clone, Debug)]
pub(crate) struct GrowablePlace {
    path: Vec<ReadStep>,
    kind: GrowableKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrowableKind {
    /// A list, with its map keys.
    List(Option<&'static [&'static str]>),
    Map,
    Text,
}

impl GrowablePlace {
    /// The part at a path; `None` if the schema has none, or it cannot be large.
    pub(crate) fn new(release: &'static Release, kind: &GroupVersionKind, path: &[ReadStep]) -> Option<Self> {
        let schema = release.schema();
        let mut shape = Shape::Struct(schema.kind(kind)?);
        let mut parent = "";
        let mut field = "";
        for step in path {
            shape = match (&shape, step) {
                (Shape::Struct(id), ReadStep::Field(name)) => {
                    let of = schema.get(*id);
                    let known = of.field(name)?;
                    (parent, field) = (of.name, known.name);
                    known.shape.clone()
                }
                (Shape::Map(of), _) | (Shape::List(of), ReadStep::Item) => (**of).clone(),
                _ => return None,
            };
        }
        let constraints = release.constraints().for_type(parent);
        let kind = match shape {
            Shape::List(_) => GrowableKind::List(constraints.keys(field)),
            Shape::Map(_) => GrowableKind::Map,
            Shape::Scalar(Scalar::String)
                if scalar::longest(field, constraints.values(field)) > scalar::LONGEST_NAME =>
            {
                GrowableKind::Text
            }
            _ => return None,
        };
        // API servers accept only short names and few owner references.
        let is_bounded = parent == "meta/v1.ObjectMeta" && field == "ownerReferences";
        (!is_bounded).then(|| GrowablePlace {
            path: path.to_vec(),
            kind,
        })
    }

    /// Whether another part is inside this one.
    pub(crate) fn holds(&self, other: &GrowablePlace) -> bool {
        other.path.len() > self.path.len() && other.path.starts_with(&self.path)
    }

    /// Grows the part to a number of elements, entries or characters; false if the object does not have it.
    pub(crate) fn grow(&self, object: &mut Value<'static>, count: usize) -> bool {
        let Some(value) = first(object, &self.path) else {
            return false;
        };
        match (self.kind, value) {
            (GrowableKind::List(keys), Value::Array(elements)) => {
                let Some(model) = elements.first().cloned() else {
                    return false;
                };
                elements.truncate(1);
                elements.extend((1..count).map(|at| {
                    let mut element = model.clone();
                    if let Some(keys) = keys {
                        generate::number(&mut element, keys, at);
                    }
                    element
                }));
                true
            }
            (GrowableKind::Map, Value::Object(map)) => {
                let Some(model) = map.iter().next().map(|(_, value)| value.clone()) else {
                    return false;
                };
                let missing = count.saturating_sub(map.len());
                let entries = (0..missing).map(|at| (format!("k{at}").into(), model.clone()));
                let all: Vec<_> = map.clone().into_iter().chain(entries).collect();
                *map = all.into_iter().collect();
                true
            }
            (GrowableKind::Text, Value::String(text)) => {
                let missing = count.saturating_sub(text.len());
                text.to_mut().push_str(&"a".repeat(missing));
                true
            }
            _ => false,
        }
    }

    /// The approximate size of an element, entry or character of the part, in bytes.
    pub(crate) fn unit(&self, object: &Value<'_>) -> Option<usize> {
        // A comma, and the digits that make it distinct.
        const MORE: usize = 5;
        let value = get(object, &self.path)?;
        Some(match (self.kind, value) {
            (GrowableKind::List(_), Value::Array(elements)) => elements.first()?.to_string().len() + MORE,
            (GrowableKind::Map, Value::Object(map)) => map.iter().next()?.1.to_string().len() + MORE + 4,
            (GrowableKind::Text, Value::String(_)) => 1,
            _ => return None,
        })
    }

    /// Describes the part at a size: `480 items in spec.containers`.
    pub(crate) fn described(&self, count: usize) -> String {
        let path = path_text(&self.path);
        match self.kind {
            GrowableKind::List(_) => format!("{count} items in {path}"),
            GrowableKind::Map => format!("{count} entries in {path}"),
            GrowableKind::Text => format!("{count} characters in {path}"),
        }
    }

    /// The number of elements, entries or characters of the part.
    pub(crate) fn count(&self, object: &Value<'_>) -> usize {
        match get(object, &self.path) {
            Some(Value::Array(elements)) => elements.len(),
            Some(Value::Object(map)) => map.len(),
            Some(Value::String(text)) => text.chars().count(),
            _ => 0,
        }
    }
}

/// `spec.containers[].env`
fn path_text(path: &[ReadStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            ReadStep::Item => text.push_str("[]"),
            ReadStep::Field(name) if text.is_empty() => text.push_str(name),
            ReadStep::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
        }
    }
    text
}

/// The value at a path, in the first element of each list and the first entry of each map.
fn first<'v>(object: &'v mut Value<'static>, path: &[ReadStep]) -> Option<&'v mut Value<'static>> {
    path.iter().try_fold(object, |at, step| match (at, step) {
        (Value::Object(object), ReadStep::Field(name)) => object.get_mut(name),
        (Value::Object(object), ReadStep::Item) => object.values_mut().next(),
        (Value::Array(elements), ReadStep::Item) => elements.first_mut(),
        _ => None,
    })
}

fn get<'v, 'a>(object: &'v Value<'a>, path: &[ReadStep]) -> Option<&'v Value<'a>> {
    path.iter().try_fold(object, |at, step| match (at, step) {
        (Value::Object(object), ReadStep::Field(name)) => object.get(name),
        (Value::Object(object), ReadStep::Item) => object.iter().next().map(|(_, value)| value),
        (Value::Array(elements), ReadStep::Item) => elements.first(),
        _ => None,
    })
}
