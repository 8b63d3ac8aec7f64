//! Evaluates requests: with policies only, or with the whole chain including webhooks.

use std::sync::Arc;

use pratique::authorization::{Authorizer, Decider};
use pratique::{Admission, EvalContext, Objects};
use pratique_explain::Recorder;

use super::InputRequest;
use super::report::ReviewResult;
use super::webhooks::Chain;
use crate::exit::CliError;

/// The evaluator of requests.
pub(super) enum Evaluator<'a> {
    /// Policies only.
    Policies(Policies<'a>),
    /// Policies and webhooks.
    Chain(Chain<'a>),
}

/// Policies with their cluster and authorizer.
pub(super) struct Policies<'a> {
    admission: &'a Admission,
    cluster: &'a Objects,
    authorizer: Arc<dyn Authorizer>,
    explain: bool,
}

impl<'a> Evaluator<'a> {
    /// Evaluates policies only, and explains decisions if `explain` is set.
    pub(super) fn policies(
        admission: &'a Admission,
        cluster: &'a Objects,
        authorizer: Arc<dyn Authorizer>,
        explain: bool,
    ) -> Self {
        Evaluator::Policies(Policies {
            admission,
            cluster,
            authorizer,
            explain,
        })
    }

    /// Evaluates policies and calls webhooks.
    pub(super) fn webhooks(
        admission: &'a Admission,
        cluster: &'a Objects,
        decider: Box<dyn Decider>,
    ) -> Result<Self, CliError> {
        Chain::new(admission, cluster, decider).map(Evaluator::Chain)
    }

    /// Evaluates a request.
    pub(super) fn evaluate<'q>(&self, input: &'q InputRequest) -> Result<ReviewResult<'q>, CliError> {
        match self {
            Evaluator::Policies(policies) => policies.evaluate(input),
            Evaluator::Chain(chain) => chain.evaluate(input),
        }
    }
}

impl Policies<'_> {
    fn evaluate<'q>(&self, input: &'q InputRequest) -> Result<ReviewResult<'q>, CliError> {
        let recorder = Recorder::new();
        let mut surroundings = EvalContext::new(self.cluster, self.authorizer.clone());
        if self.explain {
            surroundings = surroundings.with_trace(&recorder);
        }
        let outcome = match input.decode_failure() {
            Some(outcome) => Ok(outcome),
            None => self
                .admission
                .admit_policies(&input.request, surroundings, &mut ()),
        };
        let outcome = outcome.map_err(|why| CliError::Evaluation {
            place: input.place.clone(),
            why: why.to_string(),
        })?;
        Ok(ReviewResult {
            input,
            outcome: input.with_warnings(outcome),
            explanation: self.explain.then(|| recorder.explanation()),
            webhooks: Vec::new(),
        })
    }
}
