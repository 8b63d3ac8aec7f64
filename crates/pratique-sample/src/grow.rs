//! Making one list, map or text of an object large.

use pratique_json::Value;
use pratique_schema::{Constraints, Scalar, Schema, Shape};
use pratique_types::GroupVersionKind;

use crate::leaf;
use crate::make;
use crate::reads::Step;

/// A part of objects of a kind that can be large.
#[derive(Clone, Debug)]
pub(crate) struct Growable {
    way: Vec<Step>,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A list, with the fields that tell its elements apart.
    List(Option<&'static [&'static str]>),
    Map,
    Text,
}

impl Growable {
    /// The part at a way of steps; `None` where the schema has none, or none that can be large.
    pub(crate) fn new(kind: &GroupVersionKind, way: &[Step]) -> Option<Self> {
        let schema = Schema::builtin();
        let mut shape = Shape::Struct(schema.kind(kind)?);
        let mut parent = "";
        let mut field = "";
        for step in way {
            shape = match (&shape, step) {
                (Shape::Struct(id), Step::Field(name)) => {
                    let of = schema.get(*id);
                    let found = of.field(name)?;
                    (parent, field) = (of.name.as_str(), found.name);
                    found.shape.clone()
                }
                (Shape::Map(of), _) | (Shape::List(of), Step::Item) => (**of).clone(),
                _ => return None,
            };
        }
        let constraints = Constraints::builtin().of(parent);
        let what = match shape {
            Shape::List(_) => What::List(constraints.keys(field)),
            Shape::Map(_) => What::Map,
            Shape::Scalar(Scalar::String)
                if leaf::longest(field, constraints.values(field)) > leaf::LONGEST_NAME =>
            {
                What::Text
            }
            _ => return None,
        };
        // Servers take short names only, and few of what says who owns an object.
        let is_bounded = parent == "meta/v1.ObjectMeta" && field == "ownerReferences";
        (!is_bounded).then(|| Growable {
            way: way.to_vec(),
            what,
        })
    }

    /// Whether another part is a part of this one.
    pub(crate) fn holds(&self, other: &Growable) -> bool {
        other.way.len() > self.way.len() && other.way.starts_with(&self.way)
    }

    /// Grows the part where an object has it, to a number of elements, entries or characters.
    pub(crate) fn grow(&self, object: &mut Value<'static>, count: usize) -> bool {
        let Some(value) = first(object, &self.way) else {
            return false;
        };
        match (self.what, value) {
            (What::List(keys), Value::Array(elements)) => {
                let Some(model) = elements.first().cloned() else {
                    return false;
                };
                elements.truncate(1);
                elements.extend((1..count).map(|at| {
                    let mut element = model.clone();
                    if let Some(keys) = keys {
                        make::number(&mut element, keys, at);
                    }
                    element
                }));
                true
            }
            (What::Map, Value::Object(map)) => {
                let Some(model) = map.iter().next().map(|(_, value)| value.clone()) else {
                    return false;
                };
                let missing = count.saturating_sub(map.len());
                let entries = (0..missing).map(|at| (format!("k{at}").into(), model.clone()));
                let all: Vec<_> = map.clone().into_iter().chain(entries).collect();
                *map = all.into_iter().collect();
                true
            }
            (What::Text, Value::String(text)) => {
                let missing = count.saturating_sub(text.len());
                text.to_mut().push_str(&"a".repeat(missing));
                true
            }
            _ => false,
        }
    }

    /// About how many bytes an element, an entry or a character takes in an object.
    pub(crate) fn unit(&self, object: &Value<'_>) -> Option<usize> {
        // A comma, and the digits that tell it from others.
        const MORE: usize = 5;
        let value = get(object, &self.way)?;
        Some(match (self.what, value) {
            (What::List(_), Value::Array(elements)) => elements.first()?.to_string().len() + MORE,
            (What::Map, Value::Object(map)) => map.iter().next()?.1.to_string().len() + MORE + 4,
            (What::Text, Value::String(_)) => 1,
            _ => return None,
        })
    }

    /// What it is in words, at a size: `480 items in spec.containers`.
    pub(crate) fn described(&self, count: usize) -> String {
        let path = path_text(&self.way);
        match self.what {
            What::List(_) => format!("{count} items in {path}"),
            What::Map => format!("{count} entries in {path}"),
            What::Text => format!("{count} characters in {path}"),
        }
    }

    /// How many elements, entries or characters an object has there.
    pub(crate) fn count(&self, object: &Value<'_>) -> usize {
        match get(object, &self.way) {
            Some(Value::Array(elements)) => elements.len(),
            Some(Value::Object(map)) => map.len(),
            Some(Value::String(text)) => text.chars().count(),
            _ => 0,
        }
    }
}

/// `spec.containers[].env`
fn path_text(way: &[Step]) -> String {
    let mut text = String::new();
    for step in way {
        match step {
            Step::Item => text.push_str("[]"),
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
        }
    }
    text
}

/// The value at a way, in the first element of each list and the first entry of each map.
fn first<'v>(object: &'v mut Value<'static>, way: &[Step]) -> Option<&'v mut Value<'static>> {
    way.iter().try_fold(object, |at, step| match (at, step) {
        (Value::Object(object), Step::Field(name)) => object.get_mut(name),
        (Value::Object(object), Step::Item) => object.values_mut().next(),
        (Value::Array(elements), Step::Item) => elements.first_mut(),
        _ => None,
    })
}

fn get<'v, 'a>(object: &'v Value<'a>, way: &[Step]) -> Option<&'v Value<'a>> {
    way.iter().try_fold(object, |at, step| match (at, step) {
        (Value::Object(object), Step::Field(name)) => object.get(name),
        (Value::Object(object), Step::Item) => object.iter().next().map(|(_, value)| value),
        (Value::Array(elements), Step::Item) => elements.first(),
        _ => None,
    })
}
