//! What admission may not intercept, and which names are reserved for static configuration.
//!
//! Nobody should be able to lock everybody out, themselves included. So [the reviews](is_virtual) that users and
//! permissions are looked up with pass by all policies, and by webhooks since 1.37; and [configuration of admission
//! itself](is_configuration) is seen by what the cluster's owner put on disk only, so that the API can always repair
//! what came from the API. In turn, names that end in [`RESERVED_SUFFIX`] belong to the disk: [the API does not take
//! them](registry_check).
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
mod reserved;
mod virtual_resources;

pub use configuration::{Origin, Phase, intercepts, is_configuration};
pub use notice::{NOTICE, Notice, excluded_by};
pub use registry::registry_check;
pub use reserved::{RESERVED_SUFFIX, is_reserved};
pub use virtual_resources::{VIRTUAL_RESOURCES, is_virtual};
