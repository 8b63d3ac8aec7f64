//! Builds admission requests from plain objects, and the cluster state around them.

pub mod cluster;
mod definition;
mod received;
mod resource;
pub mod review;
pub mod subresource;
mod template;
mod unserved;
mod user;

pub use definition::GoneDefinition;
pub use received::{decode_object, server_warnings};
pub use resource::{AssumedResource, Resolution, ResourceResolver, Source, Target, is_definition};
pub use template::{BuildError, KindError, RequestTemplate, kind_of, options};
pub use unserved::UnservedKind;
pub use user::user;
