//! Why a mutation does not change the object.

use pratique_expression::Missing;
use pratique_json as json;

use super::measure::Excess;
use pratique_core::Unfinished;

/// Why a mutation does not change the object.
pub(super) enum Refusal {
    /// It failed, subject to the failure policy.
    Policy(String),
    /// It failed, whatever the failure policy.
    Server(String),
    Unfinished(Unfinished),
    /// It depends on missing input.
    Undecided(Box<Missing>),
}

impl Refusal {
    pub(super) const INTERRUPTED: Refusal = Refusal::Unfinished(Unfinished::Interrupted);
}

impl From<json::Interrupted> for Refusal {
    fn from(_: json::Interrupted) -> Self {
        Refusal::INTERRUPTED
    }
}

impl From<Excess> for Refusal {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Interrupted => Refusal::INTERRUPTED,
            Excess::TooLarge => Refusal::Policy(excess.to_string()),
        }
    }
}
