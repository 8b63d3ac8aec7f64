//! Mutations by JSON Patch: the value of an expression becomes operations, which are applied.

use pratique_cel::library::mutation::check_type_names;
use pratique_cel::{Context, Value};
use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};
use pratique_json as json;
use pratique_merge::json_patch::{self, Operation, Text};
use pratique_schema::Release;
use pratique_types::{GroupVersion, GroupVersionKind, InvalidGroupVersion};

use super::conversion::{ConversionError, ValueConversion};
use super::json_form;
use super::measure::SizeMeasure;
use super::refusal::MutationRefusal;
use super::version::VersionedObjects;
use crate::decode::{self, DecodeError, WrittenStruct};
use crate::session::RequestSession;
use crate::typed;

/// Why an element of a list is no operation; its text is an API server's message.
#[derive(Debug, thiserror::Error)]
enum OperationError {
    #[error("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")]
    NotAnOperation,
    #[error("type mismatch: {0}")]
    TypeNames(String),
    #[error("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {0}")]
    Value(ConversionError),
}

/// The patched object; `None` where a test operation fails.
pub(super) fn patched<'s>(
    value: &Value<'s>,
    version: &VersionedObjects<'s>,
    session: &RequestSession<'s>,
    policy: &str,
) -> Result<Option<&'s json::Value<'s>>, MutationRefusal> {
    let operations = operations(value, version, session)?;
    let document = version.object.try_borrowed(&session.progress)?;
    let patched = match json_patch::apply(document, &operations, &session.progress) {
        Ok(patched) => patched,
        Err(json_patch::Error::TestFailed { .. }) => return Ok(None),
        Err(json_patch::Error::Interrupted) => return Err(MutationRefusal::INTERRUPTED),
        Err(error) => return Err(MutationRefusal::Policy(format!("JSON Patch: {error}"))),
    };
    read(version, patched, &operations, session, policy).map(Some)
}

/// The patched object as an API server reads it. Whatever it is, it has to be an object of some kind, and at last of
/// the kind that it was.
fn read<'s>(
    version: &VersionedObjects<'s>,
    patched: json::Value<'s>,
    operations: &[Operation<'_>],
    session: &RequestSession<'s>,
    policy: &str,
) -> Result<&'s json::Value<'s>, MutationRefusal> {
    let server = |error: String| MutationRefusal::Server(error);
    // A document of null is an object of nothing to built-in kinds.
    let empty = patched.is_null() && session.context.release.has_type(version.kind);
    let mut patched = if empty {
        json::Object::new().into()
    } else {
        patched
    };
    let members = match &patched {
        json::Value::Object(members) => members,
        json::Value::Null => return Err(server(no_kind(&patched))),
        _ => return Err(server(no_object())),
    };
    let api_version = text_at(members, "apiVersion").map_err(|error| server(unknown_kind(error)))?;
    let name = text_at(members, "kind").map_err(|error| server(unknown_kind(error)))?;
    let release = session.context.release;
    if !release.has_type(version.kind) {
        if name.is_empty() {
            return Err(server(no_kind(&patched)));
        }
        GroupVersion::parse(api_version).map_err(|error| server(error.to_string()))?;
        let object = session.reread(session.keep(patched));
        return Ok(session.defaulted(version.kind, object, policy)?);
    }
    let kind = kind_named(api_version, name, version.kind).map_err(|error| server(error.to_string()))?;
    let schema = release.schema();
    let Some(id) = schema.kind(&kind) else {
        let version = kind.api_version();
        return Err(server(format!(
            "no kind \"{}\" is registered for version \"{version}\" in scheme \"{}\"",
            kind.kind,
            release.registry_name()
        )));
    };
    // The order in which faults are found is looked for only where there are any.
    let progress = &session.progress;
    decode::strict(schema, id, members, progress)
        .or_else(|_| {
            let copies = copies(release, version.kind, operations);
            decode::strict_written(schema, id, members, &copies, progress)
        })
        .map_err(|error| match error {
            DecodeError::Invalid(error) => server(error),
            DecodeError::Interrupted(interrupted) => interrupted.into(),
        })?;
    if kind != *version.kind {
        let (from, to) = (kind.kind, &version.kind.kind);
        return Err(server(format!(
            "failed to convert object: converting (*v1.{from}) to (*v1.{to}): unknown conversion"
        )));
    }
    // Defaulting distinguishes empty lists from absent ones, so it comes first.
    let trace = session.trace();
    let empty = trace.map(|_| empty_fields(&patched)).unwrap_or_default();
    session.default(version.kind, &mut patched, policy);
    let settled = session.settled(version.kind, patched);
    if let Some(trace) = trace {
        let left_out = empty.into_iter().filter(|path| !has_field(settled, path));
        let left_out = list_fields(left_out.map(|path| path.join(".")));
        if !left_out.is_empty() {
            trace.left_out(&left_out);
        }
    }
    Ok(settled)
}

