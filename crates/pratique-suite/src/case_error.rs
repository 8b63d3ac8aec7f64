//! Why the request of a case is not evaluated.

use pratique::UnfinishedEvaluation;

use pratique_request::BuildError;
use pratique_request::review::ReviewError;
use pratique_review::GivenObjectError;
use pratique_state::UnusableDefinition;

/// Why the request of a case is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// Its AdmissionReview cannot be decoded.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// No request can be built from its object.
    #[error("{}{}", .0, help(.0))]
    Build(#[from] BuildError),
    /// A connection has no object that would say the name.
    #[error("a connection is made to an object: give its whole request")]
    NoName,
    /// An API server cannot decode its object.
    #[error("the server refuses the object, and no policy sees it: {0}")]
    Undecodable(String),
    /// An API server refuses the request before admission, with this message.
    #[error("{0}")]
    Refused(String),
    /// A CustomResourceDefinition of the cluster cannot be served.
    #[error(transparent)]
    Definition(#[from] UnusableDefinition),
    /// Only policies without a binding match the request.
    #[error(
        "not evaluated: no binding names the {} {}: add one, or have {} evaluated as if bound, with --bind or `bind: true` in \
         the suite",
        if policies.len() == 1 { "policy" } else { "policies" },
        policies.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "),
        if policies.len() == 1 { "it" } else { "them" }
    )]
    Unbound {
        /// The names of the policies.
        policies: Vec<String>,
    },
    /// The evaluation ended without a decision.
    #[error(transparent)]
    Unfinished(#[from] UnfinishedEvaluation),
    /// There is no runtime in which the chain could wait for webhooks.
    #[cfg(feature = "webhooks")]
    #[error("the chain cannot run: {0}")]
    Runtime(String),
    /// The thread that ran the chain panicked.
    #[cfg(feature = "webhooks")]
    #[error("the chain ended early")]
    Ended,
    /// The chain needs the feature `webhooks`.
    #[cfg(not(feature = "webhooks"))]
    #[error("the chain cannot run: the program is built without webhooks")]
    NotBuilt,
}

impl From<GivenObjectError> for CaseError {
    fn from(error: GivenObjectError) -> Self {
        match error {
            GivenObjectError::Build(error) => CaseError::Build(error),
            GivenObjectError::Deleted(why) | GivenObjectError::OldObject(why) => CaseError::Undecodable(why),
            _ => CaseError::NoName,
        }
    }
}

/// How a suite gives what a request lacks.
fn help(error: &BuildError) -> &'static str {
    match error {
        BuildError::UnknownKind(_) => {
            ": name its resource, or give its CustomResourceDefinition among the cluster's objects"
        }
        BuildError::NoOldObject => ": give it as oldObject",
        BuildError::SeveralResources(_) => ": name one as `resource`",
        BuildError::NoKind(_) | BuildError::OtherResource { .. } | BuildError::Subresource(_) => "",
    }
}
