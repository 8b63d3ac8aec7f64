//! The request that some webhooks send back with their answer: nobody looks at it, but the reference's client reads
//! it, and an answer whose request has fields of wrong types is none.

use pratique_json::Value;

use crate::fields::Fields;

/// Reads the request at the member `request` of a review.
pub(crate) fn read(review: &Value<'_>, fields: &mut Fields) {
    const OF: &str = "AdmissionRequest";
    let at = |name: &str| format!("request.{name}");
    let Some(request) = fields.structure(review, "AdmissionReview", "request", OF) else {
        return;
    };
    fields.text(request, OF, &at("uid"), "types.UID");
    for name in ["kind", "requestKind"] {
        triple(request, &at(name), "GroupVersionKind", "kind", fields);
    }
    for name in ["resource", "requestResource"] {
        triple(request, &at(name), "GroupVersionResource", "resource", fields);
    }
    for name in ["subResource", "requestSubResource", "name", "namespace"] {
        fields.text(request, OF, &at(name), "string");
    }
    fields.own_text(request, OF, &at("operation"), "Operation");
    fields.bool(request, OF, &at("dryRun"));
    user(request, &at("userInfo"), fields);
}

/// A group, a version and a kind or resource.
fn triple(request: &Value<'_>, path: &str, go: &str, last: &str, fields: &mut Fields) {
    let found = fields.meta_structure(request, "AdmissionRequest", path, &format!("v1.{go}"));
    for name in ["group", "version", last] {
        if let Some(found) = found {
            fields.text(found, go, &format!("{path}.{name}"), "string");
        }
    }
}

fn user(request: &Value<'_>, path: &str, fields: &mut Fields) {
    const OF: &str = "UserInfo";
    let at = |name: &str| format!("{path}.{name}");
    let Some(user) = fields.meta_structure(request, "AdmissionRequest", path, "v1.UserInfo") else {
        return;
    };
    for name in ["username", "uid"] {
        fields.text(user, OF, &at(name), "string");
    }
    fields.texts(user, OF, &at("groups"));
    fields.lists_by_key(user, OF, &at("extra"), "v1.ExtraValue");
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    #[track_caller]
    fn check(request: &str, expected: &str) {
        let review = format!(r#"{{"request":{request}}}"#);
        let mut fields = Fields::new("v1beta1");
        read(&parse(review.as_bytes()).unwrap(), &mut fields);
        assert_eq!(
            fields.fault(review.as_bytes()).err().unwrap_or_default(),
            expected
        );
    }

    #[test]
    fn fields_of_wrong_types_are_told() {
        let told = |what: &str, field: &str, go: &str| {
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
            &told("array", "AdmissionReview.request", "v1beta1.AdmissionRequest"),
        );
        check(
            r#"{"uid":5}"#,
            &told("number", "AdmissionRequest.request.uid", "types.UID"),
        );
        check(
            r#"{"requestKind":"Pod"}"#,
            &told(
                "string",
                "AdmissionRequest.request.requestKind",
                "v1.GroupVersionKind",
            ),
        );
        check(
            r#"{"resource":{"resource":true}}"#,
            &told("bool", "GroupVersionResource.request.resource.resource", "string"),
        );
        check(
            r#"{"operation":{}}"#,
            &told(
                "object",
                "AdmissionRequest.request.operation",
                "v1beta1.Operation",
            ),
        );
        check(
            r#"{"userInfo":{"extra":{"k":"v"}}}"#,
            &told("string", "UserInfo.request.userInfo.extra", "v1.ExtraValue"),
        );
        check(
            r#"{"userInfo":{"extra":{"k":[1]}}}"#,
            &told("number", "UserInfo.request.userInfo.extra", "string"),
        );
    }
}
