//! The result of a review.

use std::ops::{Deref, DerefMut};

use pratique_review::Review;
use serde::Serialize;

use super::input_request::InputRequest;
use super::placed_cause::PlacedCause;
use super::record::Decision;

/// A request and its review.
pub(super) struct ReviewResult<'q> {
    pub(super) input: &'q InputRequest<'q>,
    pub(super) review: Review,
    /// The Pods that the object makes, if they are reviewed.
    pub(super) pods: Vec<MadePod>,
    /// Why the server's own validation refuses the object, at the places of the fields.
    pub(super) placed: Vec<PlacedCause>,
}

impl<'q> ReviewResult<'q> {
    /// The review of a request.
    pub(super) fn new(input: &'q InputRequest<'q>, review: Review) -> Self {
        ReviewResult {
            input,
            review,
            pods: Vec::new(),
            placed: Vec::new(),
        }
    }
}

impl Deref for ReviewResult<'_> {
    type Target = Review;

    fn deref(&self) -> &Self::Target {
        &self.review
    }
}

impl DerefMut for ReviewResult<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.review
    }
}

/// The decision on a Pod that a workload makes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MadePod {
    /// Its name, or the start of the name that a server generates.
    pub(super) name: String,
    pub(super) decision: Decision,
}

impl MadePod {
    pub(super) fn of(result: &ReviewResult<'_>) -> Self {
        MadePod {
            name: result.input.name().to_owned(),
            decision: result.outcome.decision().into(),
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.decision == Decision::Allowed
    }
}
