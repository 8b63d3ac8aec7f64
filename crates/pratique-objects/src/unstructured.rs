//! Objects of kinds that are not built in, as they are read before their definition is followed.

use std::collections::HashSet;

use pratique_json::{MAX_DEPTH, Object, Value};
use pratique_typed::decode::StrictKind;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::{NodeId, Tree, tree};

use crate::decode::{Document, parse, read};
use crate::error::DecodeError;
use crate::header::interpret;
use crate::objects::MediaType;
use crate::tree_value::{Literal, literal};

/// How many members that are given twice are told of.
// Upstream: sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go, decodeState.saveStrictError
const MAX_DUPLICATES: usize = 100;

/// An object that was read without a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Unstructured {
    /// The object as it was sent; of members that are given twice the last one.
    pub value: Value<'static>,
    /// The kind and version that it says it is of.
    pub kind: GroupVersionKind,
    /// What strict decoding reports: `duplicate field "spec.a"`
    pub faults: Vec<String>,
}

/// Reads an object that is sent to the endpoint of a kind that is not built in.
///
/// # Errors
/// That of an API server that refuses the object.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, Serializer.Decode into Unstructured
pub fn unstructured(
    bytes: &[u8],
    media_type: MediaType,
    endpoint: &GroupVersionKind,
) -> Result<Unstructured, DecodeError> {
    if media_type == MediaType::Json
        && let Some(read) = faultless(bytes)
    {
        return Ok(read);
    }
    let Document {
        tree,
        root,
        duplicates,
    } = parse(bytes, media_type, endpoint)?;
    let said = interpret(&tree, root, endpoint)
        .map_err(|cause| DecodeError::unrecognized(endpoint, cause, bytes))?;
    let mut reader = Reader {
        tree: &tree,
        path: Vec::new(),
        seen: HashSet::new(),
        faults: duplicates.into_iter().collect(),
    };
    let value = reader.value(root, MAX_DEPTH).map_err(|fault| match fault {
        Fault::TooDeep => DecodeError::TooDeep(MAX_DEPTH),
        Fault::OutOfRange(number) => DecodeError::undecodable(endpoint, &said, out_of_range(&number)),
    })?;
    let kind = kind_of(&value);
    if kind.kind.is_empty() {
        let text = String::from_utf8_lossy(bytes);
        let cause = format!("Object 'Kind' is missing in '{text}'");
        return Err(DecodeError::unrecognized(endpoint, cause, bytes));
    }
    Ok(Unstructured {
        value,
        kind,
        faults: reader.faults,
    })
}

/// A patch that cannot be read, with the message of the server's decoder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatchError(String);

/// Reads a patch: its value, and what strict decoding reports.
///
/// # Errors
/// The text is not of its media type.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyJSPatch, applyPatchToCurrentObject
pub fn patch(bytes: &[u8], media_type: MediaType) -> Result<(Value<'static>, Vec<String>), PatchError> {
    if media_type == MediaType::Json
        && let Ok(value) = pratique_json::parse_unique(bytes)
    {
        return Ok((value.into_owned(), Vec::new()));
    }
    let Document {
        tree,
        root,
        duplicates,
    } = read(bytes, media_type).map_err(|unread| PatchError(unread.cause))?;
    let mut reader = Reader {
        tree: &tree,
        path: Vec::new(),
        seen: HashSet::new(),
        faults: duplicates.into_iter().collect(),
    };
    match reader.value(root, MAX_DEPTH) {
        Ok(value) => Ok((value, reader.faults)),
        Err(Fault::TooDeep) => Err(PatchError("exceeded max depth".to_owned())),
        Err(Fault::OutOfRange(number)) => Err(PatchError(out_of_range(&number))),
    }
}

fn out_of_range(number: &str) -> String {
    format!("json: cannot unmarshal number {number} into Go value of type float64")
}

/// Reads JSON with which there is nothing wrong.
fn faultless(bytes: &[u8]) -> Option<Unstructured> {
    let value = pratique_json::parse_unique(bytes).ok()?;
    let is_plain = value.as_object()?.iter().all(|(name, value)| match name {
        "kind" | "apiVersion" => value.as_str().is_some(),
        // What differs in case is read as the header, too.
        _ => !name.eq_ignore_ascii_case("kind") && !name.eq_ignore_ascii_case("apiVersion"),
    });
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if !is_plain || text("kind").is_empty() || GroupVersion::parse(text("apiVersion")).is_err() {
        return None;
    }
    Some(Unstructured {
        kind: kind_of(&value),
        value: value.into_owned(),
        faults: Vec::new(),
    })
}

/// The kind that an object says it is of, by names in their exact case.
fn kind_of(value: &Value<'_>) -> GroupVersionKind {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    match GroupVersion::parse(text("apiVersion")) {
        Ok(version) => version.with_kind(text("kind")),
        Err(_) => GroupVersionKind::default(),
    }
}

enum Fault {
    TooDeep,
    OutOfRange(String),
}

struct Reader<'t> {
    tree: &'t Tree,
    /// `spec`, `.list`, `[0]`
    path: Vec<String>,
    seen: HashSet<String>,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn value(&mut self, id: NodeId, depth: usize) -> Result<Value<'static>, Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
        match &self.tree.get(id).value {
            tree::Value::List(items) => {
                let mut elements = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    self.path.push(format!("[{at}]"));
                    elements.push(self.value(*item, depth)?);
                    self.path.pop();
                }
                Ok(Value::Array(elements))
            }
            tree::Value::Map(entries) => {
                let mut object = Object::new();
                for entry in entries {
                    let dot = if self.path.is_empty() { "" } else { "." };
                    self.path.push(format!("{dot}{}", entry.key));
                    if object.contains_key(&entry.key) {
                        self.duplicate();
                    }
                    let value = self.value(entry.value, depth)?;
                    self.path.pop();
                    object.insert(entry.key.to_string(), value);
                }
                Ok(Value::Object(object))
            }
            other => match literal(other) {
                Literal::Value(value) => Ok(value.into_owned()),
                Literal::OutOfRange(number) => Err(Fault::OutOfRange(number.to_owned())),
            },
        }
    }

    fn duplicate(&mut self) {
        let message = StrictKind::Duplicate.message(&self.path.concat());
        if self.seen.len() < MAX_DUPLICATES && self.seen.insert(message.clone()) {
            self.faults.push(message);
        }
    }
}
