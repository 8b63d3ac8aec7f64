//! A finding and its place.

use pratique_manifest::{Location, ObjectName};
use pratique_sample::CostExample;

use crate::lint::Lint;

/// Something that may be wrong with a manifest that loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it was found by.
    pub lint: &'static Lint,
    /// What may be wrong.
    pub message: String,
    /// The object it is about; none for an AdmissionConfiguration.
    pub object: Option<ObjectName>,
    /// The field it is about: `spec.validations[0].expression`.
    pub field: String,
    /// Where that is.
    pub location: Location,
    /// What would mend it, where that is known.
    pub help: Option<String>,
    /// An object that shows it, where one was made.
    pub example: Option<Box<CostExample>>,
}
