//! `admissionregistration.k8s.io`.
// Upstream: pkg/registry/admissionregistration/*/strategy.go

use crate::strategy::{PartEndpoint, ResourceStrategy};
use pratique_types::ADMISSION_GROUP;

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new(ADMISSION_GROUP, "MutatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]]),
    ResourceStrategy::new(ADMISSION_GROUP, "MutatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    ResourceStrategy::new(ADMISSION_GROUP, "MutatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
    ResourceStrategy::new(ADMISSION_GROUP, "ValidatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS_ONLY),
    ResourceStrategy::new(ADMISSION_GROUP, "ValidatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    ResourceStrategy::new(ADMISSION_GROUP, "ValidatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
];