/// The most fields that are told to a trace.
const MOST_TOLD: usize = 16;

/// The most fields that are looked for: a policy may leave any number.
const MOST_FIELDS: usize = 10_000;

/// The fields that are told to a trace. Where they are more, the last text says how many.
fn list_fields(fields: impl Iterator<Item = String>) -> Vec<String> {
    let mut fields = fields;
    let mut listed: Vec<String> = fields.by_ref().take(MOST_TOLD).collect();
    let more = fields.count();
    if more > 0 {
        // What stands in a list of fields goes on as what stands for one: "is empty now".
        listed.push(format!("and each of {more} more"));
    }
    listed
}

/// The paths of fields that are empty lists or maps, outside of lists.
fn empty_fields(object: &json::Value<'_>) -> Vec<Vec<String>> {
    let mut empty = Vec::new();
    let mut pending = vec![(Vec::new(), object)];
    while let Some((path, value)) = pending.pop() {
        let is_empty = match value {
            json::Value::Array(elements) => elements.is_empty(),
            json::Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if is_empty {
            empty.push(path);
            if empty.len() == MOST_FIELDS {
                break;
            }
            continue;
        }
        for (name, member) in value.as_object().into_iter().flat_map(|members| members.iter()) {
            let mut path: Vec<String> = path.clone();
            path.push(name.to_owned());
            pending.push((path, member));
        }
    }
    empty.sort();
    empty
}

fn has_field(object: &json::Value<'_>, path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    object.at(&names).is_some()
}

/// What copies and moves leave in the order in which the object was written: the reference reads a copy only when an
/// operation looks into it, and then writes it by name.
///
/// Upstream: github.com/evanphx/json-patch, lazyNode
fn copies(
    release: &'static Release,
    kind: &GroupVersionKind,
    operations: &[Operation<'_>],
) -> Vec<WrittenStruct> {
    if operations.len() > MANY_OPERATIONS {
        return Vec::new();
    }
    let pointer = |text: &Text<'_>| match text {
        Text::Given(text) => Some(parts(text)),
        _ => None,
    };
    let touches = |operation: &Operation<'_>, place: &[String]| {
        let is_within = |path: Vec<String>| path.len() > place.len() && path.starts_with(place);
        [&operation.path, &operation.from]
            .into_iter()
            .any(|text| pointer(text).is_some_and(is_within))
    };
    let replaces = |operation: &Operation<'_>, place: &[String]| {
        let is_around = |path: Vec<String>| place.starts_with(&path);
        operation.op != "test" && pointer(&operation.path).is_some_and(is_around)
    };
    let copy = |(at, operation): (usize, &Operation<'_>)| {
        let (from, path) = (pointer(&operation.from)?, pointer(&operation.path)?);
        let (earlier_operations, later_operations) = (operations.get(..at)?, operations.get(at + 1..)?);
        // The way to a place within the original leads into that, before it is copied.
        let is_raw = !path.starts_with(&from)
            && !earlier_operations
                .iter()
                .any(|other| touches(other, &from) || replaces(other, &from))
            && !later_operations
                .iter()
                .any(|other| touches(other, &path) || replaces(other, &path));
        let of = typed::type_at(release.schema(), kind, &from).filter(|_| is_raw)?;
        Some(WrittenStruct { path, of, release })
    };
    let copying = |(_, operation): &(usize, &Operation<'_>)| matches!(&*operation.op, "copy" | "move");
    operations
        .iter()
        .enumerate()
        .filter(copying)
        .filter_map(copy)
        .collect()
}

