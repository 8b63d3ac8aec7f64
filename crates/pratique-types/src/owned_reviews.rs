//! Requests and reviews that own their texts, for readers that keep no input.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{AdmissionRequest, AdmissionReview};

/// An [`AdmissionReview`] that borrows nothing, so that it is [`DeserializeOwned`](serde::de::DeserializeOwned):
/// `axum::Json<OwnedAdmissionReview>`, [`serde_json::from_reader`] and [`serde_json::from_value`] give one.
///
/// ```
/// use pratique_types::OwnedAdmissionReview;
///
/// let body = std::io::Cursor::new(br#"{"kind": "AdmissionReview", "request": {"object": {"kind": "Pod"}}}"#);
/// let OwnedAdmissionReview(review) = serde_json::from_reader(body)?;
/// assert!(review.request.is_some());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OwnedAdmissionReview(pub AdmissionReview<'static>);

impl<'de> Deserialize<'de> for OwnedAdmissionReview {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AdmissionReview::deserialize(deserializer).map(|review| OwnedAdmissionReview(review.into_owned()))
    }
}

impl From<AdmissionReview<'_>> for OwnedAdmissionReview {
    fn from(review: AdmissionReview<'_>) -> Self {
        OwnedAdmissionReview(review.into_owned())
    }
}

/// An [`AdmissionRequest`] that borrows nothing, so that it is [`DeserializeOwned`](serde::de::DeserializeOwned).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OwnedAdmissionRequest(pub AdmissionRequest<'static>);

impl<'de> Deserialize<'de> for OwnedAdmissionRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AdmissionRequest::deserialize(deserializer).map(|request| OwnedAdmissionRequest(request.into_owned()))
    }
}

impl From<AdmissionRequest<'_>> for OwnedAdmissionRequest {
    fn from(request: AdmissionRequest<'_>) -> Self {
        OwnedAdmissionRequest(request.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;
    use crate::Operation;

    /// As `axum::Json` and others read.
    fn read<T: DeserializeOwned>(text: &str) -> T {
        serde_json::from_reader(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_owned_is_what_is_borrowed() {
        let text = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",
            "kind":{"group":"apps","version":"v1","kind":"Deployment"},"subResource":"scale","operation":"UPDATE",
            "resource":{"group":"apps","version":"v1","resource":"deployments"},"dryRun":true,
            "requestKind":{"group":"apps","version":"v1beta1","kind":"Deployment"},"requestSubResource":"scale",
            "requestResource":{"group":"apps","version":"v1beta1","resource":"deployments"},
            "name":"web","namespace":"shop","userInfo":{"username":"ann","groups":["g"]},
            "object":{"a":"new"},"oldObject":{"a":"old"},"options":{"kind":"UpdateOptions"}}}"#;
        let borrowed: AdmissionReview<'_> = serde_json::from_str(text).unwrap();
        let OwnedAdmissionReview(owned) = read(text);
        assert_eq!(owned, borrowed);
        assert_eq!(
            serde_json::to_string(&owned).unwrap(),
            serde_json::to_string(&borrowed).unwrap()
        );
        let request = owned.request.unwrap();
        assert_eq!(request.operation, Operation::Update);
        let value = serde_json::to_value(&request).unwrap();
        assert_eq!(value["oldObject"], json!({"a": "old"}));
        let OwnedAdmissionRequest(again) = serde_json::from_value(value).unwrap();
        assert_eq!(again, request);
    }
}
