//! What an API server would be asked: requests for objects, and the cluster in which they are made.

pub mod cluster;
pub mod envelope;
mod request;
mod resource;
mod user;

pub use request::{Recipe, Unmade, kind_of};
pub use resource::{NoTarget, defined, target};
pub use user::user;
