//! Go's text formats as Kubernetes uses them, one of each.
//!
//! A Kubernetes API server is a Go program: how its messages quote a text, which times, URLs and quantities it reads, how
//! it writes a number, all follow from Go's packages and those of Kubernetes. Each module is named after the package that
//! it follows, and says which function; only [`suggest`] has no such model. `regexp` is behind a feature of that name.
//!
//! ```
//! use pratique_gotext::strconv;
//!
//! assert_eq!(strconv::quote("tab\there"), r#""tab\there""#);
//! assert_eq!(strconv::general_form(1_234_567.5), "1.2345675e+06");
//! ```
//!
//! The crate knows no values of CEL and no objects of Kubernetes, depends on no other crate of the workspace, and does no
//! I/O.

pub mod hex;
pub mod json;
pub mod jsonpath;
pub mod net;
pub mod quantity;
#[cfg(feature = "regexp")]
pub mod regexp;
pub mod semver;
pub mod strconv;
pub mod strfmt;
pub mod suggest;
pub mod time;
pub mod url;
pub mod utf8;
pub mod validation;
