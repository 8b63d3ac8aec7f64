//! Requests of which the object is not known: whether a policy may match them.

use std::sync::Arc;

use pratique_replay::UnknownRequest;
use pratique_report::Decision;
use pratique_review::Reviewer;
use pratique_types::{AdmissionRequest, Operation};

use super::engine::ReplayEngine;

/// The decision on a request whose object is not known, and why that is so: it is allowed where no policy can match it.
pub(crate) fn without_object(
    engine: &ReplayEngine,
    (request, why): (&AdmissionRequest<'_>, UnknownRequest),
) -> Decision {
    let authorizer = Arc::clone(&engine.cluster.authorizer);
    let reviewer = Reviewer::policies(&engine.policies.admission, authorizer);
    let mut operations = possible_operations(why, request.operation).into_iter();
    let objects = &engine.cluster.state.view.objects;
    let may_match = operations.any(|operation| {
        if operation == request.operation {
            return reviewer.may_match(objects, request);
        }
        let possible = AdmissionRequest {
            operation,
            ..request.clone()
        };
        reviewer.may_match(objects, &possible)
    });
    if may_match {
        Decision::Undecided
    } else {
        Decision::Allowed
    }
}

/// The operations that a request may have been.
fn possible_operations(why: UnknownRequest, operation: Operation) -> Vec<Operation> {
    use Operation::{Connect, Create, Delete, Update};
    match (why, operation) {
        (UnknownRequest::Verb, _) => vec![Create, Update, Delete, Connect],
        // Without details, nothing says whether a patch created its object.
        (UnknownRequest::Details, Update) => vec![Create, Update],
        (_, operation) => vec![operation],
    }
}
