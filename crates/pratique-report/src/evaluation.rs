//! The decision on one request, as it is counted.

use serde::{Deserialize, Serialize};

/// The decision on one request, and what led to it. A text that is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation<'a> {
    /// The decision.
    pub decision: Decision,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'a str,
    /// The group and version of the object, as in `apps/v1`.
    pub api_version: &'a str,
    /// The kind of the object.
    pub kind: &'a str,
    /// The namespace of the request; empty if its resource is not namespaced.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
    /// The uid of the object, where it is stored.
    pub uid: &'a str,
    /// The user who sends the request.
    pub user: &'a str,
    /// What controls the object, as in `Deployment/web`.
    pub owner: &'a str,
    /// Where the request was found: a file with line and column, or a URL.
    pub place: &'a str,
    /// When the request was made, in RFC 3339.
    pub time: &'a str,
    /// Whether the object changed while objects were read, so that others were read as they were before.
    pub is_changed: bool,
    /// Whether it is known that no policy matched the request, so that an allowed one did not pass anything.
    pub is_unmatched: bool,
    /// What policies, and others who admit, found.
    pub findings: Vec<Finding<'a>>,
}

/// What a policy found with a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The policy, webhook or plugin; empty where the server itself refuses a request.
    pub policy: &'a str,
    /// The binding; empty if there is none.
    pub binding: &'a str,
    /// What follows.
    pub action: Action,
    /// Whether an error led to it, and not a validation.
    pub is_error: bool,
    /// The message for the user.
    pub message: &'a str,
}

/// The decision on a request, as every tool has it. What a server answers is the engine's `AdmissionDecision`, which has fewer: it is
/// never [accepted](Decision::Accepted), and one that could not be read has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The request is allowed.
    Allowed,
    /// The request is denied: by a rule, where the tool tells [errors](Decision::Error) apart.
    Denied,
    /// The request is denied since something failed, and the failure policy denies: an expression, a mutation, the configuration of
    /// a policy or a binding.
    Error,
    /// The decision depends on something that was not given.
    #[default]
    Undecided,
    /// The request could not be read or evaluated.
    Failed,
    /// The request is denied, and all of the findings that deny it are accepted.
    Accepted,
}

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The request is denied.
    Deny,
    /// The user is warned.
    Warn,
    /// It is recorded in the audit log.
    Audit,
    /// An error that the failure policy ignores.
    Ignore,
    /// Nothing: it depends on something that was not given.
    Undecided,
    /// What follows without an exception or a baseline that accepts it.
    Accepted,
}

impl Decision {
    /// The decision as it is written: `allowed`, `denied`, `error`, `undecided`, `failed` or `accepted`.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allowed => "allowed",
            Decision::Denied => "denied",
            Decision::Error => "error",
            Decision::Undecided => "undecided",
            Decision::Failed => "failed",
            Decision::Accepted => "accepted",
        }
    }

    /// Whether the answer is a denial: by a rule or for a failure, and not accepted.
    pub fn denies(self) -> bool {
        matches!(self, Decision::Denied | Decision::Error)
    }

    /// The decision where it is not told why a request is denied: an [error](Decision::Error) is [`Denied`](Decision::Denied).
    pub fn without_cause(self) -> Self {
        match self {
            Decision::Error => Decision::Denied,
            Decision::Allowed
            | Decision::Denied
            | Decision::Undecided
            | Decision::Failed
            | Decision::Accepted => self,
        }
    }
}

impl Action {
    /// The action as it is written: `deny`, `warn`, `audit`, `ignore`, `undecided` or `accepted`.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Deny => "deny",
            Action::Warn => "warn",
            Action::Audit => "audit",
            Action::Ignore => "ignore",
            Action::Undecided => "undecided",
            Action::Accepted => "accepted",
        }
    }
}
