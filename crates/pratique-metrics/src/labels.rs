//! Label values from fixed sets.

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `CREATE`
    Create,
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
    /// `CONNECT`
    Connect,
    /// No operation.
    None,
}

/// A phase of admission, as the label `type` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepType {
    /// Mutating.
    Admit,
    /// Validating.
    Validate,
}

/// A kind of webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookType {
    /// A mutating webhook: `admit`.
    Mutating,
    /// A validating webhook: `validating`.
    Validating,
}

/// The cause of a rejection by a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookError {
    /// The webhook denied the request.
    None,
    /// The webhook could not be called, or its response was invalid.
    Calling,
    /// Any other error, such as a patch that does not apply.
    Internal,
}

/// The owner of a match condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionOwner {
    /// A policy of either kind; both are counted as validating.
    Policy,
    /// A mutating webhook.
    MutatingWebhook,
    /// A validating webhook.
    ValidatingWebhook,
}

/// The kind of error of a policy expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyError {
    /// No error. A validation that is false counts as [`PolicyError::Invalid`].
    None,
    /// The expression does not compile.
    Compile,
    /// The evaluation failed, or the validation is false.
    Invalid,
    /// The cost exceeds the budget.
    OutOfBudget,
}

/// The enforcement action of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The request is allowed: the failure policy ignores an error.
    Allow,
    /// The request is denied.
    Deny,
    /// An audit annotation is added.
    Audit,
    /// The user is warned.
    Warn,
}

impl Operation {
    /// The value of the label `operation`.
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

impl StepType {
    /// The value of the label `type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            StepType::Admit => "admit",
            StepType::Validate => "validate",
        }
    }
}

impl WebhookType {
    /// The value of the label `type` of webhook calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            WebhookType::Mutating => "admit",
            WebhookType::Validating => "validating",
        }
    }

    /// The value of the label `type` of exclusions by match conditions.
    pub(crate) fn exclusion_type(self) -> &'static str {
        match self {
            WebhookType::Mutating => "admit",
            WebhookType::Validating => "validate",
        }
    }
}

impl WebhookError {
    /// The value of the label `error_type`.
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
    /// The values of the labels `kind` and `type`.
    pub(crate) fn kind_and_type(self) -> (&'static str, &'static str) {
        match self {
            ConditionOwner::Policy => ("policy", "validate"),
            ConditionOwner::MutatingWebhook => ("webhook", "admit"),
            ConditionOwner::ValidatingWebhook => ("webhook", "validating"),
        }
    }
}

impl PolicyError {
    /// The value of the label `error_type`.
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
    /// The value of the label `enforcement_action`.
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
