//! Plugins for who may do what: certificates, owners, nodes.

mod certificates;
mod owner_references;
mod signers;
mod subject;
mod trust_bundle;

pub(crate) use certificates::CERTIFICATE_APPROVAL;
pub(crate) use certificates::CERTIFICATE_SIGNING;
pub(crate) use owner_references::FACTORY as OWNER_REFERENCES_PERMISSION_ENFORCEMENT;
pub(crate) use subject::FACTORY as CERTIFICATE_SUBJECT_RESTRICTION;
pub(crate) use trust_bundle::FACTORY as CLUSTER_TRUST_BUNDLE_ATTEST;

/// The group of certificates.
const CERTIFICATES: &str = "certificates.k8s.io";
