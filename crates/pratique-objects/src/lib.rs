//! Objects of the built-in kinds of Kubernetes as kube-apiserver decodes, defaults and encodes them.
//!
//! A policy on a cluster does not see what a person wrote: the API server decodes it, warns of fields that it does not
//! know or refuses them, and fills in defaults. [`ObjectCodec`] does the same, with the server's texts.
//!
//! ```
//! use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
//! use pratique_types::GroupVersionKind;
//!
//! let kind = GroupVersionKind::new("", "v1", "Service");
//! let objects = ObjectCodec::at("2024-01-01T00:00:00Z")?;
//! let text = br#"{"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}], "typ": "NodePort"}}"#;
//! let received = objects.receive(text, MediaType::Json, &kind, FieldValidation::Warn)?;
//! assert_eq!(received.warnings, [r#"unknown field "spec.typ""#]);
//! assert_eq!(received.value.at(&["spec", "type"]).and_then(|of| of.as_str()), Some("ClusterIP"));
//! assert!(objects.encode(&kind, &received.value).starts_with(
//!     r#"{"kind":"Service","apiVersion":"v1","metadata":{},"spec":{"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"#
//! ));
//!
//! let refused = objects.receive(text, MediaType::Json, &kind, FieldValidation::Strict).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     r#"Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.typ""#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The types, and what is defaulted where, are tables of one release of Kubernetes: `pratique_schema::Release`. The functions
//! that set defaults by more than a constant are steps in `data/functions.txt`, and in `defaults` where steps do not suffice.

mod certificate_request;
mod changes;
mod decode;
mod defaults;
mod encode;
mod error;
mod header;
mod internal;
mod json_schema;
mod objects;
mod plan;
mod pod_resources;
mod release;
mod tree_value;
mod unstructured_object;

pub use certificate_request::{CertificateRequest, CertificateRequestError};
pub use changes::changed_paths;
pub use decode::warnings;
pub use error::{DecodeError, StrictError};
pub use objects::{DecodedObject, FieldValidation, InvalidTime, MediaType, ObjectCodec, is_builtin};
pub use pod_resources::complete_pod_resources;
pub use unstructured_object::{PatchError, UnstructuredObject, patch, unstructured};
