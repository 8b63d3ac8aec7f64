//! Objects of kinds that are not built in, as they are read before their definition is followed.

use std::collections::HashSet;

use pratique_json::{MAX_DEPTH, Object, Value};
use pratique_schema::Release;
use pratique_typed::decode::{Node, StrictKind, TreeNode};
use pratique_types::{GroupVersion, GroupVersionKind, ObjectRef};
use pratique_yaml::TreeValue;

use crate::decode::{ParsedDocument, parse, read};
use crate::error::DecodeError;
use crate::header::interpret;
use crate::objects::MediaType;
use crate::tree_value::{OutOfRange, scalar};

/// How many duplicate members are reported.
// Upstream: sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go, decodeState.saveStrictError
const MAX_DUPLICATES: usize = 100;

/// An object that was read without a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct UnstructuredObject {
    /// The object as it was sent; of members that are given twice the last one.
    pub value: Value<'static>,
    /// The kind and version that it states.
    pub kind: GroupVersionKind,
    /// The faults that strict decoding reports: `duplicate field "spec.a"`
    pub faults: Vec<String>,
}

/// Reads an object that is sent to the endpoint of a kind that is not built in, as a server of a release.
///
/// # Errors
/// That of an API server that refuses the object.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, Serializer.Decode into Unstructured
pub fn unstructured(
    bytes: &[u8],
    media_type: MediaType,
    endpoint: &GroupVersionKind,
    release: &Release,
) -> Result<UnstructuredObject, DecodeError> {
    if media_type == MediaType::Json
        && let Some(read) = faultless(bytes)
    {
        return Ok(read);
    }
    let document = parse(bytes, media_type, endpoint, release)?;
    let stated = interpret(document.root(), endpoint, release)
        .map_err(|cause| DecodeError::unrecognized(endpoint, cause, bytes))?;
    let (value, faults) = decoded(document).map_err(|fault| match fault {
        DocumentFault::TooDeep => DecodeError::TooDeep(MAX_DEPTH),
        DocumentFault::OutOfRange(number) => {
            DecodeError::undecodable(endpoint, &stated, out_of_range(&number))
        }
    })?;
    let kind = ObjectRef::new(&value).group_version_kind().unwrap_or_default();
    if kind.kind.is_empty() {
        let text = String::from_utf8_lossy(bytes);
        let cause = format!("Object 'Kind' is missing in '{text}'");
        return Err(DecodeError::unrecognized(endpoint, cause, bytes));
    }
    Ok(UnstructuredObject { value, kind, faults })
}

/// A patch that cannot be read, with the message of the server's decoder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// It is not written as its media type asks.
    #[error("{0}")]
    Syntax(String),
    /// It has a value that cannot be read.
    #[error("{0}")]
    Value(String),
}

/// Reads a patch as a server of a release: its value, and what strict decoding reports.
///
/// # Errors
/// The text is not of its media type.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyJSPatch, applyPatchToCurrentObject
pub fn patch(
    bytes: &[u8],
    media_type: MediaType,
    release: &Release,
) -> Result<(Value<'static>, Vec<String>), PatchError> {
    if media_type == MediaType::Json
        && let Ok(value) = pratique_json::parse_unique(bytes)
    {
        return Ok((value.into_owned(), Vec::new()));
    }
    let document = read(bytes, media_type, release).map_err(|unread| PatchError::Syntax(unread.cause))?;
    decoded(document).map_err(|fault| match fault {
        DocumentFault::TooDeep => PatchError::Syntax("exceeded max depth".to_owned()),
        DocumentFault::OutOfRange(number) => PatchError::Value(out_of_range(&number)),
    })
}

fn out_of_range(number: &str) -> String {
    format!("json: cannot unmarshal number {number} into Go value of type float64")
}

/// Reads JSON without faults.
fn faultless(bytes: &[u8]) -> Option<UnstructuredObject> {
    let value = pratique_json::parse_unique(bytes).ok()?;
    let is_plain = value.as_object()?.iter().all(|(name, value)| match name {
        "kind" | "apiVersion" => value.as_str().is_some(),
        // Keys that differ in case only are read as these, too.
        _ => !name.eq_ignore_ascii_case("kind") && !name.eq_ignore_ascii_case("apiVersion"),
    });
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if !is_plain || text("kind").is_empty() || GroupVersion::parse(text("apiVersion")).is_err() {
        return None;
    }
    Some(UnstructuredObject {
        kind: ObjectRef::new(&value).group_version_kind().unwrap_or_default(),
        value: value.into_owned(),
        faults: Vec::new(),
    })
}

/// Why a document has no value.
enum DocumentFault {
    TooDeep,
    OutOfRange(String),
}

impl From<OutOfRange> for DocumentFault {
    fn from(OutOfRange(number): OutOfRange) -> Self {
        DocumentFault::OutOfRange(number)
    }
}

/// The value of a document, and what strict decoding reports.
fn decoded(document: ParsedDocument) -> Result<(Value<'static>, Vec<String>), DocumentFault> {
    let mut reader = UnstructuredReader::default();
    let value = reader.value(document.root(), MAX_DEPTH)?;
    let faults = document.duplicates.into_iter().chain(reader.faults);
    Ok((value, faults.collect()))
}

#[derive(Default)]
struct UnstructuredReader {
    /// `spec`, `.list`, `[0]`
    path: Vec<String>,
    reported: HashSet<String>,
    faults: Vec<String>,
}

impl UnstructuredReader {
    fn value(&mut self, node: TreeNode<'_>, depth: usize) -> Result<Value<'static>, DocumentFault> {
        let depth = depth.checked_sub(1).ok_or(DocumentFault::TooDeep)?;
        match &node.node().value {
            TreeValue::List(items) => {
                let mut elements = Vec::with_capacity(items.len());
                for (at, item) in node.elements().enumerate() {
                    self.path.push(format!("[{at}]"));
                    elements.push(self.value(item, depth)?);
                    self.path.pop();
                }
                Ok(Value::Array(elements))
            }
            TreeValue::Map(_) => {
                let mut object = Object::new();
                for (name, member) in node.members() {
                    let dot = if self.path.is_empty() { "" } else { "." };
                    self.path.push(format!("{dot}{name}"));
                    if object.contains_key(name) {
                        self.duplicate();
                    }
                    let value = self.value(member, depth)?;
                    self.path.pop();
                    object.insert(name.to_owned(), value);
                }
                Ok(Value::Object(object))
            }
            _ => Ok(scalar(node)?),
        }
    }

    fn duplicate(&mut self) {
        let message = StrictKind::Duplicate.message(&self.path.concat());
        if self.reported.len() < MAX_DUPLICATES && self.reported.insert(message.clone()) {
            self.faults.push(message);
        }
    }
}
