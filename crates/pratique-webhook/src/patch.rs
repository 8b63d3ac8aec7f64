//! Patches of mutating webhooks: read, applied, and what they make read back into the object's kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_json::{Value, escape_html, parse};
use pratique_merge::json_patch::{self, Operation};
use pratique_schema::Schema;
use pratique_types::{GroupVersion, GroupVersionKind};
use serde_json::value::RawValue;

use crate::version::{Conversion, Held};
use crate::wire;

/// The operations of a patch as they were written: what is noted in the audit log.
#[derive(Debug)]
pub(crate) struct Written(Vec<Option<BTreeMap<String, Box<RawValue>>>>);

/// Reads a patch.
///
/// # Errors
/// Why it is none, in the reference's words.
pub(crate) fn decode<'p>(text: &'p [u8]) -> Result<Vec<Operation<'p>>, String> {
    let value = parse(text).map_err(|error| wire::syntax_fault(text, &error))?;
    json_patch::decode(&value).map_err(|error| error.to_string())
}

/// The object that operations make of one; the error is one of the server.
pub(crate) fn apply<'s>(
    object: &Value<'_>,
    operations: &[Operation<'_>],
    kind: &GroupVersionKind,
    conversion: &Conversion<'_>,
) -> Result<Held<'s>, String> {
    let patched = json_patch::apply(object.borrowed(), operations).map_err(|error| error.to_string())?;
    let (api_version, own) = wire::type_of(&patched)?;
    let version = GroupVersion::parse(&api_version).map_err(|error| error.to_string())?;
    if !conversion.is_typed(kind) {
        if patched.get("kind").is_none_or(|kind| kind.as_str() == Some("")) {
            return Err(format!(
                "Object 'Kind' is missing in '{}'",
                escape_html(&patched.to_string())
            ));
        }
        return Ok(patched.into());
    }
    let own = wire::with_defaults(version, &own, kind);
    let schema = Schema::builtin();
    let id = schema.kind(&own).ok_or_else(|| {
        let version = own.api_version();
        format!(
            "no kind {:?} is registered for version {version:?} in scheme {SCHEME:?}",
            own.kind
        )
    })?;
    if let Some(members) = patched.as_object() {
        pratique_typed::decode::lenient(id, members)?;
    }
    let formed = pratique_typed::typed(&own, &patched);
    Ok(match formed {
        Some(formed) => Held::Made(Arc::new(formed.into_owned())),
        None => patched.into(),
    })
}

/// The name of the registry of built-in types in messages.
const SCHEME: &str = "pkg/api/legacyscheme/scheme.go:30";

impl Written {
    /// Reads the operations of a patch that was decoded.
    pub(crate) fn read(text: &[u8]) -> Self {
        // What was decoded once can be again.
        Written(serde_json::from_slice(text).unwrap_or_default())
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
    let (mut in_text, mut escaped) = (false, false);
    let keep = |character: &char| {
        if in_text {
            in_text = escaped || *character != '"';
            escaped = !escaped && *character == '\\';
            return true;
        }
        in_text = *character == '"';
        !character.is_ascii_whitespace()
    };
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

    #[track_caller]
    fn check(types: bool, patch: &str, expected: &str) {
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let object = parse(
            br#"{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":null},"status":{}}"#,
        );
        let operations = decode(patch.as_bytes()).unwrap();
        let conversion = Conversion::new(types, std::iter::once(&kind));
        let made = apply(&object.unwrap(), &operations, &kind, &conversion);
        assert_eq!(
            made.map_or_else(|error| error, |made| made.get().to_string()),
            expected
        );
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
