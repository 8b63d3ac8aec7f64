//! Builds admission requests from plain objects, and the cluster state around them.

pub mod cluster;
pub mod envelope;
mod request;
mod resource;
mod user;

pub use request::{Recipe, Unmade, kind_of};
pub use resource::{NoTarget, defined, target};
pub use user::user;
