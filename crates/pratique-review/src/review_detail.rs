//! What a caller looks at of a review, besides the decision.

/// What a caller looks at of the review of a request by the whole chain, besides the decision. What nobody looks at is not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewDetail {
    /// Of which requests the steps are recorded.
    pub steps: StepRecord,
    /// Whether the outcome has the object as it is stored.
    pub keeps_object: bool,
}

/// Of which requests the steps of the chain are recorded; the least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepRecord {
    /// Of none; it is not told which step made an object invalid, either.
    Nothing,
    /// Of those about which there is more to say than that they are allowed. They are evaluated once more for it, unless webhooks
    /// are called: then the steps of all are recorded.
    Remarkable,
    /// Of all.
    #[default]
    All,
}

impl Default for ReviewDetail {
    /// All.
    fn default() -> Self {
        ReviewDetail {
            steps: StepRecord::All,
            keeps_object: true,
        }
    }
}
