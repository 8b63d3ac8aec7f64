//! `admissionregistration.k8s.io`.
// Upstream: pkg/registry/admissionregistration/*/strategy.go

use crate::strategy::{Endpoint, Strategy};

const GROUP: &str = "admissionregistration.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "MutatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(GROUP, "MutatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(GROUP, "MutatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
    Strategy::new(GROUP, "ValidatingAdmissionPolicy")
        .conditional()
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS_ONLY),
    Strategy::new(GROUP, "ValidatingAdmissionPolicyBinding")
        .conditional()
        .generation(&[&["spec"]]),
    Strategy::new(GROUP, "ValidatingWebhookConfiguration")
        .conditional()
        .generation(&[&["webhooks"]]),
];
