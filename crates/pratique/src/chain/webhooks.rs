//! Webhooks in the chain.

use pratique_json::Value;
use pratique_policy::{DenialCause, HeldMemory, OutOfMemory, Unfinished};
use pratique_types::{Reason, Status};
use pratique_webhook::transport::Budget;
use pratique_webhook::{Caller, Mutated, Reinvocation, Surroundings, Unanswered, Verdict, mutate, validate};

use super::{ChainRun, End};
use crate::hooks::{Asking, Logging};
use crate::observer::ChainObserver;

impl<'r> ChainRun<'r> {
    fn asking(&self) -> Asking<'r> {
        Asking {
            answers: self.answers.clone(),
            decider: self.context.decider,
        }
    }

    fn calling<'a>(&'a self, asking: &'a Asking<'_>) -> Surroundings<'a> {
        let cluster = self.context.cluster;
        let surroundings = Surroundings::new(cluster.equivalents(), cluster, self.answers.clone())
            .with_pending(asking)
            .on_undecided(self.admission.on_undecided)
            .with_services(self.admission.hooks.callers.services())
            .excluding_virtual(self.admission.feature_gates.excludes_virtual_resources);
        surroundings
            .with_interrupt(self.interrupt())
            .with_memory(&self.context.limits.memory)
    }

    /// The end of a request for which webhooks could not be asked.
    fn unanswered(&self, unanswered: Unanswered) -> End {
        self.stopped(match unanswered {
            Unanswered::Pending => Unfinished::Pending,
            Unanswered::Interrupted => Unfinished::Interrupted,
            Unanswered::MemoryLimit => Unfinished::MemoryLimit,
            Unanswered::MemoryBudget => Unfinished::MemoryBudget,
        })
    }

    /// The caller for this request, which may have to hurry.
    fn with_budget<'a>(&self, caller: &'a dyn Caller) -> Option<Budget<'a>> {
        let whole = self.admission.hooks.callers.guards.budget?;
        Some(Budget::begun(caller, whole, self.began))
    }

    /// Counts what webhooks made of the request: it stays until that is answered. The policies that come after see an object
    /// in the form of its kind, and an answer has it as a patch.
    fn hold(&mut self, object: Option<&Value<'_>>, status: Option<&Status>) -> Result<(), End> {
        const COPIES: usize = 3;
        let object = object.map_or(0, Value::owned_bytes);
        let status = status.map_or(0, |status| status.message.len());
        let bytes = object.saturating_add(status).saturating_mul(COPIES);
        if bytes == 0 {
            return Ok(());
        }
        let limit = &self.context.limits.memory;
        let held = self.held.get_or_insert_with(|| HeldMemory::new(limit));
        held.grow(bytes.saturating_sub(held.bytes())).map_err(|error| {
            let reason = match error {
                OutOfMemory::Limit => Reason::RequestEntityTooLarge,
                OutOfMemory::Budget => Reason::TooManyRequests,
            };
            Status::failure(reason, format!("calling webhooks: {error}")).into()
        })
    }

    /// One turn of the mutating webhooks.
    pub(super) async fn mutating_webhooks(
        &mut self,
        turns: &mut Reinvocation,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), End> {
        let Some((sets, caller)) = self.admission.hooks.mutating() else {
            return Ok(());
        };
        self.in_time()?;
        let budget = self.with_budget(caller);
        let caller = budget.as_ref().map_or(caller, |budget| budget as &dyn Caller);
        let asking = self.asking();
        let (mutated, cause) = {
            let (attributes, surroundings) = (self.attributes(), self.calling(&asking));
            let attributes = pratique_webhook::Attributes {
                request: attributes.request,
                object: attributes.object,
            };
            let mut logging = Logging::new(observer.webhooks());
            let mutated = mutate(&sets, attributes, &surroundings, turns, caller, &mut logging).await;
            (mutated, logging.cause)
        };
        let Mutated {
            object,
            status,
            undecided,
            warnings,
            audit_annotations,
            patch_annotations,
        } = mutated.map_err(|unanswered| self.unanswered(unanswered))?;
        self.hold(object.as_ref(), status.as_deref())?;
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        self.outcome.patch_annotations.extend(patch_annotations);
        if let Some(object) = object {
            self.changed(object, false);
        }
        match (status, undecided) {
            (Some(status), _) => Err(End::Refused(status, cause.unwrap_or(DenialCause::Failure))),
            (None, Some(undecided)) => Err(End::Undecided(undecided)),
            (None, None) => Ok(()),
        }
    }

    pub(super) async fn validating_webhooks(&mut self, observer: &mut dyn ChainObserver) -> Result<(), End> {
        let Some((sets, caller)) = self.admission.hooks.validating() else {
            return Ok(());
        };
        self.in_time()?;
        let budget = self.with_budget(caller);
        let caller = budget.as_ref().map_or(caller, |budget| budget as &dyn Caller);
        let asking = self.asking();
        let (verdict, cause) = {
            let (attributes, surroundings) = (self.attributes(), self.calling(&asking));
            let attributes = pratique_webhook::Attributes {
                request: attributes.request,
                object: attributes.object,
            };
            let mut logging = Logging::new(observer.webhooks());
            let verdict = validate(&sets, attributes, &surroundings, caller, &mut logging).await;
            (verdict, logging.cause)
        };
        let Verdict {
            status,
            undecided,
            warnings,
            audit_annotations,
        } = verdict.map_err(|unanswered| self.unanswered(unanswered))?;
        self.hold(None, status.as_deref())?;
        self.outcome.undecided.extend(undecided);
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        let cause = cause.unwrap_or(DenialCause::Failure);
        status.map_or(Ok(()), |status| Err(End::Refused(status, cause)))
    }
}
