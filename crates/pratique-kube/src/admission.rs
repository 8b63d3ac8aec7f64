//! Conversion from and to the reviews of kube-rs.
//!
//! A webhook that is written with kube-rs has [`kube::core::admission::AdmissionReview`]s, mostly of
//! [`DynamicObject`]s. These functions make what [`Admission`](pratique::Admission) and [`Live`](pratique::Live) take of
//! them, and what kube-rs serves of the answers.
//!
//! ```
//! use kube::core::DynamicObject;
//! use kube::core::admission::AdmissionReview;
//! use pratique::observer::AdmissionPhase;
//! use pratique::{Admission, Live};
//! use pratique_kube::admission;
//!
//! async fn validate(
//!     live: &Live,
//!     review: AdmissionReview<DynamicObject>,
//! ) -> Result<AdmissionReview<DynamicObject>, Box<dyn std::error::Error>> {
//!     let review = admission::review_from_kube(&review)?;
//!     // An error where no API server sends such a review.
//!     let answer = live.answer(&review, AdmissionPhase::Validating).await?;
//!     Ok(admission::review_to_kube(&answer)?)
//! }
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let review = serde_json::from_str(r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
//!     "request": {"uid": "u", "kind": {"group": "", "version": "v1", "kind": "ConfigMap"}, "operation": "CREATE", "namespace": "shop",
//!     "resource": {"group": "", "version": "v1", "resource": "configmaps"}, "userInfo": {},
//!     "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}}}"#)?;
//! let answer = validate(&Admission::builder().live().start()?, review).await?;
//! assert!(answer.response.is_some_and(|response| response.allowed));
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What kube-rs does not keep is lost: of an object's metadata it has the fields that `ObjectMeta` of its version has, and
//! of those what is not null. Where policies are to see all that an API server sent, read the body of a review as a
//! [`pratique::types::AdmissionReview`].

use kube::Resource;
use kube::core::admission as kube_admission;
use kube::core::{DynamicObject, TypeMeta};
use pratique::json::base64;
use pratique::types::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, OwnedAdmissionRequest, Status, admission as ours,
};
use serde::Serialize;
use serde_json::Value;

/// Why a review has no other form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The other type has no place for a value, or lacks one: an object without `metadata` is no [`DynamicObject`].
    #[error("cannot convert the review: {0}")]
    Shape(#[from] serde_json::Error),
    /// The patch of an answer is not base64.
    #[error("cannot convert the review: the patch is not base64")]
    Patch,
}

/// The request of a review of kube-rs.
///
/// # Errors
/// A value of it cannot be serialized, or nests too deep.
pub fn request_from_kube<T>(
    request: &kube_admission::AdmissionRequest<T>,
) -> Result<AdmissionRequest<'static>, ConversionError>
where
    T: Resource + Serialize,
{
    let OwnedAdmissionRequest(request) = serde_json::from_value(serde_json::to_value(request)?)?;
    Ok(request)
}

/// A request as kube-rs has it.
///
/// # Errors
/// It has no operation, or an object of it has no metadata.
pub fn request_to_kube(
    request: &AdmissionRequest<'_>,
) -> Result<kube_admission::AdmissionRequest<DynamicObject>, ConversionError> {
    let mut request: kube_admission::AdmissionRequest<DynamicObject> =
        serde_json::from_value(serde_json::to_value(request)?)?;
    request.types = types();
    Ok(request)
}

/// The answer of a review of kube-rs.
///
/// # Errors
/// A value of it cannot be serialized.
pub fn response_from_kube(
    response: &kube_admission::AdmissionResponse,
) -> Result<AdmissionResponse, ConversionError> {
    let mut value = serde_json::to_value(response)?;
    if let (Some(patch), Some(text)) = (&response.patch, value.get_mut("patch")) {
        *text = Value::String(base64::encode(patch));
    }
    let mut response: AdmissionResponse = serde_json::from_value(value)?;
    // Theirs always has a status.
    response.result = response.result.filter(|status| *status != Status::default());
    Ok(response)
}

/// An answer as kube-rs has it, to a request whose version it has.
///
/// # Errors
/// The patch is not base64, or the status has an invalid HTTP code.
pub fn response_to_kube<T: Resource>(
    response: &AdmissionResponse,
    request: &kube_admission::AdmissionRequest<T>,
) -> Result<kube_admission::AdmissionResponse, ConversionError> {
    response_of_types(response, request.types.clone())
}

fn response_of_types(
    response: &AdmissionResponse,
    types: TypeMeta,
) -> Result<kube_admission::AdmissionResponse, ConversionError> {
    let mut value = serde_json::to_value(response)?;
    if let Value::Object(members) = &mut value {
        members
            .entry("status")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(patch) = &response.patch {
            let bytes = base64::decode(patch).map_err(|_| ConversionError::Patch)?;
            members.insert("patch".to_owned(), bytes.into());
        }
    }
    let mut response: kube_admission::AdmissionResponse = serde_json::from_value(value)?;
    response.types = types;
    Ok(response)
}

