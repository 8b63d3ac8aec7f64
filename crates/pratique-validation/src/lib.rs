//! What kube-apiserver refuses of the objects of built-in kinds before it stores them.
//!
//! [`Validator`] validates an object as the strategy of its kind does: first the name and the rest of the metadata, then the
//! fields, all errors together in the server's order. The object has to be in the form in which a server validates it: decoded,
//! defaulted, and prepared for its storage (`pratique-registry` does all three).
//!
//! ```
//! use pratique_types::GroupVersionKind;
//! use pratique_validation::{Candidate, Rejection, Validator};
//!
//! let kind = GroupVersionKind::new("", "v1", "ConfigMap");
//! let text = br#"{"metadata": {"name": "Foo_Bar", "namespace": "default"}, "data": {"a b": ""}}"#;
//! let object = pratique_json::parse(text)?;
//! let refused = Validator::new().create(&Candidate::new(&kind, &object));
//! let Err(Rejection::Invalid(status)) = refused else { panic!("{refused:?}") };
//! assert_eq!(status.code, 422);
//! let fields: Vec<String> = status.details.unwrap_or_default().causes.into_iter().map(|cause| cause.field).collect();
//! assert_eq!(fields, ["metadata.name", "data[a b]"]);
//!
//! let unknown = GroupVersionKind::new("example.com", "v1", "Widget");
//! assert!(matches!(Validator::new().create(&Candidate::new(&unknown, &object)), Err(Rejection::NotValidated(_))));
//! # Ok::<(), pratique_json::Error>(())
//! ```
//!
//! Kinds whose rules need an engine for expressions have them in the crates that have one; [`rules`] says how to add them.

mod addresses;
mod claims;
mod conditions;
mod declarative;
mod diff;
mod direct_requests;
mod domain_paths;
mod errors;
mod gates;
mod internal;
mod json_text;
mod kinds;
mod member_index;
mod messages;
mod node;
mod object_meta;
mod open_question;
mod pod;
pub mod profile_annotations;
mod quantities;
mod release_tables;
mod reviews;
pub mod rules;
mod seen_texts;
mod selector;
mod service_state;
mod signers;
mod validator;
mod version;
mod webhook_clients;
mod x509;

pub use kinds::ADMIN_ACCESS_LABEL;
pub use open_question::OpenQuestion;
pub use rules::NamespaceView;
pub use service_state::{ServiceState, allocations, asks_for_families, count_asked};
pub use validator::{Candidate, FieldFault, Rejection, Validator};
pub use x509::{KeyPairError, check_key_pair};
