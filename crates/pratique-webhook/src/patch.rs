//! Patches of mutating webhooks: decoding, application, and decoding of the result into the kind of the object.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_gotext::utf8::lossy;
use pratique_json::{Progress, Value, escape_html, parse};
use pratique_merge::json_patch::{self, Operation};
use pratique_schema::Release;
use pratique_typed::ConversionError;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::json_as_json;
use serde_json::value::RawValue;

use crate::object_error::ObjectError;
use crate::spelling;
use crate::version::{ObjectRef, VersionConverter};
use crate::wire;

/// The operations of a patch as they were written, for the audit log.
#[derive(Debug)]
pub(crate) struct RecordedPatch(Vec<Option<OperationMembers>>);

/// The members of an operation.
pub(crate) type OperationMembers = BTreeMap<String, Box<RawValue>>;

/// Why a patch cannot be decoded. The messages are an API server's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatchDecodeError {
    /// It is not JSON.
    #[error("{0}")]
    Syntax(String),
    /// It is not a list of operations.
    #[error("{0}")]
    Operations(String),
}

/// Decodes a patch.
///
/// # Errors
/// It is not JSON, or not a list of operations.
pub(crate) fn decode(text: &[u8], release: &Release) -> Result<Vec<Operation<'static>>, PatchDecodeError> {
    let value = match parse(text) {
        Ok(value) if !text.windows(2).any(|two| two == b"-0") => value.into_owned(),
        // The reference writes numbers as it found them and reads them again, so that -0 becomes 0.
        _ => {
            let json = json_as_json(text).map_err(|error| {
                PatchDecodeError::Syntax(error.to_text(release.is_of_go_1_27()).to_owned())
            })?;
            let plain = without_negative_zero(&json);
            let value = parse(plain.as_bytes());
            let value = value.map_err(|error| PatchDecodeError::Syntax(error.to_string()))?;
            value.into_owned()
        }
    };
    let operations = json_patch::decode(&value);
    let mut operations = operations.map_err(|error| PatchDecodeError::Operations(error.to_text(release)))?;
    if operations.iter().any(|operation| operation.op == "test") {
        let tested = spelling::tested(&RecordedPatch::read(text).0);
        for (operation, tested) in operations.iter_mut().zip(tested) {
            operation.value = match (operation.value.take(), tested) {
                (Some(_), Some(tested)) => Some(tested),
                (value, _) => value,
            };
        }
    }
    Ok(operations)
}

/// Compact JSON with 0 in place of the number -0.
fn without_negative_zero(json: &str) -> String {
    let mut outside = OutsideStrings::default();
    let mut rest = json.chars().peekable();
    let mut text = String::with_capacity(json.len());
    while let Some(character) = rest.next() {
        if !outside.advance(character) || character != '-' || rest.peek() != Some(&'0') {
            text.push(character);
            continue;
        }
        rest.next();
        let fraction = matches!(rest.peek(), Some('.' | 'e' | 'E'));
        text.push_str(if fraction { "-0" } else { "0" });
    }
    text
}

/// Tracks whether a position in JSON is outside of strings.
#[derive(Default)]
struct OutsideStrings {
    in_string: bool,
    escaped: bool,
}

impl OutsideStrings {
    /// Takes the next character; quotes count as part of their string.
    fn advance(&mut self, character: char) -> bool {
        if !self.in_string {
            self.in_string = character == '"';
            return !self.in_string;
        }
        self.in_string = self.escaped || character != '"';
        self.escaped = !self.escaped && character == '\\';
        false
    }
}

/// An upper bound on the memory that applying operations takes, which were decoded from a patch of `patch` bytes: for
/// the patched document, for that in the form of its kind, and for a copy to keep.
pub(crate) fn applied_bytes(object: &Value<'_>, operations: &[Operation<'_>], patch: usize) -> usize {
    /// The most memory that a byte of copied JSON takes: `{}` and a comma are a value.
    const COPIED: usize = 16;
    let values = operations.iter().filter_map(|operation| operation.value.as_ref());
    let values: usize = values
        .map(|value| value.copied_bytes() + size_of_val(value))
        .sum();
    let changed = object.copied_bytes().saturating_add(values);
    let copies = operations
        .iter()
        .filter(|operation| operation.op == "copy")
        .count();
    // Each copies no more than all that is there by then.
    let copied = (0..copies.min(16)).fold(changed, |copied, _| copied.saturating_mul(2)) - changed;
    let copied = copied.min(json_patch::MAX_COPIED_BYTES * COPIED);
    // Keys come from the paths.
    changed
        .saturating_add(copied)
        .saturating_add(patch)
        .saturating_mul(3)
}

