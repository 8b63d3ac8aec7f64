//! Patches of mutating webhooks: read, applied, and what they make read back into the object's kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_gotext::strconv::quote;
use pratique_gotext::utf8::lossy;
use pratique_json::{Interrupted, Progress, Value, escape_html, parse};
use pratique_merge::json_patch::{self, Operation};
use pratique_schema::Schema;
use pratique_typed::ConversionError;
use pratique_typed::decode::DecodeError;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::json_as_json;
use serde_json::value::RawValue;

use crate::spelling;
use crate::version::{Conversion, Held};
use crate::wire;

/// The operations of a patch as they were written: what is noted in the audit log.
#[derive(Debug)]
pub(crate) struct Written(Vec<Option<Members>>);

/// The members of an operation.
pub(crate) type Members = BTreeMap<String, Box<RawValue>>;

/// Reads a patch.
///
/// # Errors
/// Why it is none, in the reference's words.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<Operation<'static>>, String> {
    let value = match parse(text) {
        Ok(value) if !text.windows(2).any(|two| two == b"-0") => value.into_owned(),
        // The reference writes numbers as it found them and reads them again, so that -0 becomes 0.
        _ => {
            let plain = without_negative_zero(&json_as_json(text).map_err(|error| error.message)?);
            let value = parse(plain.as_bytes()).map_err(|error| error.to_string())?;
            value.into_owned()
        }
    };
    let mut operations = json_patch::decode(&value).map_err(|error| error.to_string())?;
    if operations.iter().any(|operation| operation.op == "test") {
        let tested = spelling::tested(&Written::read(text).0);
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
    let mut outside = Outside::default();
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

/// Whether a place of JSON is outside of texts.
#[derive(Default)]
struct Outside {
    in_text: bool,
    escaped: bool,
}

impl Outside {
    /// Takes the next character; quotes count as part of their text.
    fn advance(&mut self, character: char) -> bool {
        if !self.in_text {
            self.in_text = character == '"';
            return !self.in_text;
        }
        self.in_text = self.escaped || character != '"';
        self.escaped = !self.escaped && character == '\\';
        false
    }
}

/// Why an object is not patched, or not converted.
#[derive(Debug)]
pub(crate) enum Unapplied {
    /// An error of the server, in the reference's words.
    Server(String),
    /// The caller interrupted it.
    Interrupted,
}

impl From<String> for Unapplied {
    fn from(error: String) -> Self {
        Unapplied::Server(error)
    }
}

impl From<Interrupted> for Unapplied {
    fn from(_: Interrupted) -> Self {
        Unapplied::Interrupted
    }
}

impl From<ConversionError> for Unapplied {
    fn from(error: ConversionError) -> Self {
        match error {
            ConversionError::Interrupted(interrupted) => interrupted.into(),
            error => Unapplied::Server(error.to_string()),
        }
    }
}

impl From<DecodeError> for Unapplied {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Interrupted(interrupted) => interrupted.into(),
            DecodeError::Invalid(error) => Unapplied::Server(error),
        }
    }
}

impl From<json_patch::Error> for Unapplied {
    fn from(error: json_patch::Error) -> Self {
        match error {
            json_patch::Error::Interrupted => Unapplied::Interrupted,
            error => Unapplied::Server(error.to_string()),
        }
    }
}

/// How much memory it takes at most to apply operations, which were read from a patch of so many bytes: the document that they
/// change, what it becomes in the form of its kind, and a copy of that to keep.
pub(crate) fn applied_bytes(object: &Value<'_>, operations: &[Operation<'_>], patch: usize) -> usize {
    /// What a byte of copied JSON becomes in memory at most: `{}` and a comma are a value.
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

/// The object that operations make of one.
pub(crate) fn apply<'s>(
    object: &Value<'_>,
    operations: &[Operation<'_>],
    kind: &GroupVersionKind,
    conversion: &Conversion<'_>,
    progress: &Progress<'_>,
) -> Result<Held<'s>, Unapplied> {
    let object = match conversion.is_typed(kind) {
        true => object.try_borrowed(progress)?,
        // The reference writes the object and reads what it becomes: of a custom resource, 3.0 is 3 from then on.
        false => object.try_rewritten("", progress)?,
    };
    let patched = json_patch::apply(object, operations, progress)?;
    let (api_version, own) = wire::type_of(&patched)?;
    let version = GroupVersion::parse(&api_version).map_err(|error| error.to_string())?;
    if !conversion.is_typed(kind) {
        if patched
            .get("kind")
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
        {
            return Err(format!(
                "Object 'Kind' is missing in '{}'",
                escape_html(&patched.to_string())
            )
            .into());
        }
        return Ok(patched.into());
    }
    let own = wire::with_defaults(version, &own, kind);
    let schema = Schema::builtin();
    let id = schema.kind(&own).ok_or_else(|| {
        let version = own.api_version();
        format!(
            "no kind {} is registered for version {} in scheme {SCHEME:?}",
            quote(&own.kind),
            quote(&version)
        )
    })?;
    if let Some(members) = patched.as_object() {
        pratique_typed::decode::lenient(id, members, progress)?;
    }
    let formed = pratique_typed::typed(&own, &patched, progress)?;
    Ok(match formed {
        Some(formed) => Held::Made(Arc::new(formed.into_owned())),
        None => patched.into(),
    })
}

/// The name of the registry of built-in types in messages.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

impl Written {
    /// Reads the operations of a patch that was decoded.
    pub(crate) fn read(text: &[u8]) -> Self {
        // What was decoded once can be again.
        Written(serde_json::from_str(&lossy(text)).unwrap_or_default())
    }

    /// The members of each operation.
    pub(crate) fn operations(&self) -> &[Option<Members>] {
        &self.0
    }

    /// As compact JSON; the members of each operation are in order.
    pub(crate) fn json(&self) -> String {
        let operations = self.0.iter().map(|operation| match operation {
            None => "null".to_owned(),
            Some(members) => {
                let members = members.iter().map(|(key, value)| {
                    // Texts always have a JSON form.
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
    let mut outside = Outside::default();
    let keep = |character: &char| !outside.advance(*character) || !character.is_ascii_whitespace();
    json.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_written(patch: &str, expected: &str) {
        assert_eq!(Written::read(patch.as_bytes()).json(), expected);
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
    fn negative_zero_is_zero() {
        let decoded = decode(br#"[{"value":["-0",-0,-0.0,-0e1,-1]}]"#).unwrap();
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
        let operations = decode(patch.as_bytes()).unwrap();
        let conversion = Conversion::new(types, std::iter::once(&kind));
        let progress = Progress::unwatched();
        let made = apply(&object.unwrap(), &operations, &kind, &conversion, &progress);
        let made = match made {
            Ok(made) => made.get().to_string(),
            Err(Unapplied::Server(error)) => error,
            Err(Unapplied::Interrupted) => "interrupted".to_owned(),
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