/// Each copy is compared with all operations: with more operations than this, the order is unknown.
const MANY_OPERATIONS: usize = 1_000;

/// The names that a pointer is made of.
fn parts(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

fn no_kind(patched: &json::Value<'_>) -> String {
    format!(
        "Object 'Kind' is missing in '{}'",
        json::escape_html(&patched.to_string())
    )
}

fn no_object() -> String {
    unknown_kind(UnmarshalTypeError::of_value("array", TYPE_META))
}

fn text_at<'v>(
    members: &'v json::Object<'_>,
    field: &'static str,
) -> Result<&'v str, UnmarshalTypeError<'v>> {
    match members.get(field) {
        None | Some(json::Value::Null) => Ok(""),
        Some(json::Value::String(text)) => Ok(text),
        Some(other) => Err(UnmarshalTypeError::of_field(other.kind(), "", field, "string")),
    }
}

/// The kind that an object names; parts that it does not name are those of `otherwise`.
fn kind_named(
    api_version: &str,
    name: &str,
    otherwise: &GroupVersionKind,
) -> Result<GroupVersionKind, InvalidGroupVersion> {
    let name = if name.is_empty() { &otherwise.kind } else { name };
    if api_version.is_empty() {
        return Ok(GroupVersionKind::new(&otherwise.group, &otherwise.version, name));
    }
    let version = GroupVersion::parse(api_version)?;
    Ok(version.with_kind(name))
}

fn operations<'s>(
    value: &Value<'s>,
    version: &VersionedObjects<'s>,
    session: &RequestSession<'s>,
) -> Result<Vec<Operation<'s>>, MutationRefusal> {
    let Value::List(list) = value else {
        let error = "type mismatch: JSONPatchType.expression should evaluate to array";
        return Err(MutationRefusal::Policy(error.to_owned()));
    };
    let context = Context::new(session.arena(), u64::MAX);
    let progress = &session.progress;
    let go = |part: typed::ObjectPart<'_>| version.go_value(part, progress);
    let conversion = ValueConversion::new((session.context.release, version.kind), &go, progress);
    let mut measure = SizeMeasure::new(session.context.interrupt);
    let operations = list.iter().map(|element| {
        measure.add(&element, &context)?;
        let made = operation(&element, &context, session.context.release, conversion);
        progress.outcome()?;
        made.map_err(|error| match error {
            OperationError::Value(panic @ ConversionError::Panic) => {
                MutationRefusal::Server(panic.to_string())
            }
            error => MutationRefusal::Policy(error.to_string()),
        })
    });
    operations.collect()
}

fn operation<'s>(
    element: &Value<'s>,
    context: &Context<'s>,
    release: &Release,
    conversion: ValueConversion<'_>,
) -> Result<Operation<'s>, OperationError> {
    let Value::Struct(operation) = element else {
        return Err(OperationError::NotAnOperation);
    };
    let fields = operation
        .fields(context)
        .map_err(|_| OperationError::NotAnOperation)?;
    let mut operation = Operation {
        path: "".into(),
        ..Operation::default()
    };
    for (name, value) in fields {
        match (name, value) {
            ("op", Value::String(text)) => operation.op = Text::evaluated(text, release).or_unknown(),
            ("path", Value::String(text)) => operation.path = Text::evaluated(text, release),
            // An empty one is none.
            ("from", Value::String(text)) if !text.is_empty() => {
                operation.from = Text::evaluated(text, release)
            }
            ("value", value) => {
                check_type_names(&value, conversion.joins_values, conversion.progress)
                    .map_err(|error| OperationError::TypeNames(error.to_string()))?;
                operation.value =
                    Some(json_form::json(&value, context, conversion).map_err(OperationError::Value)?);
            }
            _ => {}
        }
    }
    Ok(operation)
}