/// Applies operations to an object.
// Upstream: pkg/admission/plugin/webhook/mutating/dispatcher.go, callAttrMutatingHook
pub(crate) fn apply<'s>(
    object: &Value<'_>,
    operations: &[Operation<'_>],
    kind: &GroupVersionKind,
    converter: &VersionConverter<'_>,
    progress: &Progress<'_>,
) -> Result<ObjectRef<'s>, ObjectError> {
    let typing_release = converter.typing_release(kind);
    let object = if typing_release.is_some() {
        object.try_borrowed(progress)?
    } else {
        // The reference writes the object and reads it again: in a custom resource, 3.0 is 3 from then on.
        object.try_rewritten("", progress)?
    };
    let patched = json_patch::apply(object, operations, progress)?;
    let (api_version, kind_name) = wire::type_of(&patched, converter.is_of_go_1_27())
        .map_err(|error| ObjectError::Decode(error.to_string()))?;
    let version = GroupVersion::parse(&api_version);
    let version = version.map_err(|error| ObjectError::Decode(error.to_string()))?;
    let Some(release) = typing_release else {
        if patched
            .get("kind")
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
        {
            let json = escape_html(&patched.to_string()).into_owned();
            return Err(ObjectError::MissingKind(json));
        }
        return Ok(patched.into());
    };
    let kind = wire::with_defaults(version, &kind_name, kind);
    let schema = release.schema();
    let id = schema.kind(&kind).ok_or_else(|| ConversionError::Unregistered {
        kind: kind.kind.clone(),
        version: kind.api_version(),
        registry: release.registry_name(),
    })?;
    if let Some(members) = patched.as_object() {
        pratique_typed::decode::lenient(schema, id, members, progress)?;
    }
    let formed = pratique_typed::typed(release, &kind, &patched, progress)?;
    Ok(match formed {
        Some(formed) => ObjectRef::Made(Arc::new(formed.into_owned())),
        None => patched.into(),
    })
}

impl RecordedPatch {
    /// Reads the operations of a patch that was decoded.
    pub(crate) fn read(text: &[u8]) -> Self {
        // It was decoded before, so this does not fail.
        RecordedPatch(serde_json::from_str(&lossy(text)).unwrap_or_default())
    }

    /// The members of each operation.
    pub(crate) fn operations(&self) -> &[Option<OperationMembers>] {
        &self.0
    }

    /// As compact JSON; the members of each operation are in order.
    pub(crate) fn json(&self) -> String {
        let operations = self.0.iter().map(|operation| match operation {
            None => "null".to_owned(),
            Some(members) => {
                let members = members.iter().map(|(key, value)| {
                    // Strings always have a JSON form.
                    let key = serde_json::to_string(key).unwrap_or_default();
                    format!("{key}:{}", compact(value.get()))
                });
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        });
        format!("[{}]", operations.collect::<Vec<_>>().join(","))
    }
}

/// JSON without the blanks between its tokens.
fn compact(json: &str) -> String {
    let mut outside = OutsideStrings::default();
    let keep = |character: &char| !outside.advance(*character) || !character.is_ascii_whitespace();
    json.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[track_caller]
    fn check_written(patch: &str, expected: &str) {
        assert_eq!(RecordedPatch::read(patch.as_bytes()).json(), expected);
    }

    #[test]
    fn patches_are_noted_as_they_were_written() {
        check_written("[]", "[]");
        check_written(
            r#"[ {"path": "/a", "op":"add" , "value": {"b": [1.0, 1e3, "x \" y"], "a": null} } ]"#,
            r#"[{"op":"add","path":"/a","value":{"b":[1.0,1e3,"x \" y"],"a":null}}]"#,
        );
        check_written(r#"[null,{"op":"add","op":"test"}]"#, r#"[null,{"op":"test"}]"#);
    }

    #[test]
    fn broken_patches_are_refused_in_the_words_of_the_release() {
        for (version, expected) in [
            ("1.37", r"invalid character '\n' in string literal"),
            ("1.38", r"invalid character '\n' in string"),
        ] {
            let error = decode(b"[\"\n\"]", Release::by_version(version).unwrap()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn negative_zero_is_zero() {
        let decoded = decode(br#"[{"value":["-0",-0,-0.0,-0e1,-1]}]"#, Release::latest()).unwrap();
        let shown: Vec<String> = decoded
            .into_iter()
            .map(|operation| Value::from(operation).to_string())
            .collect();
        assert_eq!(shown, [r#"{"op":"unknown","value":["-0",0,-0,-0,-1]}"#]);
    }

    #[track_caller]
    fn check(types: bool, patch: &str, expected: &str) {
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let object = parse(
            br#"{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":null},"status":{}}"#,
        );
        let operations = decode(patch.as_bytes(), Release::latest()).unwrap();
        let converter = VersionConverter::new(types.then_some(Release::latest()), std::iter::once(&kind));
        let progress = Progress::unwatched();
        let made = apply(&object.unwrap(), &operations, &kind, &converter, &progress);
        let made = match made {
            Ok(made) => made.get().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(made, expected);
    }

    #[test]
    fn what_patches_make_is_read_back() {
        check(
            false,
            r#"[{"op":"remove","path":"/kind"}]"#,
            r#"Object 'Kind' is missing in '{"apiVersion":"v1","metadata":{},"spec":{"containers":null},"status":{}}'"#,
        );
        check(
            true,
            r#"[{"op":"add","path":"/spec/nodeName","value":1}]"#,
            "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string",
        );
        check(
            true,
            r#"[{"op":"add","path":"/spec/x","value":1},{"op":"remove","path":"/kind"}]"#,
            r#"{"apiVersion":"v1","metadata":{},"spec":{"containers":null},"status":{}}"#,
        );
    }
}
