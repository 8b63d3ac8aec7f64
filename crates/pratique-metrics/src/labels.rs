//! Label values from fixed sets.

/// Declares labels: each with the text of its values.
macro_rules! labels {
    ($($(#[$doc:meta])* $label:ident: $of:literal {
        $($(#[$value_doc:meta])* $value:ident = $text:literal,)*
    })*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $label {
            $($(#[$value_doc])* $value,)*
        }

        impl $label {
            #[doc = concat!("The value of ", $of, ".")]
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $($label::$value => $text,)*
                }
            }
        })*
    };
}

labels! {
    /// The operation of a request.
    Operation: "the label `operation`" {
        /// `CREATE`
        Create = "CREATE",
        /// `UPDATE`
        Update = "UPDATE",
        /// `DELETE`
        Delete = "DELETE",
        /// `CONNECT`
        Connect = "CONNECT",
        /// No operation.
        None = "",
    }

    /// A phase of admission, as the label `type` names it.
    StepType: "the label `type`" {
        /// Mutating.
        Admit = "admit",
        /// Validating.
        Validate = "validate",
    }

    /// A kind of webhook.
    WebhookType: "the label `type` of webhook calls" {
        /// A mutating webhook: `admit`.
        Mutating = "admit",
        /// A validating webhook: `validating`.
        Validating = "validating",
    }

    /// The cause of a rejection by a webhook.
    WebhookError: "the label `error_type`" {
        /// The webhook denied the request.
        None = "no_error",
        /// The webhook could not be called, or its response was invalid.
        Calling = "calling_webhook_error",
        /// Any other error, such as a patch that does not apply.
        Internal = "apiserver_internal_error",
    }

    /// The kind of error of a policy expression.
    PolicyError: "the label `error_type`" {
        /// No error. A validation that is false counts as [`PolicyError::Invalid`].
        None = "no_error",
        /// The expression does not compile.
        Compile = "compile_error",
        /// The evaluation failed, or the validation is false.
        Invalid = "invalid_error",
        /// The cost exceeds the budget.
        OutOfBudget = "out_of_budget",
    }

    /// The enforcement action of a validation.
    Action: "the label `enforcement_action`" {
        /// The request is allowed: the failure policy ignores an error.
        Allow = "allow",
        /// The request is denied.
        Deny = "deny",
        /// An audit annotation is added.
        Audit = "audit",
        /// The user is warned.
        Warn = "warn",
    }
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

impl WebhookType {
    /// The value of the label `type` of exclusions by match conditions.
    pub(crate) fn exclusion_type(self) -> &'static str {
        match self {
            WebhookType::Mutating => "admit",
            WebhookType::Validating => "validate",
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
