//! JSON documents as borrowed, immutable values, read the way a Kubernetes API server reads them.
//!
//! A [`Value`] keeps strings as slices of its input wherever the input has no escapes, integers apart from
//! floating-point numbers, and objects as vectors sorted by key: compact to build, quick to look up, and
//! always met in the same order.

pub mod base64;
mod bytes;
mod kind;
mod object;
mod parse;
mod progress;
mod value;
mod write;

pub use bytes::write;
pub use object::{Object, same};
pub use parse::{Error, MAX_DEPTH, parse};
pub use progress::{Interrupted, Interruption, Progress};
pub use value::Value;
pub use write::escape_html;
