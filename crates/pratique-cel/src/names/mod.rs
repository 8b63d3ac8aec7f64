//! What Kubernetes accepts as names, label keys and values, and other named formats.
//!
//! Each check returns the list of what is wrong, in the words that the API server uses; an empty list means "valid".
//! `format.<name>().validate(…)` in CEL and the validation of manifests share these.

mod base64;
mod dns;
mod errors;
mod format;
mod label;
mod time;
mod uuid;

pub use dns::{
    dns1035_label, dns1035_label_prefix, dns1123_label, dns1123_label_prefix, dns1123_subdomain,
    dns1123_subdomain_prefix,
};
pub use format::NamedFormat;
pub use label::{c_identifier, label_value, qualified_name};
