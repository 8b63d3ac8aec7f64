//! `admissionregistration.k8s.io`.
// Upstream: pkg/registry/admissionregistration/*/strategy.go

use crate::strategy::{Endpoint, Strategy};
use pratique_types::ADMISSION_GROUP;

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(ADMISSION_GROUP, "MutatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(ADMISSION_GROUP, "MutatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(ADMISSION_GROUP, "MutatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
    Strategy::new(ADMISSION_GROUP, "ValidatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS_ONLY),
    Strategy::new(ADMISSION_GROUP, "ValidatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(ADMISSION_GROUP, "ValidatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
];
