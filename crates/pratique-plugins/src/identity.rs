//! Plugins for who may do what: certificates, owners, nodes.

mod certificates;
mod owner_references;
mod signers;
mod subject;
mod trust_bundle;

pub(crate) use certificates::CertificatePermission;
pub(crate) use owner_references::OwnerReferencesPermissionEnforcement;
pub(crate) use subject::CertificateSubjectRestriction;
pub(crate) use trust_bundle::ClusterTrustBundleAttest;

/// The group of certificates.
pub(crate) const CERTIFICATES: &str = "certificates.k8s.io";
