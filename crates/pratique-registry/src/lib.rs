//! What a Kubernetes API server does with a request besides admission and validation: the object in each phase.
//!
//! A policy on a cluster does not see what a person wrote. The server decodes and defaults it ([`Scheme`]), drops and
//! fills in metadata, writes `managedFields`, and prepares it by its kind before validating admission sees it and it is
//! stored. [`Registry`] does the same: [`Registry::receive`] gives what mutating admission sees, [`Registry::prepare`] what
//! validating admission sees and what is stored. What a server makes up, such as a uid, are [`Placeholders`].
//!
//! The server's own validation of built-in kinds (422) is that of `pratique-validation`, which a caller hands to
//! [`Registry::prepare_valid`]. Custom resources are validated by their definitions:
//! [`CustomResources`], together with built-in kinds as [`Kinds`].
//!
//! ```
//! use pratique_json::{Progress, Value};
//! use pratique_registry::{SchemeObject, FieldValidation, Placeholders, Registry, Request, Scheme, Store, Target, UndecodedBody};
//! use pratique_schema::Release;
//! use pratique_types::{GroupVersionKind, Status};
//!
//! struct Plain;
//!
//! /// Decodes without defaults.
//! impl Scheme for Plain {
//!     fn decode(&self, kind: &GroupVersionKind, body: &[u8], _: FieldValidation) -> Result<SchemeObject, UndecodedBody> {
//!         let mut object = pratique_json::parse(body).unwrap_or_default().into_owned();
//!         pratique_typed::settle_object(Release::latest(), kind, &mut object, &Progress::unwatched());
//!         Ok(SchemeObject { object, warnings: Vec::new() })
//!     }
//!
//!     fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), Box<Status>> {
//!         pratique_typed::settle_object(Release::latest(), kind, object, &Progress::unwatched());
//!         Ok(())
//!     }
//! }
//!
//! /// Nothing exists.
//! impl Store for Plain {
//!     fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
//!         None
//!     }
//! }
//!
//! let placeholders = Placeholders::default();
//! let registry = Registry { scheme: &Plain, store: &Plain, placeholders: &placeholders, release: None };
//! let request = Request {
//!     target: Target::parse("/apis/apps/v1/namespaces/web/replicasets").ok_or("not served")?,
//!     body: br#"{"metadata": {"generateName": "shop-", "uid": "mine"}, "status": {"replicas": 9}}"#,
//!     field_manager: "kubectl".to_owned(),
//!     ..Request::default()
//! };
//! let received = registry.receive(request)?;
//! assert_eq!(received.attributes.name, "");
//! assert_eq!(received.attributes.object.at(&["metadata", "uid"]), None);
//! let prepared = registry.prepare(received)?;
//! assert_eq!(prepared.attributes.name, "shop-xxxxx");
//! assert_eq!(prepared.attributes.object.at(&["metadata", "generation"]), Some(&Value::Int(1)));
//! assert_eq!(prepared.attributes.object.at(&["status", "replicas"]), Some(&Value::Int(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answered_requests;
mod builtin;
mod custom;
mod delete;
mod deprecation;
mod edited_object;
mod empty_fields;
mod gated_fields;
mod kind_strategy;
mod managed_fields;
mod metadata;
mod object;
mod patch;
mod placeholders;
mod prepare;
mod receive;
mod refusal;
mod registry;
mod request;
mod scale;
mod scheme;
mod storage;
mod strategic;
mod strategies;
mod strategy;
mod target;
mod token_request;
mod warnings;

pub use custom::{CustomResources, Kinds, UnservedError};
pub use gated_fields::GatedDrop;
pub use managed_fields::take_managed_fields;
pub use placeholders::Placeholders;
pub use pratique_objects::FieldValidation;
pub use refusal::{Refusal, no_name};
pub use registry::{Prepared, Received, Registry};
pub use request::{Attributes, Request, Verb};
pub use scale::scale_of;
pub use scheme::{Scheme, SchemeObject, Store, UndecodedBody};
pub use strategies::{is_stored, keep_allocations};
pub use target::Target;
