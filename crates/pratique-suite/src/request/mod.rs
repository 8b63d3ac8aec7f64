//! Builds admission requests from plain objects, and the cluster state around them.

pub mod cluster;
mod resource;
pub mod review;
pub mod subresource;
mod template;
mod user;

pub(crate) use resource::target;
pub use resource::{Target, defined, is_definition, regular_resource};
pub use template::{BuildError, KindError, RequestTemplate, kind_of, options};
pub use user::user;
