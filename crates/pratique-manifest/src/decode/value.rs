//! The JSON of a value as a typed object is made of it: without what is unknown, empty or of the wrong type.

use pratique_json::base64;
use pratique_schema::{Field, Presence, Scalar, Schema, Shape, TypeId};
use serde_json::{Map, Value as Json};

use crate::time;
use crate::tree::{Entry, NodeId, Tree, TreeValue};

/// How fields are decoded that hold any JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawDecoding {
    Kept,
    /// They are decoded by themselves, or not at all.
    LeftOut,
}

/// The JSON of a value of a type; null for values that are no objects.
pub(super) fn json(schema: &'static Schema, tree: &Tree, id: NodeId, of: TypeId, raw: RawDecoding) -> Json {
    let builder = ValueBuilder { tree, schema, raw };
    builder.value(id, &Shape::Struct(of)).unwrap_or(Json::Null)
}

struct ValueBuilder<'t> {
    tree: &'t Tree,
    schema: &'static Schema,
    raw: RawDecoding,
}

impl ValueBuilder<'_> {
    /// The JSON of a value; `None` for null and for values that do not fit.
    fn value(&self, id: NodeId, shape: &Shape) -> Option<Json> {
        match (shape, &self.tree.get(id).value) {
            (_, TreeValue::Null) => None,
            (Shape::Struct(of), TreeValue::Map(entries)) => Some(Json::Object(self.object(*of, entries))),
            (Shape::Map(item), TreeValue::Map(entries)) => Some(Json::Object(self.map(item, entries))),
            (Shape::List(item), TreeValue::List(items)) => Some(Json::Array(self.list(item, items))),
            (Shape::Scalar(scalar), value) => self.scalar(*scalar, id, value),
            _ => None,
        }
    }

    fn object(&self, of: TypeId, entries: &[Entry]) -> Map<String, Json> {
        let of = self.schema.get(of);
        let mut object = Map::new();
        for entry in entries {
            if let Some(field) = of.field(&entry.key) {
                self.put(&mut object, field, self.value(entry.value, &field.shape));
            }
        }
        for field in of.fields.always() {
            if !object.contains_key(field.name) {
                object.extend(self.absent(field).map(|zero| (field.name.to_owned(), zero)));
            }
        }
        object
    }

    /// Sets a field as the server would write it.
    fn put(&self, object: &mut Map<String, Json>, field: &Field, value: Option<Json>) {
        let value = match field.presence {
            Presence::UnlessEmpty => value.filter(|value| !is_empty(value)),
            Presence::UnlessNull => value,
            Presence::Always | Presence::Nullable => value.or_else(|| self.absent(field)),
        };
        match value {
            Some(value) => object.insert(field.name.to_owned(), value),
            None => object.remove(field.name),
        };
    }

    fn map(&self, item: &Shape, entries: &[Entry]) -> Map<String, Json> {
        let entry = |entry: &Entry| {
            let value = self.value(entry.value, item);
            (String::from(&*entry.key), value.unwrap_or_else(|| "".into()))
        };
        entries.iter().map(entry).collect()
    }

    fn list(&self, item: &Shape, items: &[NodeId]) -> Vec<Json> {
        let item = |id: &NodeId| {
            let value = self.value(*id, item).or_else(|| self.zero(item));
            value.unwrap_or(Json::Null)
        };
        items.iter().map(item).collect()
    }

    fn scalar(&self, scalar: Scalar, id: NodeId, value: &TreeValue) -> Option<Json> {
        match (scalar, value) {
            (Scalar::Json, _) if self.raw == RawDecoding::Kept => crate::parse::compact(self.tree, id),
            (Scalar::String, TreeValue::String(text, _)) => Some((**text).into()),
            // The text without quotes was probably meant.
            (Scalar::String, TreeValue::Bool(value)) => Some(value.to_string().into()),
            (Scalar::String, TreeValue::Number(text)) => Some((**text).into()),
            (Scalar::Bool, TreeValue::Bool(value)) => Some((*value).into()),
            (Scalar::Int32, TreeValue::Number(text)) => text.parse::<i32>().ok().map(Json::from),
            (Scalar::Int64, TreeValue::Number(text)) => text.parse::<i64>().ok().map(Json::from),
            (Scalar::Bytes, TreeValue::String(text, _)) => {
                let bytes = base64::decode(text).ok()?;
                Some(base64::encode(&bytes).into())
            }
            (Scalar::Bytes, TreeValue::List(items)) => Some(base64::encode(&self.bytes(items)).into()),
            (Scalar::Time, TreeValue::String(text, _)) => time::canonical(text).ok()?.map(Json::from),
            _ => None,
        }
    }

    /// Bytes may also be given as a list of numbers.
    fn bytes(&self, items: &[NodeId]) -> Vec<u8> {
        let byte = |id: &NodeId| match &self.tree.get(*id).value {
            TreeValue::Null => Some(0),
            TreeValue::Number(text) => text.parse().ok(),
            _ => None,
        };
        items.iter().filter_map(byte).collect()
    }

    /// The value of a field that is always there.
    fn absent(&self, field: &Field) -> Option<Json> {
        match field.presence {
            Presence::Always => self.zero(&field.shape),
            _ => None,
        }
    }

    /// A type's value where none is given. Lists and times have none.
    fn zero(&self, shape: &Shape) -> Option<Json> {
        match shape {
            Shape::Scalar(Scalar::String) => Some("".into()),
            Shape::Scalar(Scalar::Bool) => Some(false.into()),
            Shape::Scalar(Scalar::Int32 | Scalar::Int64) => Some(0.into()),
            Shape::Struct(of) => {
                let fields = self.schema.get(*of).fields.always();
                let fields = fields.filter_map(|field| Some((field.name.to_owned(), self.absent(field)?)));
                Some(Json::Object(fields.collect()))
            }
            Shape::Scalar(_) | Shape::Map(_) | Shape::List(_) => None,
        }
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
    }
}
