//! Matching a request with policies, bindings and webhooks.

use pratique_exclusion::{Origin, intercepts};
use pratique_expression::MissingDependency;
use pratique_match::{
    Equivalents, MatchError, MatchIndex, MatchResources, MatchedResource, Mismatch, Namespaces, Target,
};

/// A request to be matched with policies, bindings and webhooks.
// Upstream: pkg/admission/plugin/policy/matching/matching.go, Matcher
#[derive(Clone, Copy)]
pub struct RequestMatcher<'s> {
    /// The request.
    pub target: Target<'s>,
    /// The resources that the cluster serves.
    pub equivalents: &'s Equivalents,
    /// The namespaces of the cluster.
    pub namespaces: &'s dyn Namespaces,
}

/// Why it is not known whether a request matches.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchFailure {
    /// The policy, binding or webhook is in error, or the request is.
    Error(MatchError),
    /// The match depends on missing input.
    Undecided(Box<MissingDependency>),
}

impl From<MatchError> for MatchFailure {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::UnknownLabels { name, selector } => {
                MatchFailure::Undecided(Box::new(MissingDependency::NamespaceLabels { name, selector }))
            }
            MatchError::UnknownOldObject(selector) => {
                MatchFailure::Undecided(Box::new(MissingDependency::OldObject {
                    path: format!("oldObject.metadata.labels (by objectSelector {selector})"),
                }))
            }
            MatchError::UnknownResource(kind) => {
                MatchFailure::Undecided(Box::new(MissingDependency::resource_of(&kind)))
            }
            error => MatchFailure::Error(error),
        }
    }
}

impl<'s> RequestMatcher<'s> {
    /// Whether policies or webhooks of an origin may intercept the request.
    pub fn may_intercept(&self, interceptor: pratique_exclusion::Interceptor, origin: Origin) -> bool {
        intercepts(interceptor, origin, self.target.resource, self.target.kind)
    }

    /// The positions in an index of the constraints that may match the request.
    pub fn candidates(&self, index: &MatchIndex) -> Vec<u32> {
        index.candidates(&self.target, self.equivalents)
    }

    /// Matches the request with constraints: the resource and kind as which it matches, or `None`.
    ///
    /// # Errors
    /// It is not known whether the request matches.
    #[inline]
    pub fn matches(&self, constraints: &MatchResources) -> Result<Option<MatchedResource<'s>>, MatchFailure> {
        let matched = constraints.matches(&self.target, self.equivalents, self.namespaces);
        matched.map_err(MatchFailure::from)
    }

    /// Why the request does not match constraints.
    pub fn mismatch(&self, constraints: &MatchResources) -> Option<Mismatch> {
        constraints.mismatch(&self.target, self.equivalents, self.namespaces)
    }
}
