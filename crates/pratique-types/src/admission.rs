//! `admission.k8s.io/v1`: the requests of an API server to admission webhooks, and their responses.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use pratique_json::Value;
use serde::{Deserialize, Deserializer, Serialize};

use crate::null::or_default;
use crate::{GroupVersionKind, GroupVersionResource, Status, UserInfo};

/// The `apiVersion` of an [`AdmissionReview`].
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// The `kind` of an [`AdmissionReview`].
pub const KIND: &str = "AdmissionReview";

/// The envelope of a request or a response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct AdmissionReview<'a> {
    /// [`API_VERSION`]
    #[serde(deserialize_with = "or_default")]
    pub api_version: String,
    /// [`KIND`]
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<AdmissionRequest<'a>>,
    /// The response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<AdmissionResponse>,
}

/// A request to the API server, with the object it is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct AdmissionRequest<'a> {
    /// Identifies the admission request; the response repeats it.
    #[serde(deserialize_with = "or_default")]
    pub uid: String,
    /// The kind of `object` and `oldObject`.
    #[serde(deserialize_with = "or_default")]
    pub kind: GroupVersionKind,
    /// The resource, in the version of `kind`.
    #[serde(deserialize_with = "or_default")]
    pub resource: GroupVersionResource,
    /// The part of the resource, such as `status`.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The kind of the original request; the same as `kind` unless the object was converted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource of the original request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The part of the resource of the original request.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub request_sub_resource: String,
    /// The name of the object; may be empty when the server is to generate it.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The namespace of the request, if any.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The operation; none where JSON has none.
    #[serde(default = "Operation::none", deserialize_with = "or_none")]
    pub operation: Operation,
    /// The user who makes the request.
    #[serde(deserialize_with = "or_default")]
    pub user_info: UserInfo,
    /// The new object; `null` on deletion.
    #[serde(borrow, deserialize_with = "or_default")]
    pub object: Value<'a>,
    /// The object as it is stored; `null` on creation.
    #[serde(borrow, deserialize_with = "or_default")]
    pub old_object: Value<'a>,
    /// Whether nothing is to be persisted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The options of the operation, such as a `CreateOptions`.
    #[serde(borrow, deserialize_with = "or_default")]
    pub options: Value<'a>,
    /// The form of the objects. It has to be reset when an object is changed.
    // This and what follows is told by the tools of the project, not by an API server: not part of what the crate promises.
    #[doc(hidden)]
    #[serde(skip)]
    pub form: ObjectForm,
    /// Whether there is a stored object that was not supplied: expressions that read it are undecided, as it
    /// is not null.
    #[doc(hidden)]
    #[serde(skip)]
    pub lacks_old_object: bool,
    /// Whether the name of the resource, and whether it is namespaced, were only assumed from the kind: matches that depend on
    /// them are undecided.
    #[doc(hidden)]
    #[serde(skip)]
    pub assumes_resource: bool,
    /// Whether it was reconstructed from a log that has only the name of the user, and the path of the address: expressions that
    /// read more of the user, or the options of the request, are undecided.
    #[doc(hidden)]
    #[serde(skip)]
    pub lacks_details: bool,
}

/// The form of the objects of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectForm {
    /// They are as a client wrote them.
    #[default]
    Written,
    /// They are as an API server has them once it has decoded them into the built-in kind of the request: no field is
    /// unknown, missing or empty against its type, and quantities and times have their canonical form.
    Settled,
    /// They are evaluated as a client wrote them, whatever their kind, as by programs without the built-in
    /// types.
    Unstructured,
}

/// The response to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// The `uid` of the request.
    #[serde(deserialize_with = "or_default")]
    pub uid: String,
    /// Whether the request may go on.
    #[serde(deserialize_with = "or_default")]
    pub allowed: bool,
    /// Why it is not allowed.
    #[serde(rename = "status", skip_serializing_if = "Option::is_none")]
    pub result: Option<Status>,
    /// A patch of the object, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The format of `patch`: `JSONPatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// Annotations of the audit event.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// Warnings to the user.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl AdmissionResponse {
    /// Allows a request.
    ///
    /// ```
    /// use pratique_types::{AdmissionResponse, AdmissionReview, Reason, Status};
    ///
    /// let review = AdmissionReview::parse(br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
    ///     "uid": "u", "kind": {"version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop",
    ///     "resource": {"version": "v1", "resource": "pods"}, "object": {"metadata": {"labels": {}}}}}"#)?;
    /// let request = review.valid_request()?;
    /// let response = if request.object["metadata"]["labels"]["team"].is_null() {
    ///     AdmissionResponse::deny(request, Status::failure(Reason::Forbidden, "who is it of?"))
    /// } else {
    ///     AdmissionResponse::allow(request)
    /// };
    /// let answer = review.answer_with(response);
    /// assert!(serde_json::to_string(&answer)?.contains(r#""uid":"u","allowed":false,"status""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allow(request: &AdmissionRequest<'_>) -> Self {
        AdmissionResponse {
            uid: request.uid.clone(),
            allowed: true,
            ..AdmissionResponse::default()
        }
    }

    /// Refuses a request. An API server sets the name of the webhook before the message of the status.
    pub fn deny(request: &AdmissionRequest<'_>, status: Status) -> Self {
        AdmissionResponse {
            uid: request.uid.clone(),
            result: Some(status),
            ..AdmissionResponse::default()
        }
    }
}