/// A review of kube-rs.
///
/// # Errors
/// As [`request_from_kube`] and [`response_from_kube`].
pub fn review_from_kube<T>(
    review: &kube_admission::AdmissionReview<T>,
) -> Result<AdmissionReview<'static>, ConversionError>
where
    T: Resource + Serialize,
{
    Ok(AdmissionReview {
        api_version: review.types.api_version.clone(),
        kind: review.types.kind.clone(),
        request: review.request.as_ref().map(request_from_kube).transpose()?,
        response: review.response.as_ref().map(response_from_kube).transpose()?,
    })
}

/// A review as kube-rs has it.
///
/// # Errors
/// As [`request_to_kube`] and [`response_to_kube`].
pub fn review_to_kube(
    review: &AdmissionReview<'_>,
) -> Result<kube_admission::AdmissionReview<DynamicObject>, ConversionError> {
    let types = TypeMeta {
        api_version: review.api_version.clone(),
        kind: review.kind.clone(),
    };
    let response = review.response.as_ref();
    let response = response.map(|response| response_of_types(response, types.clone()));
    Ok(kube_admission::AdmissionReview {
        request: review.request.as_ref().map(request_to_kube).transpose()?,
        response: response.transpose()?,
        types,
    })
}

fn types() -> TypeMeta {
    TypeMeta {
        api_version: ours::API_VERSION.to_owned(),
        kind: ours::KIND.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pratique::types::Reason;
    use serde_json::json;

    use super::*;

    fn review() -> String {
        json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "u", "operation": "UPDATE", "name": "web", "namespace": "shop", "subResource": "scale",
                "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
                "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
                "requestKind": {"group": "apps", "version": "v1beta1", "kind": "Deployment"},
                "requestResource": {"group": "apps", "version": "v1beta1", "resource": "deployments"},
                "requestSubResource": "scale", "dryRun": true,
                "userInfo": {"username": "ann", "uid": "7", "groups": ["g"], "extra": {"k": ["v"]}},
                "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"n": 1}},
                "oldObject": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}},
                "options": {"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions"}
            }
        })
        .to_string()
    }

    #[test]
    fn requests_come_and_go() {
        let text = review();
        let ours: AdmissionReview<'_> = serde_json::from_str(&text).unwrap();
        let converted: kube_admission::AdmissionReview<DynamicObject> = serde_json::from_str(&text).unwrap();
        assert_eq!(review_from_kube(&converted).unwrap(), ours);
        let theirs = serde_json::to_value(&converted).unwrap();
        let converted = review_to_kube(&ours).unwrap();
        assert_eq!(serde_json::to_value(&converted).unwrap(), theirs);
        let request: kube_admission::AdmissionRequest<DynamicObject> = converted.try_into().unwrap();
        assert_eq!(request.types.kind, "AdmissionReview");
    }

    #[test]
    fn answers_come_and_go() {
        let denied = AdmissionResponse {
            uid: "u".to_owned(),
            result: Some(Status::failure(Reason::Forbidden, "no")),
            warnings: vec!["beware".to_owned()],
            audit_annotations: [("key".to_owned(), "value".to_owned())].into(),
            ..AdmissionResponse::default()
        };
        let patched = AdmissionResponse {
            allowed: true,
            patch: Some(base64::encode(br#"[{"op":"remove","path":"/spec"}]"#)),
            patch_type: Some("JSONPatch".to_owned()),
            ..AdmissionResponse::default()
        };
        let text = review();
        let review: AdmissionReview<'_> = serde_json::from_str(&text).unwrap();
        let mut request = request_to_kube(&review.request.unwrap()).unwrap();
        for version in ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"] {
            request.types.api_version = version.to_owned();
            let converted = response_to_kube(&denied, &request).unwrap();
            assert_eq!(converted.types.api_version, version);
        }
        request.types = types();
        for ours in [denied, patched, AdmissionResponse::default()] {
            let converted = response_to_kube(&ours, &request).unwrap();
            assert_eq!(response_from_kube(&converted).unwrap(), ours);
            // The form that an API server is sent.
            let review = converted.into_review();
            assert_eq!(review_from_kube(&review).unwrap(), AdmissionReview::answer(ours));
        }
    }

    #[test]
    fn unconvertible_reviews_are_reported() {
        let nothing = AdmissionRequest {
            operation: pratique::types::Operation::None,
            ..AdmissionRequest::default()
        };
        assert!(matches!(
            request_to_kube(&nothing),
            Err(ConversionError::Shape(_))
        ));
        let torn = AdmissionResponse {
            patch: Some("?".to_owned()),
            ..AdmissionResponse::default()
        };
        assert!(matches!(
            response_of_types(&torn, types()),
            Err(ConversionError::Patch)
        ));
    }
}
