//! Requests of which the object is not known: whether a policy may match them.

use std::cell::Cell;
use std::sync::Arc;

use pratique::EvalContext;
use pratique::policy::{MatchOutcome, Subject, Trace};
use pratique_match::Mismatch;
use pratique_types::AdmissionRequest;

use super::engine::Engine;

/// Notes whether a policy may match, whatever the object is.
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

/// Whether a policy may match a request whose object is not known. Rules and namespaces do not depend on the object.
pub(in crate::review) fn may_match(engine: &Engine, request: &AdmissionRequest<'_>) -> bool {
    let possible = Possible::default();
    let known = &engine.known;
    let context = EvalContext::new(&known.state.objects, Arc::clone(&known.authorizer)).with_trace(&possible);
    // What is decided without the object does not matter; where there is no decision yet, a policy matches.
    let ended = engine
        .policies
        .admission
        .admit_policies(request, context, &mut ());
    ended.is_err() || possible.0.get()
}
