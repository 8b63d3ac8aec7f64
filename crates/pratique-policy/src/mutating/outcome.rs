//! What comes of mutating a request.

use pratique_expression::Undecided;
use pratique_json as json;
use pratique_types::Status;

use super::Form;
use crate::cause::DenialCause;

/// What mutating policies made of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mutated {
    /// The object as it is now; `None` where it is as it was, and where the request is refused.
    pub object: Option<json::Value<'static>>,
    /// Why the request is refused; `None` where it may go on.
    pub status: Option<Box<Status>>,
    /// The policy whose decision depends on what was not given: none after it had its turn.
    pub undecided: Option<Box<Undecided>>,
    /// What led to that; `None` where it may go on.
    pub cause: Option<DenialCause>,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

/// One mutation at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding.
    pub binding: String,
    /// Namespace and name of the param, if there was one.
    pub param: Option<(String, String)>,
    /// Which of the policy's mutations it was, from 0.
    pub mutation: usize,
    /// How it said what to change.
    pub form: Form,
    /// Whether this was in the second turn of the policies.
    pub reinvoked: bool,
    /// What it did.
    pub result: StepResult,
}

/// What a mutation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// The object is another.
    Changed,
    /// The object is as it was.
    Unchanged,
    /// It failed, in an API server's words; the policy's other mutations went on.
    Failed(String),
}

impl Mutated {
    /// Whether the request may go on.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_none()
    }
}
