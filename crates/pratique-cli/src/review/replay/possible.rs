//! Requests of which the object is not known: whether a policy may match them.

use std::cell::Cell;
use std::sync::Arc;

use pratique::EvalContext;
use pratique::policy::{MatchOutcome, Subject, Trace};
use pratique_match::Mismatch;
use pratique_types::AdmissionRequest;

use super::engine::Engine;
use crate::review::record::Decision;

/// Records whether a policy may match, whatever the object is.
#[derive(Default)]
struct Possible(Cell<bool>);

impl Trace for Possible {
    fn policy(&self, _: Subject<'_>, outcome: MatchOutcome<'_>) {
        let is_certain = matches!(
            outcome,
            MatchOutcome::Excluded
                | MatchOutcome::Mismatch(
                    Mismatch::Rules(_) | Mismatch::Excluded | Mismatch::NamespaceSelector
                )
        );
        self.0.set(self.0.get() || !is_certain);
    }

    fn wants_values(&self) -> bool {
        false
    }
}

/// The decision on a request whose object is not known: it is allowed where no policy can match it.
pub(in crate::review) fn without_object(engine: &Engine, request: &AdmissionRequest<'_>) -> Decision {
    match may_match(engine, request) {
        true => Decision::Undecided,
        false => Decision::Allowed,
    }
}

/// Whether a policy may match a request whose object is not known. Rules and namespaces do not depend on the object.
fn may_match(engine: &Engine, request: &AdmissionRequest<'_>) -> bool {
    let possible = Possible::default();
    let cluster = &engine.cluster;
    let context =
        EvalContext::new(&cluster.state.objects, Arc::clone(&cluster.authorizer)).with_trace(&possible);
    // What is decided without the object does not matter; where there is no decision yet, a policy matches.
    let ended = engine
        .policies
        .admission
        .admit_policies(request, context, &mut ());
    ended.is_err() || possible.0.get()
}
