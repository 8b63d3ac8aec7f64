//! The six admissionregistration kinds that static manifests may hold.

use std::fmt;

/// A kind of `admissionregistration.k8s.io/v1` that can be a static manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// ValidatingAdmissionPolicy.
    ValidatingAdmissionPolicy,
    /// ValidatingAdmissionPolicyBinding.
    ValidatingAdmissionPolicyBinding,
    /// MutatingAdmissionPolicy.
    MutatingAdmissionPolicy,
    /// MutatingAdmissionPolicyBinding.
    MutatingAdmissionPolicyBinding,
    /// ValidatingWebhookConfiguration.
    ValidatingWebhookConfiguration,
    /// MutatingWebhookConfiguration.
    MutatingWebhookConfiguration,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::ValidatingAdmissionPolicy,
        Self::ValidatingAdmissionPolicyBinding,
        Self::MutatingAdmissionPolicy,
        Self::MutatingAdmissionPolicyBinding,
        Self::ValidatingWebhookConfiguration,
        Self::MutatingWebhookConfiguration,
    ];

    /// The kind's name, as in a manifest's `kind`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ValidatingAdmissionPolicy => "ValidatingAdmissionPolicy",
            Self::ValidatingAdmissionPolicyBinding => "ValidatingAdmissionPolicyBinding",
            Self::MutatingAdmissionPolicy => "MutatingAdmissionPolicy",
            Self::MutatingAdmissionPolicyBinding => "MutatingAdmissionPolicyBinding",
            Self::ValidatingWebhookConfiguration => "ValidatingWebhookConfiguration",
            Self::MutatingWebhookConfiguration => "MutatingWebhookConfiguration",
        }
    }

    /// The kind of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether objects of the kind bind a policy.
    #[must_use]
    pub const fn is_binding(self) -> bool {
        matches!(
            self,
            Self::ValidatingAdmissionPolicyBinding | Self::MutatingAdmissionPolicyBinding
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
