//! Requests that admission may not intercept, and names that are reserved for static configuration.
//!
//! A configuration of admission must not make a cluster unusable. So [reviews](is_virtual) of users and permissions bypass
//! all policies, and webhooks since 1.37; and the [configuration of admission](is_configuration) is intercepted by static
//! manifests only, so that a client of the API can always repair what came from the API. In turn, names that end in
//! [`RESERVED_SUFFIX`] are reserved for static manifests: [the API refuses them](registry_check).
//!
//! ```
//! use pratique_exclusion::{Origin, is_configuration, is_reserved, is_virtual};
//! use pratique_types::GroupVersionKind;
//!
//! assert!(is_virtual("authorization.k8s.io", "subjectaccessreviews"));
//! assert!(is_configuration(&GroupVersionKind::new("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy")));
//! assert!(is_reserved("no-default.static.k8s.io"));
//! ```

mod configuration;
mod notice;
mod registry;
mod reserved_names;
mod virtual_resources;

pub use configuration::{Interceptor, Origin, intercepts, is_configuration};
pub use notice::{NOTICE, Notice, excluded_by};
pub use registry::registry_check;
pub use reserved_names::{RESERVED_SUFFIX, is_reserved, reserved_name_error};
pub use virtual_resources::{VIRTUAL_RESOURCES, is_virtual};
