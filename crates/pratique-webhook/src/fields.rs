//! The fields of answers: checked against their types, with an API server's messages, and then read.

use std::collections::BTreeMap;
use std::ops::ControlFlow::{self, Continue};

use pratique_json::{Value, base64};
use pratique_schema::Schema;
use pratique_typed::decode::{Fault, FaultSink, StrictFault, decode};
use pratique_types::{ListMeta, Status, StatusCause, StatusDetails};

use crate::order::first_in;

/// A value of an answer does not fit the type of its field, with an API server's message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct FieldError(String);

/// Checks that a document can be decoded into a type, such as `meta/v1.Status`. `text` is the document as JSON.
///
/// # Errors
/// The message about the first value of the text that cannot be.
pub(crate) fn check_fields(
    schema: &'static Schema,
    type_name: &str,
    document: &Value<'_>,
    text: &[u8],
) -> Result<(), FieldError> {
    let mut faults = FieldFaults::default();
    if let Some(id) = schema.named(type_name) {
        decode(schema, id, document, &mut faults);
    }
    let FieldFaults(mut faults) = faults;
    let first = match faults.len() {
        0 => return Ok(()),
        1 => 0,
        _ => {
            let paths: Vec<&str> = faults.iter().map(|(path, _)| path.as_str()).collect();
            first_in(text, &paths).unwrap_or_default()
        }
    };
    Err(FieldError(faults.swap_remove(first).1))
}

/// The values that cannot be decoded: their paths and messages. Only the first at each path matters.
#[derive(Default)]
struct FieldFaults(Vec<(String, String)>);

impl<'v> FaultSink<'v, &'v Value<'v>> for FieldFaults {
    fn fault(&mut self, fault: &Fault<'_, 'v, &'v Value<'v>>) -> ControlFlow<()> {
        let path = fault.field_path();
        if self.0.iter().all(|(known, _)| *known != path) {
            self.0.push((path, fault.message()));
        }
        Continue(())
    }

    /// Decoding is lenient.
    fn strict_fault(&mut self, _: &StrictFault<'_, 'v, &'v Value<'v>>) {}
}

// The functions below read checked documents. Null is the zero value, as everywhere in Go's JSON.

/// A field that is not null.
pub(crate) fn field<'v>(value: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    value.get(name).filter(|value| !value.is_null())
}

pub(crate) fn text_member(value: &Value<'_>, name: &str) -> String {
    field(value, name).map(element).unwrap_or_default()
}

pub(crate) fn bool(value: &Value<'_>, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

pub(crate) fn texts(value: &Value<'_>, name: &str) -> Vec<String> {
    elements(value, name).iter().map(element).collect()
}

pub(crate) fn texts_by_key(value: &Value<'_>, name: &str) -> BTreeMap<String, String> {
    let members = value.get(name).and_then(Value::as_object);
    let members = members.into_iter().flat_map(|members| members.iter());
    members
        .map(|(key, value)| (key.to_owned(), element(value)))
        .collect()
}

/// Bytes in base64, or as a list of numbers.
pub(crate) fn bytes(value: &Value<'_>, name: &str) -> Vec<u8> {
    if let Some(text) = value.get(name).and_then(Value::as_str) {
        return base64::decode(text).unwrap_or_default();
    }
    let bytes = elements(value, name).iter().map(Value::as_int);
    bytes.map(|byte| byte.unwrap_or_default() as u8).collect()
}

pub(crate) fn status(value: &Value<'_>) -> Status {
    Status {
        status: text_member(value, "status"),
        message: text_member(value, "message"),
        reason: text_member(value, "reason"),
        metadata: field(value, "metadata").map(list_meta).unwrap_or_default(),
        details: field(value, "details").map(details),
        code: int32(value, "code"),
    }
}

fn list_meta(value: &Value<'_>) -> ListMeta {
    ListMeta {
        self_link: text_member(value, "selfLink"),
        resource_version: text_member(value, "resourceVersion"),
        r#continue: text_member(value, "continue"),
        remaining_item_count: value.get("remainingItemCount").and_then(Value::as_int),
    }
}

fn details(value: &Value<'_>) -> StatusDetails {
    StatusDetails {
        name: text_member(value, "name"),
        group: text_member(value, "group"),
        kind: text_member(value, "kind"),
        uid: text_member(value, "uid"),
        causes: elements(value, "causes").iter().map(cause).collect(),
        retry_after_seconds: int32(value, "retryAfterSeconds"),
    }
}

fn cause(value: &Value<'_>) -> StatusCause {
    StatusCause {
        reason: text_member(value, "reason"),
        message: text_member(value, "message"),
        field: text_member(value, "field"),
    }
}

fn int32(value: &Value<'_>, name: &str) -> i32 {
    let number = value.get(name).and_then(Value::as_int).unwrap_or_default();
    i32::try_from(number).unwrap_or_default()
}

fn elements<'v>(value: &'v Value<'v>, name: &str) -> &'v [Value<'v>] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

fn element(value: &Value<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;
    use pratique_schema::Release;

    #[track_caller]
    fn check(request: &str, expected: &str) {
        let review = format!(r#"{{"request":{request}}}"#);
        let checked = super::check_fields(
            Release::latest().schema(),
            "admission/v1beta1.AdmissionReview",
            &parse(review.as_bytes()).unwrap(),
            review.as_bytes(),
        );
        assert_eq!(
            checked.err().map(|error| error.to_string()).unwrap_or_default(),
            expected
        );
    }

    #[test]
    fn requests_that_are_sent_back_are_checked() {
        let error = |what: &str, field: &str, go: &str| {
            format!("json: cannot unmarshal {what} into Go struct field {field} of type {go}")
        };
        check("null", "");
        check(
            r#"{"uid":"u","kind":{"kind":"Pod"},"object":5,"options":"x","dryRun":null,"more":1,
                "userInfo":{"groups":["g",null],"extra":{"k":["v"],"none":null}}}"#,
            "",
        );
        check(
            "[]",
            &error("array", "AdmissionReview.request", "v1beta1.AdmissionRequest"),
        );
        check(
            r#"{"uid":5}"#,
            &error("number", "AdmissionRequest.request.uid", "types.UID"),
        );
        check(
            r#"{"requestKind":"Pod"}"#,
            &error(
                "string",
                "AdmissionRequest.request.requestKind",
                "v1.GroupVersionKind",
            ),
        );
        check(
            r#"{"resource":{"resource":true}}"#,
            &error("bool", "GroupVersionResource.request.resource.resource", "string"),
        );
        check(
            r#"{"operation":{}}"#,
            &error(
                "object",
                "AdmissionRequest.request.operation",
                "v1beta1.Operation",
            ),
        );
        check(
            r#"{"userInfo":{"extra":{"k":"v"}}}"#,
            &error("string", "UserInfo.request.userInfo.extra", "v1.ExtraValue"),
        );
        check(
            r#"{"userInfo":{"extra":{"k":[1]}}}"#,
            &error("number", "UserInfo.request.userInfo.extra", "string"),
        );
    }
}
