//! Errors of fields as an API server words them, and the `Status` that lists them.
//!
//! ```
//! use pratique_types::field::{Error, ErrorList, Path};
//!
//! let spec = Path::new("spec");
//! let ports = spec.child("ports");
//! let mut errors = ErrorList::default();
//! errors.push(Error::invalid(ports.index(0).child("port"), 99999, "must be between 1 and 65535, inclusive"));
//! errors.push(Error::not_supported(spec.child("type"), "Foo", ["ClusterIP", "NodePort"]));
//! let status = errors.into_status("", "Service", "web");
//! assert_eq!(
//!     status.message,
//!     "Service \"web\" is invalid: [spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, \
//!      inclusive, spec.type: Unsupported value: \"Foo\": supported values: \"ClusterIP\", \"NodePort\"]"
//! );
//! ```
// Upstream: apimachinery/pkg/util/validation/field

mod bad_value;
mod error;
mod kind;
mod list;
mod path;

pub use bad_value::BadValue;
pub use error::Error;
pub use kind::ErrorKind;
pub use list::{ErrorList, aggregate};
pub use path::Path;
