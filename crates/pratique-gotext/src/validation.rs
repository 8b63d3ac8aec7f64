//! What Kubernetes accepts as names and as keys and values of labels: `k8s.io/apimachinery`'s `validation`.
//!
//! Each check returns the API server's messages; an empty list means "valid".
//!
//! ```
//! use pratique_gotext::validation::{dns1123_label, qualified_name};
//!
//! assert!(dns1123_label("my-name").is_empty() && qualified_name("example.com/MyName").is_empty());
//! assert_eq!(dns1123_label("my.name"), ["must not contain dots"]);
//! assert_eq!(qualified_name(&"x".repeat(64)), ["name part must be no more than 63 bytes"]);
//! ```

mod cel;
mod classes;
mod dns;
mod errors;
mod label;

pub use cel::CEL_RESERVED;
pub use dns::{
    SUBDOMAIN_MAX, dns1035_label, dns1035_label_prefix, dns1123_label, dns1123_label_prefix,
    dns1123_subdomain, dns1123_subdomain_prefix, is_dns1123_label, is_within_domain,
};
pub use label::{label_value, qualified_name, words_before_1_35};
