//! Strict decoding: a value against its type, giving JSON without what is empty, or everything that does not fit.

pub(crate) mod failures;
mod help;
pub(crate) mod registry;
mod scalar;

use std::collections::HashSet;

use pratique_gotext::json::UnmarshalTypeError;
use serde_json::{Map, Value as Json};

use crate::header::type_name;
use crate::position::Span;
use crate::schema::{Empty, Field, Struct, Type};
use crate::tree::{Entry, NodeId, Tree, Value};

/// A value that decoded, and what is wrong with it nevertheless.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) value: Json,
    /// Faults that end decoding. The server names the first.
    pub(crate) fatal: Vec<Fault>,
    /// Values of the wrong type. The server names the first, if nothing ends decoding.
    pub(crate) types: Vec<Fault>,
    /// Fields that do not exist or are given twice. The server names all, if nothing else is wrong.
    pub(crate) strict: Vec<StrictFault>,
}

/// A value that does not fit its field.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) field: String,
    pub(crate) span: Span,
    /// What there is and what was wanted, where a value has the wrong type.
    pub(crate) mismatch: Option<Mismatch>,
}

/// A value of the wrong type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mismatch {
    pub(crate) found: Form,
    pub(crate) wanted: Form,
    /// The fields of the mapping that was wanted, where they are known.
    pub(crate) fields: &'static [Field],
}

/// The forms of values that people mix up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Number,
    Bool,
    List,
    Mapping,
    Other,
}

/// A field that should not be there.
#[derive(Debug)]
pub(crate) struct StrictFault {
    pub(crate) kind: StrictKind,
    pub(crate) field: String,
    pub(crate) span: Span,
    /// The field of that object whose name is nearest.
    pub(crate) meant: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StrictKind {
    Unknown,
    Duplicate,
}

const TEXT: Type = Type::Text("string");

/// More faults of a document than this are not listed, by the server neither.
const MAX_STRICT: usize = 100;

/// More values of the wrong type of one document are not listed. The server names the first only.
const MAX_TYPES: usize = 1000;

/// Decodes a value as a struct of an API version.
pub(crate) fn decode(tree: &Tree, id: NodeId, shape: &'static Struct, version: &str) -> Decoded {
    let mut decoder = Decoder {
        tree,
        version,
        owner: "",
        steps: Vec::new(),
        path: Vec::new(),
        out: Decoded::default(),
    };
    let value = decoder.value(id, &Type::Struct(shape));
    decoder.out.value = value.unwrap_or(Json::Null);
    decoder.out
}

struct Decoder<'a> {
    tree: &'a Tree,
    version: &'a str,
    /// The struct that the current field belongs to, as type errors name it.
    owner: &'static str,
    /// The fields on the way to the current one, as type errors name them: without list indices.
    steps: Vec<&'static str>,
    /// The way to the current value, with indices and map keys.
    path: Vec<String>,
    out: Decoded,
}