/// What a request does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// Creates an object.
    #[default]
    Create,
    /// Changes an object, by update or by patch.
    Update,
    /// Deletes an object.
    Delete,
    /// Connects to a part of an object, such as `pods/exec`.
    Connect,
    /// None, which no API server sends; expressions see an empty text.
    #[serde(rename = "")]
    None,
}

impl Operation {
    fn none() -> Self {
        Operation::None
    }

    /// All operations that there are.
    pub const ALL: [Operation; 4] = [
        Operation::Create,
        Operation::Update,
        Operation::Delete,
        Operation::Connect,
    ];

    /// The operation as a request writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
            Operation::None => "",
        }
    }

    /// The operation that a request writes as a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str() == name)
    }
}

impl Display for Operation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Reads an operation, and `null` as none.
fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Operation, D::Error> {
    Option::<Operation>::deserialize(deserializer).map(|operation| operation.unwrap_or(Operation::None))
}

impl AdmissionRequest<'_> {
    /// The same request, with copies of the texts of its objects: it borrows nothing.
    pub fn into_owned(self) -> AdmissionRequest<'static> {
        AdmissionRequest {
            uid: self.uid,
            kind: self.kind,
            resource: self.resource,
            sub_resource: self.sub_resource,
            request_kind: self.request_kind,
            request_resource: self.request_resource,
            request_sub_resource: self.request_sub_resource,
            name: self.name,
            namespace: self.namespace,
            operation: self.operation,
            user_info: self.user_info,
            object: self.object.into_owned(),
            old_object: self.old_object.into_owned(),
            dry_run: self.dry_run,
            options: self.options.into_owned(),
            form: self.form,
            lacks_old_object: self.lacks_old_object,
            assumes_resource: self.assumes_resource,
            lacks_details: self.lacks_details,
        }
    }
}

impl<'a> AdmissionReview<'a> {
    /// The same review, with copies of the texts of its objects: it borrows nothing.
    pub fn into_owned(self) -> AdmissionReview<'static> {
        AdmissionReview {
            api_version: self.api_version,
            kind: self.kind,
            request: self.request.map(AdmissionRequest::into_owned),
            response: self.response,
        }
    }

    /// The envelope of a request.
    pub fn question(request: AdmissionRequest<'a>) -> Self {
        AdmissionReview {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            request: Some(request),
            response: None,
        }
    }

    /// Reads a review, and nothing after it. Its objects bound how deeply they nest themselves, and nothing else in it nests.
    ///
    /// # Errors
    /// It is no JSON, or no review.
    pub fn parse(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        deserializer.disable_recursion_limit();
        let review = AdmissionReview::deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(review)
    }

    /// The envelope of a response in [`API_VERSION`]. The answer to a review that may be of an older version is
    /// [`answer_with`](Self::answer_with).
    pub fn answer(response: AdmissionResponse) -> Self {
        AdmissionReview {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            request: None,
            response: Some(response),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
        "uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},
        "resource":{"group":"","version":"v1","resource":"pods"},
        "name":null,"namespace":"default","operation":"UPDATE","userInfo":{"username":"ann","groups":null},
        "object":{"kind":"Pod"},"oldObject":null,"dryRun":null}}"#;

    #[test]
    fn objects_bound_how_deeply_they_nest() {
        let review = |depth: usize| {
            let object = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            format!(r#"{{"request":{{"operation":"CREATE","object":{{"a":{object}}}}}}}"#)
        };
        let parses = |text: &str| AdmissionReview::parse(text.as_bytes()).is_ok();
        // More than serde_json permits by itself.
        assert!(parses(&review(300)) && !parses(&review(pratique_json::MAX_DEPTH + 1)));
        assert!(
            !parses(&format!("{} {{}}", review(1))),
            "and nothing comes after it"
        );
    }

    #[test]
    fn a_review_is_read_as_an_api_server_writes_it() {
        let review = AdmissionReview::parse(REVIEW.as_bytes()).unwrap();
        let request = review.request.unwrap();
        assert_eq!(request.operation, Operation::Update);
        assert_eq!((request.name.as_str(), request.dry_run), ("", None));
        assert_eq!(request.user_info.username, "ann");
        assert!(matches!(
            request.object.get("kind"),
            Some(Value::String(std::borrow::Cow::Borrowed("Pod")))
        ));
        assert!(request.old_object.is_null() && request.options.is_null());
    }

    #[test]
    fn an_answer_leaves_out_what_is_empty() {
        let answer = AdmissionReview::answer(AdmissionResponse {
            uid: "u".to_owned(),
            allowed: true,
            ..AdmissionResponse::default()
        });
        assert_eq!(
            serde_json::to_string(&answer).unwrap(),
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}"#
        );
    }
}
