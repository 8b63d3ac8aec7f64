//! The phases of admission.

/// A phase of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Mutating admission, which may change objects.
    Mutating,
    /// Validating admission, which allows or denies requests.
    Validating,
}

/// The phases of admission that a request goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phases {
    /// The mutating phase.
    Mutating,
    /// The validating phase.
    Validating,
    /// Both phases, one after the other.
    Both,
}

impl Phases {
    /// Whether a phase is one of them.
    pub fn contains(self, phase: Phase) -> bool {
        self == Phases::Both || self == Phases::from(phase)
    }
}

impl From<Phase> for Phases {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Mutating => Phases::Mutating,
            Phase::Validating => Phases::Validating,
        }
    }
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
