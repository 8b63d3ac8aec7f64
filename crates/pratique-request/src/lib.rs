//! Admission requests of plain objects and of AdmissionReviews.
//!
//! An object becomes the request that a server would make of it: a [`ResourceResolver`] knows which resource serves its kind, whether
//! none does, or that it is not known, and a [`RequestTemplate`] gives what the object does not say.
//!
//! ```
//! use pratique_json::Value;
//! use pratique_request::{RequestTemplate, ResourceResolver};
//!
//! let object = br#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}"#;
//! let object: Value<'_> = pratique_json::parse(object).unwrap();
//! let template = RequestTemplate { namespace: "shop".to_owned(), ..RequestTemplate::default() };
//! let (request, _) = template.request(object, |_, _| None, &ResourceResolver::default(), 1).unwrap();
//! assert_eq!((request.resource.resource.as_str(), request.namespace.as_str()), ("deployments", "shop"));
//! ```

mod definition;
mod pod;
mod resource;
pub mod review;
mod server_warnings;
pub mod subresource;
mod template;
mod unserved_kinds;
mod user;

pub use definition::GoneDefinition;
pub use pod::pod_request;
pub use resource::{
    AssumedResource, Resolution, ResourceResolver, Source, Target, is_definition,
    is_definition_of_any_version,
};
pub use server_warnings::server_warnings;
pub use template::{
    BuildError, DEFAULT_NAMESPACE, DEFAULT_USER, KindError, RequestTemplate, kind_of, options,
};
pub use unserved_kinds::UnservedKind;
pub use user::user;
