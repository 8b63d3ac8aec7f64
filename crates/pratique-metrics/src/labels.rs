//! The values of labels that come from a fixed set.

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It creates an object.
    Create,
    /// It changes one.
    Update,
    /// It deletes one.
    Delete,
    /// It connects to one.
    Connect,
    /// It does not say.
    None,
}

/// A half of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Mutating.
    Admit,
    /// Validating.
    Validate,
}

/// A kind of webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookType {
    /// One that may change objects: `admit`.
    Mutating,
    /// One that may not: `validating`.
    Validating,
}

/// What led to the rejection by a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookError {
    /// The webhook said no.
    None,
    /// The webhook could not be called, or its answer not be understood.
    Calling,
    /// Anything else, such as a patch that does not apply.
    Internal,
}

/// What a match condition belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionOwner {
    /// A policy of either kind; both are counted as validating.
    Policy,
    /// A mutating webhook.
    MutatingWebhook,
    /// A validating webhook.
    ValidatingWebhook,
}

/// What kind of error an expression of a policy led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyError {
    /// None. A validation that is false is no such case: it counts as [`PolicyError::Invalid`].
    None,
    /// It does not compile.
    Compile,
    /// It failed, or denied.
    Invalid,
    /// It cost more than it may.
    OutOfBudget,
}

/// What a validation of a policy led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The request goes on: an error that the failure policy ignores.
    Allow,
    /// The request is denied.
    Deny,
    /// It is noted in the audit log.
    Audit,
    /// The user is warned.
    Warn,
}

/// A plugin that takes its configuration from manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Plugin {
    /// `MutatingAdmissionPolicy`
    MutatingAdmissionPolicy,
    /// `MutatingAdmissionWebhook`
    MutatingAdmissionWebhook,
    /// `ValidatingAdmissionPolicy`
    ValidatingAdmissionPolicy,
    /// `ValidatingAdmissionWebhook`
    ValidatingAdmissionWebhook,
}

impl Operation {
    /// As the label `operation` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
            Operation::None => "",
        }
    }
}

impl Phase {
    /// As the label `type` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Admit => "admit",
            Phase::Validate => "validate",
        }
    }
}

impl WebhookType {
    /// As the label `type` has it where calls are counted.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            WebhookType::Mutating => "admit",
            WebhookType::Validating => "validating",
        }
    }

    /// As the label `type` has it where exclusions by match conditions are counted.
    pub(crate) fn of_exclusion(self) -> &'static str {
        match self {
            WebhookType::Mutating => "admit",
            WebhookType::Validating => "validate",
        }
    }
}

impl WebhookError {
    /// As the label `error_type` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            WebhookError::None => "no_error",
            WebhookError::Calling => "calling_webhook_error",
            WebhookError::Internal => "apiserver_internal_error",
        }
    }
}

impl ConditionOwner {
    /// As the labels `kind` and `type` have it.
    pub(crate) fn kind_and_type(self) -> (&'static str, &'static str) {
        match self {
            ConditionOwner::Policy => ("policy", "validate"),
            ConditionOwner::MutatingWebhook => ("webhook", "admit"),
            ConditionOwner::ValidatingWebhook => ("webhook", "validating"),
        }
    }
}

impl PolicyError {
    /// As the label `error_type` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyError::None => "no_error",
            PolicyError::Compile => "compile_error",
            PolicyError::Invalid => "invalid_error",
            PolicyError::OutOfBudget => "out_of_budget",
        }
    }
}

impl Action {
    /// As the label `enforcement_action` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Deny => "deny",
            Action::Audit => "audit",
            Action::Warn => "warn",
        }
    }
}

impl Plugin {
    /// All of them, by name.
    pub const ALL: [Plugin; 4] = [
        Plugin::MutatingAdmissionPolicy,
        Plugin::MutatingAdmissionWebhook,
        Plugin::ValidatingAdmissionPolicy,
        Plugin::ValidatingAdmissionWebhook,
    ];

    /// As the label `plugin` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Plugin::MutatingAdmissionPolicy => "MutatingAdmissionPolicy",
            Plugin::MutatingAdmissionWebhook => "MutatingAdmissionWebhook",
            Plugin::ValidatingAdmissionPolicy => "ValidatingAdmissionPolicy",
            Plugin::ValidatingAdmissionWebhook => "ValidatingAdmissionWebhook",
        }
    }
}
