//! Requests to review, and the places of their inputs.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use pratique::UnfinishedEvaluation;
use pratique_manifest::Location;
use pratique_review::ReviewInput;

use crate::input::InputError;
use crate::input::rendering::ObjectOrigin;
use crate::output::problems;

/// A request and the location of its input.
#[derive(Clone)]
pub(crate) struct InputRequest<'t> {
    pub(crate) input: ReviewInput<'t>,
    pub(crate) location: Location,
    /// What its object was made of, if that is known.
    pub(crate) origin: Option<Arc<ObjectOrigin>>,
}

impl InputRequest<'_> {
    /// Where it is shown to be: in the source of its object, if that is known.
    pub(crate) fn shown_location(&self) -> &Location {
        let origin = self.origin.as_ref();
        origin.map_or(&self.location, |origin| origin.object())
    }

    /// `file:line:column`
    pub(crate) fn place(&self) -> String {
        problems::place(self.shown_location())
    }

    /// The error of a request that cannot be evaluated to its end.
    pub(crate) fn unfinished(&self, why: &UnfinishedEvaluation) -> InputError {
        InputError::Faulty {
            place: self.place(),
            why: format!("the request cannot be evaluated: {why}"),
        }
    }
}

impl<'t> Deref for InputRequest<'t> {
    type Target = ReviewInput<'t>;

    fn deref(&self) -> &Self::Target {
        &self.input
    }
}

impl DerefMut for InputRequest<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.input
    }
}
