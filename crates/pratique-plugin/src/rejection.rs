//! Why a plugin does not let a request pass.

use std::fmt::{self, Display, Formatter};

use pratique_cel::library::authz::Question;
use pratique_core::MissingDependency;
use pratique_types::{GroupVersionKind, Status};

use crate::state::StateKind;

/// Why a plugin does not let a request pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// It refuses the request, with the status that an API server answers.
    Denied(Box<Status>),
    /// It failed with an error that is no status, which an API server answers with a 500 that has no reason.
    Error(String),
    /// Its decision depends on missing state.
    Undecided(Box<MissingState>),
    /// Its decision depends on a pending answer: the call is to be repeated. The plugin has changed nothing.
    Pending,
}

/// The missing state that the decision of a plugin depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingState {
    /// Objects of the cluster.
    Objects {
        /// Their kind.
        kind: StateKind,
        /// Their namespace; empty for a kind of cluster scope.
        namespace: String,
        /// The name of the object; `None` for all of the kind.
        name: Option<String>,
    },
    /// What a controller writes into the status of an object.
    Status {
        /// Its kind.
        kind: StateKind,
        /// Its namespace; empty for a kind of cluster scope.
        namespace: String,
        /// Its name.
        name: String,
        /// The field.
        field: &'static str,
    },
    /// The answer to an authorization check.
    Access(Box<Question>),
    /// The answer of the image policy backend.
    ImageReview,
    /// The resource of the kind of the request, which was only assumed.
    Resource(GroupVersionKind),
    /// What the log does not have that the request comes from.
    RequestDetail {
        /// Its path: `request.userInfo.groups`.
        path: &'static str,
    },
}

impl Rejection {
    /// The status that an API server answers; `None` while the request is not decided.
    // Upstream: pkg/endpoints/handlers/responsewriters/status.go, ErrorToAPIStatus
    pub fn status(&self) -> Option<Status> {
        match self {
            Rejection::Denied(status) => Some((**status).clone()),
            Rejection::Error(message) => Some(Status {
                status: "Failure".to_owned(),
                message: message.clone(),
                code: 500,
                ..Status::default()
            }),
            Rejection::Undecided(_) | Rejection::Pending => None,
        }
    }

    /// An error that is no status.
    pub fn error(message: impl Into<String>) -> Self {
        Rejection::Error(message.into())
    }
}

impl From<Status> for Rejection {
    fn from(status: Status) -> Self {
        Rejection::Denied(Box::new(status))
    }
}

impl From<MissingState> for Rejection {
    fn from(missing: MissingState) -> Self {
        Rejection::Undecided(Box::new(missing))
    }
}

impl std::error::Error for Rejection {}

impl Display for Rejection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Denied(status) => formatter.write_str(&status.message),
            Rejection::Error(message) => formatter.write_str(message),
            Rejection::Undecided(missing) => missing.fmt(formatter),
            Rejection::Pending => formatter.write_str("an answer is not there yet"),
        }
    }
}

impl From<MissingState> for MissingDependency {
    fn from(missing: MissingState) -> Self {
        match missing {
            MissingState::Objects {
                kind,
                namespace,
                name,
            } => MissingDependency::Objects {
                kind: kind.to_string(),
                namespace,
                name,
            },
            MissingState::Status {
                kind,
                namespace,
                name,
                field,
            } => MissingDependency::Status {
                kind: kind.to_string(),
                namespace,
                name,
                field,
            },
            MissingState::Access(check) => MissingDependency::Authorizer { check },
            MissingState::ImageReview => MissingDependency::ImageReview,
            MissingState::Resource(kind) => MissingDependency::resource_of(&kind),
            MissingState::RequestDetail { path } => MissingDependency::RequestDetail {
                path: path.to_owned(),
            },
        }
    }
}

/// As the input of a decision that it is.
impl Display for MissingState {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        MissingDependency::from(self.clone()).fmt(formatter)
    }
}
