//! A finding with its location.

use pratique_manifest::{Help, Location, ObjectName};
use pratique_sample::CostExample;

use crate::lint_meta::LintMeta;

/// Something that may be wrong with a manifest that loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The lint that reports it.
    pub lint: &'static LintMeta,
    /// What may be wrong.
    pub message: String,
    /// The object that the warning is about; `None` for an AdmissionConfiguration.
    pub object: Option<ObjectName>,
    /// The field that the warning is about: `spec.validations[0].expression`.
    pub field: String,
    /// Where that is.
    pub location: Location,
    /// How to fix it, where that is known.
    pub help: Option<Help>,
    /// A generated object that demonstrates it.
    pub example: Option<Box<CostExample>>,
}
