//! Patches and configurations, and the objects that they give.

use std::collections::BTreeMap;

use pratique_json::{Object, Progress, Value};
use pratique_merge::json_patch;
use pratique_objects::{FieldValidation, MediaType, PatchError, warnings};
use pratique_schema::Release;
use pratique_types::field::Error;
use pratique_types::{GroupKind, Reason, Status, StatusCause, StatusDetails, status};

use crate::managed_fields::{AppliedConfiguration, ApplyError, FieldSet};
use crate::registry::{Registry, keep_reset};
use crate::request::{Request, Verb};
use crate::strategic;

/// The formats of patches that custom resources take.
pub(crate) const OF_CUSTOM_RESOURCES: [&str; 3] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];

/// The object that a patch or a configuration gives, with defaults and `managedFields`, and the warnings
/// about it.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyPatchToCurrentObject
pub(crate) fn changed(
    registry: &Registry<'_>,
    request: &Request<'_>,
    reset: &FieldSet,
    live: &Value<'static>,
    empty: &Value<'static>,
) -> Result<(Value<'static>, Vec<String>), Box<Status>> {
    let (body, faults) = parse(request, registry.scheme.gates().release())?;
    let validation = request.field_validation.unwrap_or_default();
    if let Verb::Apply { force } = request.verb {
        let applied = AppliedConfiguration {
            request: registry.management(request, reset),
            configuration: &body,
            force,
        };
        let mut object = applied.apply(live, empty).map_err(apply_refused)?;
        registry.scheme.default_again(&request.target.kind, &mut object)?;
        return match (validation, faults.first()) {
            (FieldValidation::Strict, Some(fault)) => Err(Box::new(status::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: {fault}"
            )))),
            (FieldValidation::Ignore, _) => Ok((object, Vec::new())),
            _ => Ok((object, warnings(&faults))),
        };
    }
    let kind = &request.target.kind;
    // Errors show the decoded object, but the patch itself for a strategic merge patch.
    let (patched, patch_text) = match request.verb {
        Verb::JsonPatch => {
            let text = patched_by_json(live.clone(), &body, registry.scheme.gates().release())?.to_string();
            (text.clone(), text)
        }
        Verb::StrategicMergePatch => {
            let patch_text = go_form(&body);
            (
                strategic::merge(registry.scheme.gates().release(), kind, live.clone(), body)?.to_string(),
                patch_text,
            )
        }
        _ => {
            let text = merged_text(&registry.scheme.encode(kind, live), body);
            (text.clone(), text)
        }
    };
    let decoded = registry.scheme.decode(kind, patched.as_bytes(), validation);
    let faults = match (validation, request.verb) {
        // A server's warnings about duplicate members of a strategic merge patch are not known.
        (FieldValidation::Ignore, _) | (_, Verb::StrategicMergePatch) => Vec::new(),
        _ => faults,
    };
    let decoded =
        decoded.map_err(|undecoded| patch_refused(&patch_text, &strict_cause(&faults, undecoded.cause)))?;
    if validation == FieldValidation::Strict && !faults.is_empty() {
        return Err(patch_refused(&patch_text, &strict_cause(&faults, String::new())));
    }
    let mut object = decoded.object;
    if request.target.custom.is_none() {
        keep_reset(patched.as_bytes(), &mut object);
    }
    registry.manage(request, reset, live, &mut object);
    let mut warnings = warnings(&faults);
    warnings.extend(decoded.warnings);
    Ok((object, warnings))
}

/// The cause of a refusal, with the faults of the patch itself where it is one of strict decoding.
fn strict_cause(faults: &[String], cause: String) -> String {
    const STRICT: &str = "strict decoding error: ";
    match cause.strip_prefix(STRICT) {
        Some(of_object) => {
            let all = [faults, &[of_object.to_owned()]].concat();
            format!("{STRICT}{}", all.join(", "))
        }
        None if cause.is_empty() => format!("{STRICT}{}", faults.join(", ")),
        None => cause,
    }
}

