//! Requests of which the object is not known: whether a policy may match them.

use std::sync::Arc;

use pratique_review::Reviewer;
use pratique_types::AdmissionRequest;

use super::engine::Engine;
use crate::evaluation::decision::Decision;

/// The decision on a request whose object is not known: it is allowed where no policy can match it.
pub(crate) fn without_object(engine: &Engine, request: &AdmissionRequest<'_>) -> Decision {
    let authorizer = Arc::clone(&engine.cluster.authorizer);
    let reviewer = Reviewer::policies(&engine.policies.admission, authorizer);
    if reviewer.may_match(&engine.cluster.state.objects, request) {
        Decision::Undecided
    } else {
        Decision::Allowed
    }
}
