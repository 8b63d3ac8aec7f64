//! Validating policies: their decisions on a request, and the effects of these.

mod actions;
mod policy;
mod run;

use pratique_core::{Attributes, DenialCause, EvalContext, UnfinishedEvaluation};

use crate::arena::RequestArena;
use crate::observer::PolicyObserver;
use crate::policies::Policies;
use crate::session::RequestSession;
use pratique_core::ValidationOutcome;
use run::{ValidatingEnd, ValidationRun};

/// Validates a request by sets of policies, in their order: static ones first.
///
/// All policies are evaluated, whatever the others decide; the user gets the first denial.
pub fn validate<'s>(
    sets: &[&Policies],
    attributes: impl Into<Attributes<'s>>,
    context: EvalContext<'s>,
    observer: &mut dyn PolicyObserver,
) -> Result<ValidationOutcome, UnfinishedEvaluation> {
    validate_attributes(sets, attributes.into(), context, observer)
}

fn validate_attributes(
    sets: &[&Policies],
    attributes: Attributes<'_>,
    context: EvalContext<'_>,
    observer: &mut dyn PolicyObserver,
) -> Result<ValidationOutcome, UnfinishedEvaluation> {
    let arena = RequestArena::with_limit(context.release, context.memory);
    let mut session = RequestSession::new(attributes, context, &arena);
    session.take_name_of_object();
    let mut run = ValidationRun::new(&session);
    let ended = sets.iter().try_for_each(|set| run.run(set));
    match ended {
        Err(ValidatingEnd::Unfinished(unfinished)) => return Err(unfinished),
        _ if run.is_pending() => return Err(UnfinishedEvaluation::Pending),
        _ => session.finished()?,
    }
    run.report(observer);
    match ended {
        Err(ValidatingEnd::Unfinished(unfinished)) => Err(unfinished),
        Err(ValidatingEnd::Status(status)) => Ok(run.take_outcome(Some((status, DenialCause::Failure)))),
        Ok(()) => {
            let denial = run.finish();
            Ok(run.take_outcome(denial))
        }
    }
}
