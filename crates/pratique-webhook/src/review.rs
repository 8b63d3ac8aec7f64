//! The reviews that webhooks receive.

use bytes::Bytes;
use pratique_json::{Value, write};
use pratique_match::MatchedResource;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo};
use serde::Serialize;

use crate::webhook::ReviewVersion;

/// A review without its uid, which webhooks that receive the same share.
#[derive(Clone, Debug)]
pub(crate) struct SharedReview {
    /// Up to the uid.
    head: String,
    /// From the uid on.
    tail: Vec<u8>,
}

/// The subject of a review.
#[derive(Clone, Copy)]
pub(crate) struct ReviewSubject<'r> {
    pub(crate) request: &'r AdmissionRequest<'r>,
    /// The name of the object, as far as it is known.
    pub(crate) name: &'r str,
    /// The resource and kind that the webhook matched.
    pub(crate) matched: MatchedResource<'r>,
    /// The object, in the kind that the webhook matched.
    pub(crate) object: &'r Value<'r>,
    /// The stored object, in the kind that the webhook matched.
    pub(crate) old_object: &'r Value<'r>,
}

/// The fields of a request in a review from the one after `uid` to `userInfo`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewRequest<'r> {
    kind: &'r GroupVersionKind,
    resource: &'r GroupVersionResource,
    #[serde(skip_serializing_if = "str::is_empty")]
    sub_resource: &'r str,
    request_kind: &'r GroupVersionKind,
    request_resource: &'r GroupVersionResource,
    #[serde(skip_serializing_if = "str::is_empty")]
    request_sub_resource: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'r str,
    operation: &'r str,
    user_info: &'r UserInfo,
}

impl SharedReview {
    pub(crate) fn new(version: ReviewVersion, subject: &ReviewSubject<'_>) -> Self {
        // These always have a JSON form; keys are texts.
        let begin = serde_json::to_vec(&ReviewRequest::new(subject)).unwrap_or_default();
        let begin = begin.strip_prefix(b"{").and_then(|json| json.strip_suffix(b"}"));
        let mut tail = b"\",".to_vec();
        tail.extend_from_slice(begin.unwrap_or_default());
        let dry_run = Value::Bool(subject.request.dry_run.unwrap_or_default());
        for (name, value) in [
            ("object", subject.object),
            ("oldObject", subject.old_object),
            ("dryRun", &dry_run),
            ("options", &subject.request.options),
        ] {
            tail.extend_from_slice(b",\"");
            tail.extend_from_slice(name.as_bytes());
            tail.extend_from_slice(b"\":");
            write(value, &mut tail);
        }
        tail.extend_from_slice(b"}}");
        let version = version.name();
        SharedReview {
            head: format!(
                r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/{version}","request":{{"uid":""#
            ),
            tail,
        }
    }

    /// How many bytes the review has with a uid.
    pub(crate) fn len(&self, uid: &str) -> usize {
        self.head.len() + uid.len() + self.tail.len()
    }

    /// The review with a uid.
    pub(crate) fn body(&self, uid: &str) -> Bytes {
        [self.head.as_bytes(), uid.as_bytes(), &self.tail].concat().into()
    }
}

impl<'r> ReviewRequest<'r> {
    fn new(subject: &ReviewSubject<'r>) -> Self {
        let request = subject.request;
        ReviewRequest {
            kind: subject.matched.kind,
            resource: subject.matched.resource,
            sub_resource: &request.sub_resource,
            request_kind: &request.kind,
            request_resource: &request.resource,
            request_sub_resource: &request.sub_resource,
            name: subject.name,
            namespace: &request.namespace,
            operation: request.operation.as_str(),
            user_info: &request.user_info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_have_all_fields() {
        let request: AdmissionRequest<'_> = serde_json::from_str(
            r#"{"uid":"api","kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},
                "subResource":"status","operation":"DELETE","userInfo":{"username":"ann"}}"#,
        )
        .unwrap();
        let subject = ReviewSubject {
            request: &request,
            name: "p",
            matched: MatchedResource {
                resource: &request.resource,
                kind: &request.kind,
            },
            object: &request.object,
            old_object: &request.old_object,
        };
        let body = SharedReview::new(ReviewVersion::V1Beta1, &subject).body("u-1");
        let (pod, pods) = (
            r#"{"group":"","version":"v1","kind":"Pod"}"#,
            r#"{"group":"","version":"v1","resource":"pods"}"#,
        );
        let expected = format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{{"uid":"u-1","kind":{pod},"resource":{pods},"subResource":"status","requestKind":{pod},"requestResource":{pods},"requestSubResource":"status","name":"p","operation":"DELETE","userInfo":{{"username":"ann"}},"object":null,"oldObject":null,"dryRun":false,"options":null}}}}"#
        );
        assert_eq!(String::from_utf8(body.to_vec()).unwrap(), expected);
    }
}
