//! Whether policies match a request.

use std::cell::Cell;

use pratique::policy::{ExpressionId, MatchOutcome, PolicyTrace, TracedPolicy};
use pratique::{AdmissionRequest, EvalContext, Objects};
use pratique_match::Mismatch;

use crate::reviewer::Reviewer;

/// Records whether a policy matches: whether anything of one is evaluated besides what decides the match.
#[derive(Default)]
pub(crate) struct MatchRecorder(Cell<bool>);

impl MatchRecorder {
    /// Whether a policy matched.
    pub(crate) fn has_match(&self) -> bool {
        self.0.get()
    }
}

impl PolicyTrace for MatchRecorder {
    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        if !matches!(id, ExpressionId::Condition(_) | ExpressionId::Variable(_)) {
            self.0.set(true);
        }
    }

    fn wants_values(&self) -> bool {
        false
    }
}

/// Records whether a policy may match, whatever the object is. Rules and namespaces do not depend on the object.
#[derive(Default)]
struct PossibleMatch(Cell<bool>);

impl PolicyTrace for PossibleMatch {
    fn policy(&self, _: TracedPolicy<'_>, outcome: MatchOutcome<'_>) {
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

impl Reviewer<'_> {
    /// Whether a policy may match a request whose object is not known.
    pub fn may_match(&self, cluster: &Objects, request: &AdmissionRequest<'_>) -> bool {
        let possible = PossibleMatch::default();
        let context = EvalContext::new(cluster, self.authorizer()).with_trace(&possible);
        // What is decided without the object does not matter; where there is no decision yet, a policy matches.
        let ended = self.admission().admit_policies(request, context, &mut ());
        ended.is_err() || possible.0.get()
    }
}
