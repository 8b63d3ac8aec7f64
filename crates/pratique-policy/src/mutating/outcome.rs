//! The outcome of mutating a request.

use pratique_expression::UndecidedDecision;
use pratique_json as json;
use pratique_types::Status;

use super::Form;
use crate::cause::DenialCause;

/// The outcome of mutating policies for a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutatedRequest {
    /// The object after the mutations; `None` where it did not change, and where the request is denied. An integer and
    /// a double that are written the same are different numbers to later expressions.
    pub object: Option<json::Value<'static>>,
    /// The status of a denial; `None` where the request is allowed so far.
    pub status: Option<Box<Status>>,
    /// The policy that depends on missing input: no policy after it was run.
    pub undecided: Option<Box<UndecidedDecision>>,
    /// The cause of a denial; `None` where the request is allowed so far.
    pub cause: Option<DenialCause>,
    /// The mutations that ran, in order.
    pub steps: Vec<MutationStep>,
}

/// A mutation that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationStep {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding.
    pub binding: String,
    /// Namespace and name of the param, if there was one.
    pub param: Option<(String, String)>,
    /// The index of the mutation in the policy, from 0.
    pub mutation: usize,
    /// Its patch type.
    pub form: Form,
    /// Whether the policy was reinvoked.
    pub reinvoked: bool,
    /// Its result.
    pub result: StepResult,
}

/// The result of a mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// It changed the object.
    Changed,
    /// It did not change the object.
    Unchanged,
    /// It failed, with an API server's message; the policy's other mutations were run.
    Failed(String),
}

impl MutatedRequest {
    /// Whether the request is allowed so far.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_none()
    }
}