/// A patch, and the faults that strict decoding finds in it.
fn parse(request: &Request<'_>, release: &Release) -> Result<(Value<'static>, Vec<String>), Box<Status>> {
    let is_applied = matches!(request.verb, Verb::Apply { .. });
    let media_type = if is_applied {
        MediaType::Yaml
    } else {
        MediaType::Json
    };
    let (patch, faults) = pratique_objects::patch(request.body, media_type, release).map_err(|error| {
        Box::new(status::bad_request(match error {
            // Upstream: apiserver/pkg/endpoints/handlers/patch.go, which checks bodies first since 1.37.
            PatchError::Syntax(cause) if is_applied && !release.at_least(1, 37) => {
                format!("error decoding YAML: error converting YAML to JSON: {cause}")
            }
            PatchError::Syntax(cause) if !release.at_least(1, 37) => format!("error decoding patch: {cause}"),
            PatchError::Syntax(cause) if is_applied => format!("error encoding patch: {cause}"),
            PatchError::Syntax(_) => "invalid JSON patch".to_owned(),
            PatchError::Value(cause) => format!("error decoding patch: {cause}"),
        }))
    })?;
    check_form(request, &patch, release)?;
    let faults = match request.verb {
        Verb::JsonPatch => faults.into_iter().chain(unknown_fields(&patch)),
        _ => return Ok((patch, faults)),
    };
    let faults = faults.map(|fault| format!("json patch {fault}")).collect();
    Ok((patch, faults))
}

/// A patch has the form of its media type: operations or fields.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyJSPatch and applyPatchToCurrentObject
fn check_form(request: &Request<'_>, patch: &Value<'static>, release: &Release) -> Result<(), Box<Status>> {
    const FIELDS: &str = "map[string]interface {}";
    if patch.is_null() && matches!(request.verb, Verb::MergePatch) {
        return Err(Box::new(status::bad_request("Invalid JSON Patch")));
    }
    let is_checked = request.field_validation != Some(FieldValidation::Ignore);
    let (wanted, is_of_form, decoder) = match request.verb {
        Verb::Apply { .. } => (
            FIELDS,
            patch.as_object().is_some(),
            "error unmarshaling JSON: while decoding JSON: ",
        ),
        Verb::MergePatch if is_checked => (FIELDS, patch.as_object().is_some(), ""),
        Verb::JsonPatch if is_checked => ("[]handlers.jsonPatchOp", patch.as_array().is_some(), ""),
        _ => return Ok(()),
    };
    if is_of_form || patch.is_null() {
        return Ok(());
    }
    // Upstream: before 1.37 the body of an apply request was said to be YAML.
    let format = if decoder.is_empty() || release.at_least(1, 37) {
        "patch"
    } else {
        "YAML"
    };
    Err(Box::new(status::bad_request(format!(
        "error decoding {format}: {decoder}json: cannot unmarshal {} into Go value of type {wanted}",
        patch.kind()
    ))))
}

/// Unknown fields of operations: `unknown field "[0].x"`
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, jsonPatchOp
fn unknown_fields(patch: &Value<'static>) -> Vec<String> {
    let mut unknown = Vec::new();
    for (at, operation) in patch.as_array().into_iter().flatten().enumerate() {
        for (name, _) in operation.as_object().into_iter().flat_map(Object::iter) {
            if !matches!(name, "op" | "path" | "from" | "value") {
                let path = pratique_gotext::strconv::quote(&format!("[{at}].{name}"));
                unknown.push(format!("unknown field {path}"));
            }
        }
    }
    unknown
}

// Upstream: apiserver/pkg/endpoints/handlers/patch.go, applyJSPatch
fn patched_by_json(
    object: Value<'static>,
    patch: &Value<'static>,
    release: &Release,
) -> Result<Value<'static>, Box<Status>> {
    const MOST_OPERATIONS: usize = 10_000;
    let count = patch.as_array().map_or(0, <[_]>::len);
    if count > MOST_OPERATIONS {
        let message =
            format!("The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {count}");
        return Err(Box::new(Status::failure(
            Reason::RequestEntityTooLarge,
            format!("Request entity too large: {message}"),
        )));
    }
    let operations =
        json_patch::decode(patch).map_err(|error| Box::new(status::bad_request(error.to_text(release))))?;
    json_patch::apply(object, &operations, &Progress::unwatched()).map_err(|_| {
        // The server does not say which error.
        let message = "the server rejected our request due to an error in our request";
        Box::new(Status::failure(Reason::Invalid, message))
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
        let member = members.remove(&name).unwrap_or_default();
        members.insert(name, merge(member, change));
    }
    members.into()
}

