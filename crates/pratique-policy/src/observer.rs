//! What happens while policies judge, for those who count or log it.

use pratique_expression::Undecided;
use pratique_types::Operation;

/// Listens to decisions. All methods do nothing unless implemented.
pub trait Observer {
    /// A policy with a binding made a decision that has an effect.
    fn decided(&mut self, decision: &Decision<'_>) {
        let _ = decision;
    }

    /// The match conditions of a policy were evaluated: for a binding and a param.
    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let _ = conditions;
    }

    /// A mutation of a policy was tried.
    fn mutating(&mut self, mutating: &Mutating<'_>) {
        let _ = mutating;
    }

    /// The decision of a policy depends on what was not given.
    fn undecided(&mut self, undecided: &Undecided) {
        let _ = undecided;
    }
}

/// Match conditions that were evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// What the request does.
    pub operation: Operation,
    /// How many conditions failed before one was false.
    pub errors: usize,
}

/// A mutation that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutating<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The name of the binding.
    pub binding: &'a str,
    /// Whether it failed.
    pub error: ErrorType,
}

/// A decision that has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The name of the binding.
    pub binding: &'a str,
    /// What it leads to.
    pub effect: Effect,
    /// Whether an error led to it.
    pub error: ErrorType,
}

/// What a decision leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// An error that the failure policy ignores.
    Allow,
    /// The request is denied.
    Deny,
    /// It is noted in the audit log.
    Audit,
    /// The user is warned.
    Warn,
}

/// What kind of error led to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorType {
    /// None: a validation was false.
    None,
    /// An expression does not compile.
    Compile,
    /// An evaluation failed.
    Invalid,
    /// The evaluation cost more than it may.
    OutOfBudget,
}

/// Listens to nothing.
impl Observer for () {}

impl ErrorType {
    /// Tells the kind of an error from its text, as the reference does.
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
