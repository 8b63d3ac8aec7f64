//! The phases of admission.

/// A phase of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdmissionPhase {
    /// Mutating admission, which may change objects.
    Mutating,
    /// Validating admission, which allows or denies requests.
    Validating,
}

/// The phases of admission that a request goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdmissionPhases {
    /// The mutating phase.
    Mutating,
    /// The validating phase.
    Validating,
    /// Both phases, one after the other.
    Both,
}

impl AdmissionPhases {
    /// Whether a phase is one of them.
    pub fn contains(self, phase: AdmissionPhase) -> bool {
        self == AdmissionPhases::Both || self == AdmissionPhases::from(phase)
    }
}

impl From<AdmissionPhase> for AdmissionPhases {
    fn from(phase: AdmissionPhase) -> Self {
        match phase {
            AdmissionPhase::Mutating => AdmissionPhases::Mutating,
            AdmissionPhase::Validating => AdmissionPhases::Validating,
        }
    }
}

impl AdmissionPhase {
    /// The name of the admission plugin for policies of this phase.
    pub fn policy_plugin(self) -> &'static str {
        match self {
            AdmissionPhase::Mutating => "MutatingAdmissionPolicy",
            AdmissionPhase::Validating => "ValidatingAdmissionPolicy",
        }
    }

    /// The name of the admission plugin for webhooks of this phase.
    pub fn webhook_plugin(self) -> &'static str {
        match self {
            AdmissionPhase::Mutating => "MutatingAdmissionWebhook",
            AdmissionPhase::Validating => "ValidatingAdmissionWebhook",
        }
    }
}
