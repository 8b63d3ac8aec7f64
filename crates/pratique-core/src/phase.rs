//! The phases of admission.

/// A phase of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Mutating admission, which may change objects.
    Mutating,
    /// Validating admission, which allows or denies requests.
    Validating,
}

impl Phase {
    /// The name of the admission plugin for policies of this phase.
    pub fn policy_plugin(self) -> &'static str {
        match self {
            Phase::Mutating => "MutatingAdmissionPolicy",
            Phase::Validating => "ValidatingAdmissionPolicy",
        }
    }

    /// The name of the admission plugin for webhooks of this phase.
    pub fn webhook_plugin(self) -> &'static str {
        match self {
            Phase::Mutating => "MutatingAdmissionWebhook",
            Phase::Validating => "ValidatingAdmissionWebhook",
        }
    }
}
