//! The effects of the decisions of validating policies.

use std::borrow::Cow;
use std::mem::take;

use pratique_core::{AdmissionPhase, DenialCause, MissingDependency, OnUndecided, UndecidedDecision};
use pratique_types::Status;

use super::policy::{AnnotationDecision, MissingInput, PolicyDecision, ValidationDecision};
use super::run::ValidationRun;
use crate::annotations::{AuditFailure, CollectedAnnotations};
use crate::binding::{CompiledBinding, FailureAction};
use crate::denial::PolicyDenial;
use crate::ignored_failures::configuration_error;
use crate::observer::{Effect, ErrorType, FailedPart, ObservedDecision};
use crate::policies::RunnablePolicy;
use crate::policy_core::FailurePolicy;
use crate::unmatched_reason::UnmatchedReason;
use pratique_core::ValidationOutcome;

impl<'s> ValidationRun<'_, 's> {
    /// Takes the actions of a binding on the decision of its policy.
    pub(super) fn act_on(
        &mut self,
        policy: &'s RunnablePolicy,
        binding: CompiledBinding<'s>,
        decision: &PolicyDecision<'s>,
        collected: &mut CollectedAnnotations<'s>,
    ) {
        if let Some(errors) = decision.condition_errors {
            self.count_conditions(policy, errors);
        }
        if let Some(error) = &decision.ignored_conditions {
            let part = FailedPart::Conditions;
            self.ignored.add(&policy.core, Some(binding), part, error);
        }
        for (index, validation) in &decision.validations {
            self.act_on_validation(policy, binding, *index, validation);
        }
        for annotation in &decision.annotations {
            match annotation {
                AnnotationDecision::Publish { key, value } => collected.add(key, value),
                AnnotationDecision::Error(message) => self.deny_annotation(policy, binding, message),
                AnnotationDecision::Ignored { index, error } => {
                    let part = FailedPart::Annotation(*index);
                    self.ignored.add(&policy.core, Some(binding), part, error);
                }
            }
        }
        for MissingInput { validation, missing } in &decision.undecided {
            if !self.undecided(policy, Some(binding), missing.clone()) {
                continue;
            }
            let error = format!("undecided: {missing}");
            match validation {
                Some(_) => {
                    let failed = ValidationDecision::failed(policy, error);
                    self.act_on_validation(policy, binding, *validation, &failed);
                }
                None if policy.core.failure_policy.ignores() => {}
                None => self.deny_annotation(policy, binding, &error),
            }
        }
    }

    /// Denies because of an audit annotation that failed, whatever the binding's actions are.
    fn deny_annotation(&mut self, policy: &'s RunnablePolicy, binding: CompiledBinding<'s>, error: &str) {
        let message = self.session.arena().str(error);
        self.observe(
            policy,
            binding,
            None,
            Effect::Deny,
            (ErrorType::of_message(error), message),
        );
        self.deny(policy, Some(binding), (error, None), DenialCause::Failure);
    }

    /// Takes the actions of a binding on a validation that is not true.
    fn act_on_validation(
        &mut self,
        policy: &'s RunnablePolicy,
        binding: CompiledBinding<'s>,
        index: Option<usize>,
        decision: &ValidationDecision<'s>,
    ) {
        match decision {
            ValidationDecision::Ignored { message, error } => {
                let message = self.session.arena().str(message);
                self.observe(policy, binding, index, Effect::Allow, (*error, message));
            }
            ValidationDecision::Deny {
                message,
                reason,
                error,
            } => {
                for action in &binding.terms.actions {
                    self.act(*action, policy, binding, index, (message, *reason, *error));
                }
            }
        }
    }

    /// Records that a policy depends on missing input; returns whether that counts as an error of the policy.
    fn undecided(
        &mut self,
        policy: &RunnablePolicy,
        binding: Option<CompiledBinding<'_>>,
        missing: MissingDependency,
    ) -> bool {
        let undecided = UndecidedDecision {
            plugin: AdmissionPhase::Validating.policy_plugin().into(),
            name: policy.core.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            missing,
        };
        let settles = self.session.context.on_undecided == OnUndecided::FailurePolicy;
        let list = if settles {
            &mut self.settled
        } else {
            &mut self.undecided
        };
        // Validations and params of a policy may all need the same.
        if !list.contains(&undecided) {
            list.push(undecided);
        }
        settles
    }

    /// Handles a policy or a binding that may match, but is not evaluated.
    pub(super) fn unmatched(
        &mut self,
        policy: &RunnablePolicy,
        binding: Option<CompiledBinding<'_>>,
        unmatched: UnmatchedReason,
    ) {
        match unmatched {
            UnmatchedReason::Error { message, cause } => self.fail(policy, binding, &message, cause),
            UnmatchedReason::Undecided(missing) => {
                let error = missing.to_string();
                if self.undecided(policy, binding, *missing) {
                    self.fail(policy, binding, &error, DenialCause::Failure);
                }
            }
            UnmatchedReason::Pending => self.pending = true,
        }
    }

    fn act(
        &mut self,
        action: FailureAction,
        policy: &'s RunnablePolicy,
        binding: CompiledBinding<'s>,
        index: Option<usize>,
        (message, reason, error): (&Cow<'s, str>, Option<&str>, ErrorType),
    ) {
        let message_text: &'s str = match message {
            Cow::Borrowed(message) => message,
            Cow::Owned(message) => self.session.arena().str(message),
        };
        match action {
            FailureAction::Deny => {
                self.observe(policy, binding, index, Effect::Deny, (error, message_text));
                self.deny(policy, Some(binding), (message, reason), error.into());
            }
            FailureAction::Audit => {
                self.observe(policy, binding, index, Effect::Audit, (error, message_text));
                self.annotations.add_failure(|| AuditFailure {
                    message: message.clone(),
                    policy: &policy.core.name,
                    binding: binding.name.assemble(self.session.arena()),
                    // Upstream: the index among the decisions, and an error of all validations is the only one.
                    expression_index: index.unwrap_or_default(),
                    validation_actions: &binding.terms.action_names,
                });
            }
            FailureAction::Warn => {
                self.observe(policy, binding, index, Effect::Warn, (error, message_text));
                self.warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    policy.core.name, binding.name
                ));
            }
        }
    }

    /// Denies because of an error of configuration, whatever the binding's actions are, unless errors are ignored.
    pub(super) fn fail(
        &mut self,
        policy: &RunnablePolicy,
        binding: Option<CompiledBinding<'_>>,
        error: &str,
        cause: DenialCause,
    ) {
        let message = match &policy.core.failure_policy {
            FailurePolicy::Unknown(name) => format!("unrecognized failure policy: '{name}'"),
            FailurePolicy::Fail | FailurePolicy::Ignore => configuration_error(binding, error),
        };
        if policy.core.failure_policy.ignores() {
            let part = FailedPart::Configuration;
            self.ignored.add(&policy.core, binding, part, message);
        } else {
            self.deny(policy, binding, (&message, None), cause);
        }
    }

    fn deny(
        &mut self,
        policy: &RunnablePolicy,
        binding: Option<CompiledBinding<'_>>,
        (message, reason): (&str, Option<&str>),
        cause: DenialCause,
    ) {
        self.denial.get_or_insert_with(|| PolicyDenial {
            policy: policy.core.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            message: message.to_owned(),
            reason: reason.map(str::to_owned),
            cause,
        });
    }

    fn observe(
        &mut self,
        policy: &'s RunnablePolicy,
        binding: CompiledBinding<'s>,
        validation: Option<usize>,
        effect: Effect,
        (error, message): (ErrorType, &'s str),
    ) {
        self.decisions.push(ObservedDecision {
            validation,
            message,
            policy: &policy.core.name,
            binding: binding.name.assemble(self.session.arena()),
            effect,
            error,
        });
    }

    /// The outcome, which takes all that was collected: the run itself is large to move.
    pub(super) fn take_outcome(&mut self, denial: Option<(Box<Status>, DenialCause)>) -> ValidationOutcome {
        let (status, cause) = denial.unzip();
        ValidationOutcome {
            status,
            undecided: take(&mut self.undecided),
            cause,
            warnings: take(&mut self.warnings),
            audit_annotations: self.annotations.take_map(),
        }
    }
}
