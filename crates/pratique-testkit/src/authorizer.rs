//! An authorizer that decides nothing.

use pratique_cel::library::authz::{Answer, Authorizer, AuthorizerDecision, Check};

/// Has no opinion on any check, so that none is allowed, like an API server for users without permissions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOpinion;

impl Authorizer for NoOpinion {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Decided(AuthorizerDecision::default())
    }
}
