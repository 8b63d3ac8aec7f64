//! Decodes AdmissionReviews.

use pratique_json::{Object, Value};
use pratique_types::{AdmissionRequest, InvalidRequest, admission};

use pratique_json::text_at;

/// Whether an object is an AdmissionReview, of any version.
pub fn is_review(object: &Value<'_>) -> bool {
    text_at(object, &["kind"]) == admission::KIND
        && text_at(object, &["apiVersion"]).starts_with("admission.k8s.io/")
}

/// Why the request of an AdmissionReview cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// It is of another version.
    #[error("an AdmissionReview of {0}; only {version} is read", version = admission::API_VERSION)]
    Version(String),
    /// It has no request.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// Its request has fields of other types.
    #[error("not an AdmissionReview: {0}")]
    Malformed(String),
    /// Its request is one that no API server sends.
    #[error("no API server sends the request of this AdmissionReview: {0}")]
    Invalid(#[from] InvalidRequest),
}

/// Decodes the request of an AdmissionReview.
///
/// # Errors
/// It is not a review that an API server sends.
pub fn decode(review: &Value<'static>) -> Result<AdmissionRequest<'static>, ReviewError> {
    let version = text_at(review, &["apiVersion"]);
    if version != admission::API_VERSION {
        return Err(ReviewError::Version(version.to_owned()));
    }
    let Some(Value::Object(request)) = review.get("request") else {
        return Err(ReviewError::NoRequest);
    };
    let request = read(request.clone()).map_err(|error| ReviewError::Malformed(error.to_string()))?;
    request.validate()?;
    Ok(request)
}

/// Decodes a request, without copying its objects.
fn read(request: Object<'static>) -> Result<AdmissionRequest<'static>, serde_json::Error> {
    let mut request = request;
    let mut take_member = |key: &str| request.remove(key).unwrap_or_default();
    let (object, old_object, options) = (
        take_member("object"),
        take_member("oldObject"),
        take_member("options"),
    );
    let text = Value::Object(request).to_string();
    let read: AdmissionRequest<'_> = serde_json::from_str(&text)?;
    Ok(AdmissionRequest {
        uid: read.uid,
        kind: read.kind,
        resource: read.resource,
        sub_resource: read.sub_resource,
        request_kind: read.request_kind,
        request_resource: read.request_resource,
        request_sub_resource: read.request_sub_resource,
        name: read.name,
        namespace: read.namespace,
        operation: read.operation,
        user_info: read.user_info,
        object,
        old_object,
        dry_run: read.dry_run,
        options,
        form: read.form,
        lacks_old_object: read.lacks_old_object,
        assumes_resource: read.assumes_resource,
        lacks_details: read.lacks_details,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(review: &str, expected: Result<&str, &str>) {
        let review = pratique_json::parse(review.as_bytes()).unwrap().into_owned();
        assert!(is_review(&review));
        let found = decode(&review).map(|request| serde_json::to_string(&request).unwrap());
        let found = found.map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn requests_are_taken_as_they_are() {
        check(
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"DELETE",
                "namespace":"shop","kind":{"kind":"Pod","version":"v1"},"resource":{"resource":"pods","version":"v1"},"object":null,
                "oldObject":{"a":1}}}"#,
            Ok(concat!(
                r#"{"uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},"#,
                r#""resource":{"group":"","version":"v1","resource":"pods"},"namespace":"shop","operation":"DELETE","userInfo":{},"#,
                r#""object":null,"oldObject":{"a":1},"options":null}"#,
            )),
        );
    }

    #[test]
    fn faults() {
        check(
            r#"{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}"#,
            Err("an AdmissionReview of admission.k8s.io/v1beta1; only admission.k8s.io/v1 is read"),
        );
        check(
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#,
            Err("the AdmissionReview has no request"),
        );
        check(
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE",
                "resource":{"resource":"Pods","version":"v1"}}}"#,
            Err(
                "no API server sends the request of this AdmissionReview: resource.resource: \"Pods\" is not the name of a \
                 resource: lower-case letters, digits and '-'",
            ),
        );
        check(
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"READ"}}"#,
            Err("not an AdmissionReview: unknown variant `READ`, expected one of \
                 `CREATE`, `UPDATE`, `DELETE`, `CONNECT`, `` at line 1 column 19"),
        );
    }
}
