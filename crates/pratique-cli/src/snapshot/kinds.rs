//! The kinds of objects that are read of a cluster besides params.

/// The kinds of policies and bindings, with their resources.
pub(super) const POLICIES: [(&str, &str); 4] = [
    ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
    (
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
    ),
    ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    (
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
    ),
];

/// The kinds of webhook configurations, with their resources.
pub(super) const WEBHOOKS: [(&str, &str); 2] = [
    (
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
];

/// The versions of policies, the first that is served counts.
#[cfg(feature = "kube")]
pub(super) const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];
