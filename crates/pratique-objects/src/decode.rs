//! Decoding of bytes into objects, with a server's warnings and errors.
//!
//! Most objects have no faults. They are read as plain values, which are brought into the form of their type
//! in place. All others are read again as documents with positions, which keep the order, duplicate keys and
//! the literals of numbers.

use std::fmt::Display;

use pratique_json::{MAX_DEPTH, Progress, Value};
use pratique_schema::{Release, Shape, TypeId};
use pratique_typed::decode::{TreeNode, strict_faults};
use pratique_typed::{SettledObject, settle_keeping_empty, settle_strict};
use pratique_types::GroupVersionKind;
use pratique_yaml::{Budget, NodeId, Tree, json, wire_bytes, yaml};

use crate::error::DecodeError;
use crate::header::interpret;
use crate::json_schema;
use crate::objects::{FieldValidation, MediaType};
use crate::release::ObjectTables;
use crate::tree_value::{TooDeep, decoded};

/// An object that was decoded, before it is defaulted.
pub(crate) struct ReadObject<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) warnings: Vec<String>,
    /// Whether it has empty lists and maps that are left out where it is written.
    pub(crate) settled: SettledObject,
}

/// Decodes an object that is sent to an endpoint.
pub(crate) fn decode<'a>(
    tables: &ObjectTables,
    bytes: &'a [u8],
    media_type: MediaType,
    endpoint: &GroupVersionKind,
    validation: FieldValidation,
) -> Result<ReadObject<'a>, DecodeError> {
    let Some(id) = tables.type_of(endpoint) else {
        return Err(DecodeError::UnknownKind(endpoint.clone()));
    };
    if media_type == MediaType::Json
        && let Some(read) = faultless(tables, bytes, endpoint, id)
    {
        return Ok(read);
    }
    reported(tables, bytes, media_type, endpoint, id, validation)
}

/// Decodes JSON without faults; none if there may be one.
fn faultless<'a>(
    tables: &ObjectTables,
    bytes: &'a [u8],
    endpoint: &GroupVersionKind,
    id: TypeId,
) -> Option<ReadObject<'a>> {
    let mut value = pratique_json::parse_unique(bytes).ok()?;
    let Value::Object(object) = &mut value else {
        return None;
    };
    let text = |name| object.get(name).and_then(Value::as_str);
    let is_of_kind = text("kind") == Some(&endpoint.kind)
        && text("apiVersion").is_some_and(|version| endpoint.is_of_version(version));
    if !is_of_kind {
        return None;
    }
    let settled = settle_strict(tables.schema(), id, object, &Progress::unwatched());
    if settled == SettledObject::Refused || !json_schema::settle(tables, endpoint, object) {
        return None;
    }
    Some(ReadObject {
        value,
        warnings: Vec::new(),
        settled,
    })
}

/// A document that was parsed.
pub(crate) struct ParsedDocument {
    tree: Tree,
    root: NodeId,
    /// The message about duplicate keys of YAML.
    pub(crate) duplicates: Option<String>,
}

impl ParsedDocument {
    pub(crate) fn root(&self) -> TreeNode<'_> {
        TreeNode::new(&self.tree, self.root)
    }
}

/// Decodes a document, and reports its faults.
fn reported<'a>(
    tables: &ObjectTables,
    bytes: &[u8],
    media_type: MediaType,
    endpoint: &GroupVersionKind,
    id: TypeId,
    validation: FieldValidation,
) -> Result<ReadObject<'a>, DecodeError> {
    let document = parse(bytes, media_type, endpoint, tables.release())?;
    let root = document.root();
    let actual = interpret(root, endpoint, tables.release())
        .map_err(|cause| DecodeError::unrecognized(endpoint, cause, bytes))?;
    let undecodable = |cause: &dyn Display| DecodeError::undecodable(endpoint, &actual, cause);
    if actual.version.is_empty() {
        let text = String::from_utf8_lossy(bytes);
        return Err(undecodable(&format!(
            "Object 'apiVersion' is missing in '{text}'"
        )));
    }
    let kinds = tables.kinds();
    let is_of_scheme = kinds.scheme(&actual.group) == kinds.scheme(&endpoint.group);
    let Some(of) = tables.type_of(&actual).filter(|_| is_of_scheme) else {
        return Err(undecodable(&not_registered(tables, endpoint, &actual)));
    };
    // The depth is checked before anything else goes through the document.
    let value = decoded(tables.schema(), &Shape::Struct(of), root)
        .map_err(|TooDeep| DecodeError::TooDeep(MAX_DEPTH))?;
    let faults = strict_faults(tables.schema(), of, root).map_err(|cause| undecodable(&cause))?;
    json_schema::check_object(tables, &actual, &value).map_err(|cause| undecodable(&cause))?;
    if kinds.internal(&actual) != kinds.internal(endpoint) {
        return Err(undecodable(&not_convertible(tables, endpoint, of)));
    }
    let faults: Vec<String> = document.duplicates.into_iter().chain(faults).collect();
    let warnings = validation
        .check_faults(&faults)
        .map_err(|error| undecodable(&error))?;
    if actual.api_version() != endpoint.api_version() {
        return Err(DecodeError::OtherVersion {
            found: actual.api_version().to_string(),
            expected: endpoint.api_version().to_string(),
        });
    }
    Ok(settled(tables, value, endpoint, id, warnings))
}

