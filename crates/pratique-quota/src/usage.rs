//! The usage of objects.

mod claims;
mod pod_resources;
mod pods;
mod rules;
mod services;
mod volume_claims;

pub(crate) use claims::{DeviceClasses, PODS_READ, resource_claim_usage};
pub(crate) use pods::{
    is_best_effort, is_terminating, missing_requests, pod_usage, uses_cross_namespace_affinity,
};
pub(crate) use rules::UsageRules;
pub(crate) use services::service_usage;
pub(crate) use volume_claims::{attributes_classes, volume_claim_usage};