impl Decoder<'_> {
    /// Decodes a value; none for null and for what does not fit.
    fn value(&mut self, id: NodeId, kind: &Type) -> Option<Json> {
        let tree = self.tree;
        let node = tree.get(id);
        match (kind, &node.value) {
            (Type::Raw, Value::Null) | (_, Value::Null) => None,
            (Type::Any, _) => None,
            (Type::Raw, _) => {
                let value = crate::parse::compact(tree, id);
                if value.is_none() {
                    self.fatal("exceeded max depth".to_owned(), node.span);
                }
                value
            }
            (Type::Struct(shape), Value::Map(entries)) => Some(Json::Object(self.object(shape, entries))),
            (Type::Map, Value::Map(entries)) => Some(Json::Object(self.map(entries, &TEXT))),
            (Type::TextLists, Value::Map(entries)) => {
                Some(Json::Object(self.map(entries, &Type::List(&TEXT))))
            }
            (Type::List(item), Value::List(items)) => Some(Json::Array(self.list(item, items))),
            (Type::Bytes, Value::List(items)) => self.byte_list(items),
            (Type::Text(_), Value::String(text, _)) => Some(Json::String(String::from(&**text))),
            (Type::Bool, Value::Bool(value)) => Some(Json::Bool(*value)),
            (Type::Int32 | Type::Int64, Value::Number(text)) => self.integer(text, kind, node.span),
            (Type::Bytes, Value::String(text, _)) => self.bytes(text, node.span),
            (Type::Time, Value::String(text, _)) => self.time(text, node.span),
            (Type::Time, found) => {
                let message = self.type_error(type_name(found), "string");
                self.fatal(message, node.span);
                None
            }
            (_, found) => {
                let message = self.type_error(type_name(found), &kind.name(self.version));
                let mismatch = Mismatch {
                    found: Form::of_value(found),
                    wanted: Form::of_type(kind),
                    fields: match kind {
                        Type::Struct(shape) => shape.fields,
                        _ => &[],
                    },
                };
                self.mismatched(message, node.span, Some(mismatch));
                // What stands there without quotes is what was meant.
                match (kind, found) {
                    (Type::Text(_), Value::Bool(value)) => Some(value.to_string().into()),
                    (Type::Text(_), Value::Number(text)) => Some((**text).into()),
                    _ => None,
                }
            }
        }
    }

    fn object(&mut self, shape: &'static Struct, entries: &[Entry]) -> Map<String, Json> {
        let outer = (self.owner, self.steps.len());
        let mut object = Map::new();
        let mut seen = HashSet::new();
        for entry in entries {
            let Some(field) = shape.field(&entry.key) else {
                self.unknown(shape, entry);
                continue;
            };
            if !seen.insert(field.name) {
                self.strict(StrictKind::Duplicate, field.name, entry.key_span, None);
            }
            self.owner = shape.name;
            self.steps.extend(field.within);
            self.steps.push(field.name);
            self.path.push(separated(&self.path, field.name));
            let value = self.value(entry.value, &field.kind);
            self.path.pop();
            (self.owner, _) = outer;
            self.steps.truncate(outer.1);
            put(&mut object, field, value);
        }
        for field in shape.fields.iter().filter(|field| field.empty == Empty::Written) {
            if !object.contains_key(field.name) {
                object.extend(zero(&field.kind).map(|zero| (field.name.to_owned(), zero)));
            }
        }
        object
    }

    fn map(&mut self, entries: &[Entry], item: &Type) -> Map<String, Json> {
        let mut map = Map::new();
        for entry in entries {
            if map.contains_key(&*entry.key) {
                self.strict(StrictKind::Duplicate, &entry.key, entry.key_span, None);
            }
            self.path.push(separated(&self.path, &entry.key));
            let value = self.value(entry.value, item);
            self.path.pop();
            map.insert(String::from(&*entry.key), value.unwrap_or_else(|| "".into()));
        }
        map
    }

    fn list(&mut self, item: &Type, items: &[NodeId]) -> Vec<Json> {
        let mut list = Vec::with_capacity(items.len());
        for (index, id) in items.iter().enumerate() {
            self.path.push(format!("[{index}]"));
            let value = self.value(*id, item);
            self.path.pop();
            list.push(value.or_else(|| zero(item)).unwrap_or(Json::Null));
        }
        list
    }

    fn unknown(&mut self, shape: &'static Struct, entry: &Entry) {
        if self.out.strict.len() >= MAX_STRICT {
            return;
        }
        let meant = nearest(shape, &entry.key);
        self.strict(StrictKind::Unknown, &entry.key, entry.key_span, meant);
    }

    fn strict(&mut self, kind: StrictKind, name: &str, span: Span, meant: Option<&'static str>) {
        let field = format!("{}{}", self.path.concat(), separated(&self.path, name));
        let known = self
            .out
            .strict
            .iter()
            .any(|fault| fault.kind == kind && fault.field == field);
        if !known && self.out.strict.len() < MAX_STRICT {
            self.out.strict.push(StrictFault {
                kind,
                field,
                span,
                meant,
            });
        }
    }

    fn type_error(&self, found: &str, wanted: &str) -> String {
        let path = self.steps.join(".");
        let error = match self.owner {
            "" => UnmarshalTypeError::of_value(found, wanted),
            owner => UnmarshalTypeError::of_field(found, owner, &path, wanted),
        };
        error.to_string()
    }

    fn type_fault(&mut self, message: String, span: Span) {
        self.mismatched(message, span, None);
    }

    fn mismatched(&mut self, message: String, span: Span, mismatch: Option<Mismatch>) {
        if self.out.types.len() >= MAX_TYPES {
            return;
        }
        self.out.types.push(Fault {
            message,
            field: self.path.concat(),
            span,
            mismatch,
        });
    }

    fn fatal(&mut self, message: String, span: Span) {
        if self.out.fatal.len() >= MAX_TYPES {
            return;
        }
        self.out.fatal.push(Fault {
            message,
            field: self.path.concat(),
            span,
            mismatch: None,
        });
    }
}

