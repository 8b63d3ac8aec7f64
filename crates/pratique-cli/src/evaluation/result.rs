//! The result of a review.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use pratique_manifest::Location;
use pratique_report::Decision;
use pratique_review::{FieldPath, Review};
use serde::Serialize;

use crate::evaluation::input_request::InputRequest;
use crate::evaluation::placed_cause::PlacedCause;
use crate::evaluation::placed_drop::PlacedDrop;
use crate::input::fields::{LocatedField, PieceFields};

/// A request and its review.
pub(crate) struct ReviewResult<'q> {
    pub(crate) input: &'q InputRequest<'q>,
    pub(crate) review: Review,
    /// The Pods that the object makes, if they are reviewed.
    pub(crate) pods: Vec<MadePod>,
    /// Why the server's own validation refuses the object, at the places of the fields.
    pub(crate) placed: Vec<PlacedCause>,
    /// The fields that the server drops without a word, at their places.
    pub(crate) drops: Vec<PlacedDrop>,
    /// Where the fields are that warnings and the answer are about, by their texts.
    pub(crate) warning_places: BTreeMap<String, Location>,
}

impl<'q> ReviewResult<'q> {
    /// The review of a request.
    pub(crate) fn new(input: &'q InputRequest<'q>, review: Review) -> Self {
        ReviewResult {
            input,
            review,
            pods: Vec::new(),
            placed: Vec::new(),
            drops: Vec::new(),
            warning_places: BTreeMap::new(),
        }
    }

    /// What to do, where there is no such request, or where a policy or a webhook has failed.
    pub(crate) fn help(&self) -> Option<&str> {
        self.review.help(self.input)
    }

    /// Where a field of the object is shown to be, and where it is in the text that was read, if that is elsewhere: the object was
    /// made of a source then.
    pub(crate) fn place_field(
        &self,
        fields: Option<&PieceFields<'_>>,
        path: &FieldPath,
    ) -> (Option<Location>, Option<Location>) {
        let read = fields.and_then(|fields| fields.locate(&self.input.location, path));
        let location = |read: Option<LocatedField>| read.map(|read| read.location);
        match &self.input.origin {
            Some(origin) => (Some(origin.field(path, read.as_ref())), location(read)),
            None => (location(read), None),
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
pub(crate) struct MadePod {
    /// Its name, or the start of the name that a server generates.
    pub(crate) name: String,
    pub(crate) decision: Decision,
}

impl MadePod {
    pub(crate) fn is_allowed(&self) -> bool {
        self.decision == Decision::Allowed
    }
}
