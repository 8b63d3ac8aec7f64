//! A finding that is accepted, and why.

use pratique_report::Action;
use serde::Serialize;

use super::finding_key::FindingKey;

/// A finding that is accepted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AcceptedFinding {
    /// What follows without the acceptance.
    pub(crate) action: Action,
    /// The policy, webhook or plugin; empty for the server itself.
    pub(crate) policy: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) binding: String,
    pub(crate) message: String,
    #[serde(flatten)]
    pub(crate) by: AcceptedBy,
    /// By what the baseline knows it.
    #[serde(skip)]
    pub(super) key: FindingKey,
}

/// Why a finding is accepted.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "acceptedBy", rename_all = "lowercase")]
pub(crate) enum AcceptedBy {
    /// It was there before.
    Baseline,
    /// Somebody wrote so.
    Exception {
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// Where it is written.
        place: String,
        #[serde(skip)]
        index: usize,
        /// Those behind it that accept the same.
        #[serde(skip)]
        repeated_by: Vec<usize>,
    },
}

impl AcceptedFinding {
    /// `known: …`, or why there is an exception.
    pub(crate) fn told(&self) -> String {
        format!("{}: {}", self.why(), self.message)
    }

    /// Why it is accepted.
    pub(crate) fn why(&self) -> String {
        match &self.by {
            AcceptedBy::Baseline => "known to the baseline".to_owned(),
            AcceptedBy::Exception { reason, until, .. } => {
                let until = until.as_ref().map(|until| format!(" until {until}"));
                format!("exception{}: {reason}", until.unwrap_or_default())
            }
        }
    }
}
