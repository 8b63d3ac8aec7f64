//! JSON documents as borrowed, immutable values, read the way a Kubernetes API server reads them.
//!
//! A [`Value`] keeps strings as slices of its input wherever the input has no escapes, integers apart from
//! floating-point numbers, and objects as vectors sorted by key: compact to build, quick to look up, and
//! always visited in the same order.
//!
//! ```
//! use pratique_json::{Value, parse};
//!
//! let pod = parse(br#"{"metadata": {"name": "web"}, "spec": {"replicas": 3}}"#)?;
//! assert_eq!(pod.at(&["metadata", "name"]).and_then(Value::as_str), Some("web"));
//! assert_eq!(pod.at(&["spec", "replicas"]), Some(&Value::Int(3)));
//!
//! // The values of serde_json are converted in both directions.
//! let theirs = serde_json::json!({"metadata": {"name": "web"}, "spec": {"replicas": 3}});
//! assert_eq!(Value::try_from(&theirs)?, pod);
//! assert_eq!(serde_json::Value::from(pod), theirs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod base64;
mod bytes;
mod convert;
mod counts;
mod kind;
mod object;
mod parse;
mod progress;
mod reader;
mod special_bytes;
mod value;
mod write;

pub use bytes::write;
// What is hidden here and below is for the other crates of the project: it is not part of what this one promises.
#[doc(hidden)]
pub use counts::Counts;
pub use object::Object;
#[doc(hidden)]
pub use object::{find_member, same, same_name};
pub use parse::{Error, MAX_DEPTH, parse, parse_unique};
pub use progress::{Interrupted, Interruption, Progress};
#[doc(hidden)]
pub use special_bytes::find_special;
pub use value::{Value, text_at};
pub use write::escape_html;
