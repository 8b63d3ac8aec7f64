//! What expressions come to under facts that hold for some of the requests: for those that delete, or those for Pods.
//!
//! Expressions are not evaluated, only simplified: what is left of them tells what they read, and where it fails.

mod facts;
mod fold;
mod view;
mod walk;

pub(crate) use facts::{Facts, Known};
pub(crate) use fold::Folded;
pub(crate) use view::{MINOR, Parsed, View};
pub(crate) use walk::{Place, byte_at, byte_offset, constant_key, ident_path, live_nodes, place_of};
