//! Why a mutation does not change the object.

use pratique_expression::MissingDependency;
use pratique_json as json;

use super::measure::SizeExcess;
use pratique_core::UnfinishedEvaluation;

/// Why a mutation does not change the object.
pub(super) enum MutationRefusal {
    /// It failed, subject to the failure policy.
    Policy(String),
    /// It failed, whatever the failure policy.
    Server(String),
    Unfinished(UnfinishedEvaluation),
    /// It depends on missing input.
    Undecided(Box<MissingDependency>),
}

impl MutationRefusal {
    pub(super) const INTERRUPTED: MutationRefusal =
        MutationRefusal::Unfinished(UnfinishedEvaluation::Interrupted);
}

impl From<json::Interrupted> for MutationRefusal {
    fn from(_: json::Interrupted) -> Self {
        MutationRefusal::INTERRUPTED
    }
}

impl From<SizeExcess> for MutationRefusal {
    fn from(excess: SizeExcess) -> Self {
        match excess {
            SizeExcess::Interrupted => MutationRefusal::INTERRUPTED,
            SizeExcess::TooLarge => MutationRefusal::Policy(excess.to_string()),
        }
    }
}
