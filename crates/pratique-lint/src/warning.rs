//! A finding with its location.

use pratique_manifest::{Help, Location, ObjectName};
use pratique_sample::CostExample;
use pratique_types::{GroupVersionKind, Operation};

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
    pub example: Option<Box<WarningExample>>,
}

/// A generated object that demonstrates a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarningExample {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// The operation of the request.
    pub operation: Operation,
    /// The object, as JSON.
    pub object: String,
    /// What is different in it from an object to which the warning does not apply, or what a policy makes of it, in one line.
    pub difference: Option<String>,
    /// The cost of the evaluation, where the warning is about that.
    pub cost: Option<u64>,
}

impl From<CostExample> for WarningExample {
    fn from(example: CostExample) -> Self {
        WarningExample {
            kind: example.kind,
            operation: example.operation,
            object: example.object,
            difference: None,
            cost: Some(example.cost),
        }
    }
}
