//! Requests with their answers, as they are recorded to be evaluated again.

use pratique_json::Value;
use pratique_types::{
    AdmissionRequest, AdmissionResponse, GroupVersionKind, GroupVersionResource, Operation, Status, UserInfo,
    admission,
};
use serde::Serialize;

use crate::secrets::{self, RedactedObject, SecretPaths};

/// A request with its answer, as an `AdmissionReview`. The data of Secrets, and tokens, are left out of it, and so are patches,
/// which may have them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedReview<'a> {
    api_version: &'static str,
    kind: &'static str,
    request: RecordedRequest<'a>,
    response: RecordedResponse<'a>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordedRequest<'a> {
    uid: &'a str,
    kind: &'a GroupVersionKind,
    resource: &'a GroupVersionResource,
    #[serde(skip_serializing_if = "str::is_empty")]
    sub_resource: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_kind: Option<&'a GroupVersionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_resource: Option<&'a GroupVersionResource>,
    #[serde(skip_serializing_if = "str::is_empty")]
    request_sub_resource: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    operation: Operation,
    user_info: &'a UserInfo,
    object: RedactedObject<'a>,
    old_object: RedactedObject<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    options: &'a Value<'a>,
}

#[derive(Clone, Debug, Serialize)]
struct RecordedResponse<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a Status>,
}

impl<'a> RecordedReview<'a> {
    pub(crate) fn new(request: &'a AdmissionRequest<'a>, response: &'a AdmissionResponse) -> Self {
        let paths: SecretPaths = secrets::find_secret_paths(request);
        let redacted = |object| RedactedObject { object, paths };
        RecordedReview {
            api_version: admission::API_VERSION,
            kind: admission::KIND,
            request: RecordedRequest {
                uid: &request.uid,
                kind: &request.kind,
                resource: &request.resource,
                sub_resource: &request.sub_resource,
                request_kind: request.request_kind.as_ref(),
                request_resource: request.request_resource.as_ref(),
                request_sub_resource: &request.request_sub_resource,
                name: &request.name,
                namespace: &request.namespace,
                operation: request.operation,
                user_info: &request.user_info,
                object: redacted(&request.object),
                old_object: redacted(&request.old_object),
                dry_run: request.dry_run,
                options: &request.options,
            },
            response: RecordedResponse {
                uid: &request.uid,
                allowed: response.allowed,
                status: response.result.as_ref(),
            },
        }
    }
}
