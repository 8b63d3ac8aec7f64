//! Observing the decisions of policies: for metrics and logs.

use pratique_core::UndecidedDecision;
use pratique_types::Operation;

/// Observes the decisions of policies. The methods do nothing unless implemented.
pub trait PolicyObserver {
    /// A policy with a binding made a decision that has an effect.
    fn decided(&mut self, decision: &ObservedDecision<'_>) {
        let _ = decision;
    }

    /// The match conditions of a policy were evaluated, for a binding and a param.
    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let _ = conditions;
    }

    /// A mutation of a policy was attempted.
    fn mutating(&mut self, mutating: &MutationAttempt<'_>) {
        let _ = mutating;
    }

    /// A policy failed, which its failure policy ignores: a server tells nobody, and counts it nowhere.
    ///
    /// Validations and mutations that fail are reported as what was decided, and as mutating.
    fn ignored(&mut self, failure: &IgnoredFailure) {
        let _ = failure;
    }

    /// The decision of a policy depends on missing input.
    fn undecided(&mut self, undecided: &UndecidedDecision) {
        let _ = undecided;
    }
}

/// An evaluation of match conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The operation of the request.
    pub operation: Operation,
    /// How many conditions failed before the first false one.
    pub errors: usize,
}

/// A failure that a failure policy ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFailure {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding; `None` where the policy is in error.
    pub binding: Option<String>,
    /// What failed.
    pub part: FailedPart,
    /// The error: an API server's text.
    pub error: String,
}

/// The part of a policy that fails, besides its validations and its mutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailedPart {
    /// What it is configured with: its selectors, its params, its kind of params.
    Configuration,
    /// Its match conditions.
    Conditions,
    /// The audit annotation with this index.
    Annotation(usize),
}

/// An attempted mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationAttempt<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The name of the binding.
    pub binding: &'a str,
    /// The kind of error that it failed with.
    pub error: ErrorType,
}

/// A decision that has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedDecision<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The name of the binding.
    pub binding: &'a str,
    /// The effect on the request.
    pub effect: Effect,
    /// The message of the validation, or the error, whether it is ignored or not.
    pub message: &'a str,
    /// Whether an error led to it.
    pub error: ErrorType,
    /// The place of the validation in the policy; `None` where an audit annotation led to it, or an error that is about no single
    /// validation.
    pub validation: Option<usize>,
}

/// The effect of a decision on the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// An error that the failure policy ignores.
    Allow,
    /// The request is denied.
    Deny,
    /// It is recorded in the audit log.
    Audit,
    /// The user is warned.
    Warn,
}

/// The kind of error that led to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorType {
    /// None: a validation was false.
    None,
    /// An expression does not compile.
    Compile,
    /// An evaluation failed.
    Invalid,
    /// The cost budget was exhausted.
    OutOfBudget,
}

/// Observes nothing.
impl PolicyObserver for () {}

impl ErrorType {
    /// The kind of an error, by its text.
    // Upstream: pkg/admission/plugin/policy/validating/errors.go, ErrorType
    pub(crate) fn of_message(message: &str) -> Self {
        if message.starts_with("compilation") {
            ErrorType::Compile
        } else if message.starts_with("validation failed due to running out of cost budget") {
            ErrorType::OutOfBudget
        } else {
            ErrorType::Invalid
        }
    }
}
