//! Schema types of Kubernetes admission: requests, reviews, statuses, and the names of kinds and resources.
//!
//! Objects inside a request stay [`pratique_json::Value`]s that borrow from the request's bytes; everything
//! around them has a type of its own. The types of policies and webhook configurations are those of `k8s-openapi`, whose
//! version feature the program chooses: `v1_36` or later, as older versions have no MutatingAdmissionPolicy in `v1`.
//!
//! ```
//! use pratique_types::{AdmissionReview, Operation};
//!
//! let body = br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
//!     "operation": "CREATE", "namespace": "shop", "resource": {"version": "v1", "resource": "pods"},
//!     "kind": {"version": "v1", "kind": "Pod"}, "object": {"kind": "Pod"}}}"#;
//! // What no API server sends, such as a request without an operation, is an error: policies would pass over it.
//! let request = AdmissionReview::parse(body)?.into_valid_request()?;
//! assert_eq!((request.operation, request.resource.resource.as_str()), (Operation::Create, "pods"));
//! // The object borrows from the body; a request that outlives it is `request.into_owned()`, and
//! // `OwnedAdmissionReview` is for what wants `DeserializeOwned`.
//! let owned = std::thread::spawn({
//!     let request = request.into_owned();
//!     move || request.uid
//! });
//! # assert_eq!(owned.join().ok().as_deref(), Some("u"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod admission;
pub mod admission_plugins;
mod aggregate;
pub mod builtin;
pub mod cel_limits;
pub mod configuration;
pub mod field;
mod group_version;
mod kubeconfig;
mod nonprinting;
mod null;
mod object_ref;
mod owned_reviews;
mod quality_of_service;
mod rejected_object;
mod review;
pub mod status;
mod user;
mod validate;
pub mod warnings;

pub use admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, ObjectForm, Operation};
pub use aggregate::aggregate;
pub use group_version::{
    GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource, InvalidGroupVersion,
};
pub use k8s_openapi::api::admissionregistration::v1 as admissionregistration;
pub use kubeconfig::{FileError, KubeCluster, KubeConfig, KubeContext, KubeUser, ReadFile};
pub use nonprinting::is_nonprinting;
pub use object_ref::ObjectRef;
pub use owned_reviews::{OwnedAdmissionRequest, OwnedAdmissionReview};
pub use quality_of_service::quality_of_service;
pub use rejected_object::{ObjectPlace, RejectedObject, RejectedReason};
pub use review::InvalidReview;
pub use status::{ListMeta, Reason, Status, StatusCause, StatusDetails};
pub use user::UserInfo;
pub use validate::{FieldProblem, InvalidRequest, RequestField};

/// The API group of policies, their bindings, and webhook configurations.
pub const ADMISSION_GROUP: &str = "admissionregistration.k8s.io";

k8s_openapi::k8s_if_le_1_35! {
    compile_error!("enable the feature `v1_36` or `v1_37` of k8s-openapi: older versions have no MutatingAdmissionPolicy in v1");
}
