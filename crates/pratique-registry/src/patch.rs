//! Patches and configurations, and the objects that they give.

use pratique_json::{Object, Progress, Value};
use pratique_merge::json_patch;
use pratique_types::{Reason, Status, StatusCause, StatusDetails};

use crate::managed_fields::{Apply, ApplyError, FieldSet};
use crate::refusal;
use crate::registry::Registry;
use crate::request::{Request, Verb};
use crate::strategic;

/// The object that a patch or a configuration gives, with defaults and `managedFields`, and what is told about it.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyPatchToCurrentObject
pub(crate) fn changed(
    registry: &Registry<'_>,
    request: &Request<'_>,
    reset: &FieldSet,
    live: &Value<'static>,
    empty: &Value<'static>,
) -> Result<(Value<'static>, Vec<String>), Status> {
    let body = parse(request)?;
    if let Verb::Apply { force } = request.verb {
        let applied = Apply {
            request: registry.management(request, reset),
            configuration: &body,
            force,
        };
        let mut object = applied.apply(live, empty).map_err(apply_refused)?;
        registry.scheme.default_again(&request.target.kind, &mut object);
        return Ok((object, Vec::new()));
    }
    let patched = match request.verb {
        Verb::JsonPatch => patched_by_json(live.clone(), &body)?,
        Verb::StrategicMergePatch => strategic::merge(&request.target.kind, live.clone(), body)?,
        _ => merge(live.clone(), body),
    };
    let text = registry.scheme.encode(&request.target.kind, &patched);
    let validation = request.field_validation.unwrap_or_default();
    let decoded = registry.scheme.decode(&request.target.kind, text.as_bytes(), validation);
    let decoded = decoded.map_err(|status| patch_refused(&text, &status.message))?;
    let mut object = decoded.object;
    registry.manage(request, reset, live, &mut object);
    Ok((object, decoded.warnings))
}

fn parse(request: &Request<'_>) -> Result<Value<'static>, Status> {
    let parsed = pratique_json::parse(request.body);
    let refused = |error: pratique_json::Error| refusal::bad_request(format!("error decoding patch: {error}"));
    Ok(parsed.map_err(refused)?.into_owned())
}

// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyJSPatch
fn patched_by_json(object: Value<'static>, patch: &Value<'static>) -> Result<Value<'static>, Status> {
    const MOST_OPERATIONS: usize = 10_000;
    let count = patch.as_array().map_or(0, <[_]>::len);
    if count > MOST_OPERATIONS {
        let message = format!("The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {count}");
        return Err(Status::failure(
            Reason::RequestEntityTooLarge,
            format!("Request entity too large: {message}"),
        ));
    }
    let operations = json_patch::decode(patch).map_err(|error| refusal::bad_request(error.to_string()))?;
    json_patch::apply(object, &operations, &Progress::unwatched()).map_err(|error| {
        let message = format!("the server rejected our request due to an error in our request: {error}");
        Status::failure(Reason::Invalid, message)
    })
}

/// An RFC 7386 patch.
pub(crate) fn merge(object: Value<'static>, patch: Value<'static>) -> Value<'static> {
    let Value::Object(patch) = patch else {
        return patch;
    };
    let mut members = match object {
        Value::Object(members) => members,
        _ => Object::new(),
    };
    for (name, change) in patch {
        if change.is_null() {
            members.remove(&name);
            continue;
        }
        let before = members.remove(&name).unwrap_or_default();
        members.insert(name, merge(before, change));
    }
    members.into()
}

/// A patched object that cannot be decoded.
fn patch_refused(text: &str, message: &str) -> Status {
    // What the decoder says of a whole body is not said of a patched object.
    let error = message.split_once("strict decoding error").map_or_else(
        || message.to_owned(),
        |(_, rest)| format!("strict decoding error{rest}"),
    );
    let message = format!("Invalid value: {}: {error}", pratique_gotext::strconv::quote(text));
    refusal::invalid("", "", "", "patch", &message)
}

fn apply_refused(error: ApplyError) -> Status {
    let message = error.to_string();
    match error {
        ApplyError::Typed(..) => Status {
            details: Some(StatusDetails {
                causes: vec![StatusCause {
                    message: message.clone(),
                    ..StatusCause::default()
                }],
                ..StatusDetails::default()
            }),
            ..Status::failure(Reason::InternalError, message)
        },
        ApplyError::ManagedFields | ApplyError::Version(..) => refusal::bad_request(message),
        ApplyError::Conflicts(conflicts) => Status {
            details: Some(StatusDetails {
                causes: conflicts
                    .into_iter()
                    .map(|conflict| StatusCause {
                        reason: "FieldManagerConflict".to_owned(),
                        message: format!("conflict with {}", conflict.manager),
                        field: conflict.field,
                    })
                    .collect(),
                ..StatusDetails::default()
            }),
            ..Status::failure(Reason::Conflict, message)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_merged_and_null_removes_them() {
        let parse = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        for (object, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            (r#"["a"]"#, r#"{"a":1}"#, r#"{"a":1}"#),
        ] {
            assert_eq!(merge(parse(object), parse(patch)).to_string(), expected);
        }
    }
}