impl Form {
    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Form::Other,
            Value::Bool(_) => Form::Bool,
            Value::Number(_) => Form::Number,
            Value::String(..) => Form::Text,
            Value::List(_) => Form::List,
            Value::Map(_) => Form::Mapping,
        }
    }

    fn of_type(kind: &Type) -> Self {
        match kind {
            Type::Text(_) => Form::Text,
            Type::Bool => Form::Bool,
            Type::Int32 | Type::Int64 => Form::Number,
            Type::List(_) => Form::List,
            Type::Struct(_) | Type::Map | Type::TextLists => Form::Mapping,
            Type::Bytes | Type::Time | Type::Raw | Type::Any => Form::Other,
        }
    }
}

fn separated(path: &[String], name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!(".{name}")
    }
}

/// Sets a field as the server would write it.
fn put(object: &mut Map<String, Json>, field: &Field, value: Option<Json>) {
    let value = match field.empty {
        Empty::Omitted => value.filter(|value| !is_empty(value)),
        Empty::Optional => value,
        Empty::Written => value.or_else(|| zero(&field.kind)),
    };
    match value {
        Some(value) => object.insert(field.name.to_owned(), value),
        None => object.remove(field.name),
    };
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        // A struct that is not optional is there even if nothing in it is.
        Json::Object(fields) => fields.is_empty(),
    }
}

/// A type's value where none is given. Lists and optional strings have none.
fn zero(kind: &Type) -> Option<Json> {
    match kind {
        Type::Text("SideEffectClass") => None,
        Type::Text(_) => Some("".into()),
        Type::Bool => Some(false.into()),
        Type::Int32 | Type::Int64 => Some(0.into()),
        Type::Struct(shape) => {
            let written = shape.fields.iter().filter(|field| field.empty == Empty::Written);
            let fields = written.filter_map(|field| Some((field.name.to_owned(), zero(&field.kind)?)));
            Some(Json::Object(fields.collect()))
        }
        Type::Map | Type::TextLists | Type::Bytes | Type::Time | Type::Raw | Type::Any | Type::List(_) => {
            None
        }
    }
}

/// The field whose name is most like a name that is none, if one is like it at all.
fn nearest(shape: &'static Struct, name: &str) -> Option<&'static str> {
    pratique_gotext::suggest::nearest(name, shape.fields.iter().map(|field| field.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;
    use crate::schema::kind_type;

    fn decoded(json: &str) -> Decoded {
        let document = crate::json::parse(json.as_bytes(), &crate::budget::Budget::unlimited()).unwrap();
        decode(
            &document.tree,
            document.root,
            kind_type(Kind::ValidatingAdmissionPolicy),
            "v1",
        )
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let json = r#"{"metadata": {"name": "a", "labels": {}, "generation": 0, "creationTimestamp": null},
            "spec": {"matchConstraints": {}, "validations": [], "failurePolicy": "", "variables": [null]}}"#;
        let expected = serde_json::json!({
            "metadata": {"name": "a"},
            "spec": {"matchConstraints": {}, "failurePolicy": "", "variables": [{"name": "", "expression": ""}]},
            "status": {},
        });
        assert_eq!(decoded(json).value, expected);
    }

    #[test]
    fn types_are_checked_and_all_faults_kept() {
        let json = r#"{"metadata": [], "spec": {"validations": [{"expression": 1, "reason": true}], "paramKind": "x"}}"#;
        let found: Vec<String> = decoded(json)
            .types
            .into_iter()
            .map(|fault| fault.message)
            .collect();
        assert_eq!(
            found,
            [
                "json: cannot unmarshal array into Go struct field ValidatingAdmissionPolicy.metadata of type v1.ObjectMeta",
                "json: cannot unmarshal number into Go struct field Validation.spec.validations.expression of type string",
                "json: cannot unmarshal bool into Go struct field Validation.spec.validations.reason of type v1.StatusReason",
                "json: cannot unmarshal string into Go struct field ValidatingAdmissionPolicySpec.spec.paramKind of type v1.ParamKind",
            ]
        );
    }

    #[test]
    fn fields_are_told_by_exact_name_and_once() {
        let json = r#"{"Kind": "", "spec": {"validations": [{"expresion": ""}], "variables": [], "variables": []},
            "metadata": {"labels": {"a": "", "a": ""}}}"#;
        let found: Vec<_> = decoded(json)
            .strict
            .into_iter()
            .map(|fault| (fault.kind, fault.field, fault.meant))
            .collect();
        assert_eq!(
            found,
            [
                (StrictKind::Unknown, "Kind".to_owned(), Some("kind")),
                (
                    StrictKind::Unknown,
                    "spec.validations[0].expresion".to_owned(),
                    Some("expression")
                ),
                (StrictKind::Duplicate, "spec.variables".to_owned(), None),
                (StrictKind::Duplicate, "metadata.labels.a".to_owned(), None),
            ]
        );
    }
}