/// Gives an object that was decoded the form of its type.
fn settled<'a>(
    tables: &ObjectTables,
    value: Value<'static>,
    endpoint: &GroupVersionKind,
    id: TypeId,
    warnings: Vec<String>,
) -> ReadObject<'a> {
    let mut object = match value {
        Value::Object(object) => object,
        _ => pratique_json::Object::new(),
    };
    object.insert("apiVersion", endpoint.api_version().to_string());
    object.insert("kind", endpoint.kind.clone());
    let settled = settle_keeping_empty(tables.schema(), id, &mut object, &Progress::unwatched());
    json_schema::settle(tables, endpoint, &mut object);
    ReadObject {
        value: Value::Object(object),
        warnings,
        settled,
    }
}

pub(crate) fn parse(
    bytes: &[u8],
    media_type: MediaType,
    endpoint: &GroupVersionKind,
    release: &Release,
) -> Result<ParsedDocument, DecodeError> {
    read(bytes, media_type, release).map_err(|text| match (text.is_too_large, media_type) {
        (true, _) => DecodeError::TooLarge(text.cause),
        (false, MediaType::Json) => {
            let cause = pratique_gotext::json::unknown_kind(text.cause);
            DecodeError::unrecognized(endpoint, cause, bytes)
        }
        (false, MediaType::Yaml) => DecodeError::unrecognized(endpoint, text.cause, bytes),
    })
}

/// A text that is not a document.
pub(crate) struct UndecodableText {
    /// The decoder's message.
    pub(crate) cause: String,
    is_too_large: bool,
}

/// Reads a document as a server of a release.
pub(crate) fn read(
    bytes: &[u8],
    media_type: MediaType,
    release: &Release,
) -> Result<ParsedDocument, UndecodableText> {
    let budget = Budget::new(u64::try_from(wire_bytes(bytes.len())).unwrap_or(u64::MAX));
    let undecodable = |cause: String| UndecodableText {
        cause,
        is_too_large: budget.is_exceeded(),
    };
    match media_type {
        MediaType::Json => {
            let document = json::parse(bytes, &budget)
                .map_err(|error| undecodable(error.to_text(release.is_of_go_1_27()).to_owned()))?;
            Ok(ParsedDocument {
                tree: document.tree,
                root: document.root,
                duplicates: None,
            })
        }
        MediaType::Yaml => {
            let text = yaml::decode(bytes.to_vec());
            let document = yaml::parse(&text, &budget).map_err(|error| undecodable(error.to_string()))?;
            let lines = document.duplicates.iter();
            let lines = lines.map(|duplicate| format!("\n  line {}: {}", duplicate.line, duplicate.message));
            let lines: String = lines.collect();
            Ok(ParsedDocument {
                tree: document.tree,
                root: document.root,
                duplicates: (!lines.is_empty()).then(|| format!("{YAML_ERRORS}{lines}")),
            })
        }
    }
}

const YAML_ERRORS: &str = "yaml: unmarshal errors:";

/// The texts of the Warning headers for the faults of strict decoding, each once. Each duplicate key of YAML
/// is a warning of its own.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, addStrictDecodingWarnings
pub fn warnings(faults: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    for fault in faults {
        let lines: Vec<&str> = match fault.strip_prefix(YAML_ERRORS) {
            Some(lines) => lines.trim_start().lines().map(str::trim).collect(),
            None => vec![fault],
        };
        for line in lines {
            if !warnings.iter().any(|warning| warning == line) {
                warnings.push(line.to_owned());
            }
        }
    }
    warnings
}

// Upstream: apimachinery/pkg/runtime/error.go, notRegisteredErr.Error
fn not_registered(tables: &ObjectTables, endpoint: &GroupVersionKind, actual: &GroupVersionKind) -> String {
    format!(
        "no kind \"{}\" is registered for version \"{}\" in scheme \"{}\"",
        actual.kind,
        actual.api_version(),
        tables.kinds().scheme(&endpoint.group)
    )
}

// Upstream: apimachinery/pkg/conversion/converter.go, Converter.Convert
fn not_convertible(tables: &ObjectTables, endpoint: &GroupVersionKind, of: TypeId) -> String {
    format!(
        "converting ({}) to ({}): unknown conversion",
        tables.schema().get(of).go_type(),
        tables.kinds().internal(endpoint).unwrap_or_default()
    )
}