/// The text of an object with an RFC 7386 patch merged in: objects that the patch changes have sorted keys,
/// others stay as they are.
// Upstream: github.com/evanphx/json-patch, MergePatch, which decodes no more than it has to
fn merged_text(text: &str, patch: Value<'static>) -> String {
    let (Some(members), Value::Object(patch)) = (raw_members(text), &patch) else {
        return merge(Value::Null, patch).to_string();
    };
    let mut members: BTreeMap<String, String> = members.into_iter().collect();
    for (name, change) in patch.iter() {
        match change {
            Value::Null => drop(members.remove(name)),
            change => {
                let member = members.get(name).map(String::as_str).unwrap_or_default();
                let merged = merged_text(member, change.clone());
                members.insert(name.to_owned(), merged);
            }
        }
    }
    let members: Vec<String> = members
        .into_iter()
        .map(|(name, value)| format!("{}:{value}", Value::from(name)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// The members of an object as they are written; `None` of other values.
fn raw_members(text: &str) -> Option<Vec<(String, String)>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut members = Vec::new();
    let (mut depth, mut quoted, mut escaped, mut start) = (0_usize, false, false, 0_usize);
    let mut ends: Vec<usize> = Vec::new();
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => ends.push(at),
            _ => {}
        }
    }
    ends.push(inside.len());
    for end in ends {
        let member = inside.get(start..end)?;
        start = end + 1;
        if member.is_empty() {
            continue;
        }
        let length = key_length(member)?;
        let (key, value) = (member.get(..length)?, member.get(length + 1..)?);
        let name = pratique_json::parse(key.as_bytes()).ok()?;
        members.push((name.as_str()?.to_owned(), value.to_owned()));
    }
    Some(members)
}

/// The length of a member's key with its quotes.
fn key_length(member: &str) -> Option<usize> {
    let mut escaped = false;
    let end = member.bytes().enumerate().skip(1).find(|(_, byte)| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        byte => *byte == b'"',
    });
    end.map(|(at, _)| at + 1)
}

/// A value as Go's `%+v` writes one that was read from JSON.
fn go_form(value: &Value<'static>) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(go_form).collect();
            format!("[{}]", elements.join(" "))
        }
        Value::Object(members) => {
            let members = members.members().iter();
            let members: Vec<String> = members
                .map(|(name, value)| format!("{name}:{}", go_form(value)))
                .collect();
            format!("map[{}]", members.join(" "))
        }
        other => other.to_string(),
    }
}

/// A patched object that cannot be decoded.
fn patch_refused(text: &str, cause: &str) -> Box<Status> {
    let error = Error::invalid("patch", text, cause);
    Box::new(status::invalid(GroupKind::default(), "", [error]))
}

fn apply_refused(error: ApplyError) -> Box<Status> {
    let message = error.to_string();
    match error {
        ApplyError::Typed(..) | ApplyError::Unconvertible(..) | ApplyError::Malformed(_) => {
            Box::new(Status {
                details: Some(StatusDetails {
                    causes: vec![StatusCause {
                        message: message.clone(),
                        ..StatusCause::default()
                    }],
                    ..StatusDetails::default()
                }),
                ..Status::failure(Reason::InternalError, message)
            })
        }
        ApplyError::ManagedFields | ApplyError::Version(..) => Box::new(status::bad_request(message)),
        ApplyError::Conflicts(conflicts) => Box::new(Status {
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
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_patch_does_not_touch_stays_as_it_is_written() {
        let patch = pratique_json::parse(br#"{"b":{"d":null,"a":[1]},"x":{"y":null}}"#)
            .unwrap()
            .into_owned();
        let text = r#"{"z":{"b":1,"a":"},\""},"b":{"f":{"z":1,"a":2},"d":1,"c,":"\u003c"}}"#;
        assert_eq!(
            merged_text(text, patch),
            r#"{"b":{"a":[1],"c,":"\u003c","f":{"z":1,"a":2}},"x":{},"z":{"b":1,"a":"},\""}}"#
        );
    }

    #[test]
    fn values_are_shown_as_go_does() {
        let value = pratique_json::parse(br#"{"b":[1,"x",null],"a":{"c":true}}"#)
            .unwrap()
            .into_owned();
        assert_eq!(go_form(&value), "map[a:map[c:true] b:[1 x <nil>]]");
    }

    #[test]
    fn members_are_merged_and_null_removes_them() {
        let parse = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        for (object, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (
                r#"{"a":{"b":"c"}}"#,
                r#"{"a":{"b":"d","c":null}}"#,
                r#"{"a":{"b":"d"}}"#,
            ),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            (r#"["a"]"#, r#"{"a":1}"#, r#"{"a":1}"#),
        ] {
            assert_eq!(merge(parse(object), parse(patch)).to_string(), expected);
        }
    }
}
