//! The webhooks of the chain.

use pratique_json::Value;
use pratique_policy::{DenialCause, HeldMemory, OutOfMemory};
use pratique_types::{ObjectForm, Reason, Status};
use pratique_webhook::transport::Budget;
use pratique_webhook::{
    Caller, MutatedRequest, Reinvocation, ValidationOutcome, WebhookContext, mutate, validate,
};

use super::ChainRun;
use super::end::ChainEnd;
use crate::observer::ChainObserver;
use crate::webhooks::{DecidedChecks, WebhookLogging};

impl<'r> ChainRun<'r> {
    fn pending_checks(&self) -> DecidedChecks<'r> {
        DecidedChecks {
            answers: self.answers.clone(),
            decider: self.context.decider,
        }
    }

    fn webhook_context<'a>(&'a self, checks: &'a DecidedChecks<'_>) -> WebhookContext<'a> {
        WebhookContext::from(self.eval_context())
            .with_pending(checks)
            .with_static_order(self.admission.settings.static_order)
            .with_services(self.admission.webhooks.callers.services())
            .excluding_virtual(self.admission.settings.feature_gates.excludes_virtual_resources())
    }

    /// The caller with the time budget of this request, if there is one.
    fn with_budget<'a>(&self, caller: &'a dyn Caller) -> Option<Budget<'a>> {
        let whole = self.admission.webhooks.callers.guards.budget?;
        Some(Budget::begun(caller, whole, self.began))
    }

    /// Reserves memory for the results of webhooks until the request is answered. The object exists up to three times:
    /// as it is, in the form of its kind for later policies, and as a patch in the answer.
    fn hold(&mut self, object: Option<&Value<'_>>, status: Option<&Status>) -> Result<(), ChainEnd> {
        const COPIES: usize = 3;
        let object = object.map_or(0, Value::owned_bytes);
        let status = status.map_or(0, |status| status.message.len());
        let bytes = object.saturating_add(status).saturating_mul(COPIES);
        if bytes == 0 {
            return Ok(());
        }
        let limit = &self.context.limits.memory;
        let reserved = self.reserved.get_or_insert_with(|| HeldMemory::new(limit));
        reserved
            .grow(bytes.saturating_sub(reserved.bytes()))
            .map_err(|error| {
                let reason = match error {
                    OutOfMemory::Limit => Reason::RequestEntityTooLarge,
                    OutOfMemory::Budget => Reason::TooManyRequests,
                };
                Status::failure(reason, format!("calling webhooks: {error}")).into()
            })
    }

    /// Calls the mutating webhooks of one round.
    pub(super) async fn mutating_webhooks(
        &mut self,
        turns: &mut Reinvocation,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        let Some((sets, caller)) = self.admission.webhooks.mutating() else {
            return Ok(());
        };
        self.in_time()?;
        let budget = self.with_budget(caller);
        let caller = budget.as_ref().map_or(caller, |budget| budget as &dyn Caller);
        let checks = self.pending_checks();
        let mutated = {
            let (attributes, context) = (self.attributes(), self.webhook_context(&checks));
            let mut logging = WebhookLogging(observer.webhooks());
            mutate(&sets, attributes, &context, turns, caller, &mut logging).await
        };
        let MutatedRequest {
            object,
            status,
            cause,
            undecided,
            warnings,
            audit_annotations,
            patch_annotations,
        } = mutated.map_err(|unfinished| self.stopped(unfinished))?;
        self.hold(object.as_ref(), status.as_deref())?;
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        self.outcome.patch_annotations.extend(patch_annotations);
        if let Some(object) = object {
            self.changed(object, ObjectForm::Written);
        }
        match (status, undecided) {
            (Some(status), _) => Err(ChainEnd::Refused(status, cause.unwrap_or(DenialCause::Failure))),
            (None, Some(undecided)) => Err(ChainEnd::Undecided(undecided)),
            (None, None) => Ok(()),
        }
    }

    pub(super) async fn validating_webhooks(
        &mut self,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        let Some((sets, caller)) = self.admission.webhooks.validating() else {
            return Ok(());
        };
        self.in_time()?;
        let budget = self.with_budget(caller);
        let caller = budget.as_ref().map_or(caller, |budget| budget as &dyn Caller);
        let checks = self.pending_checks();
        let outcome = {
            let (attributes, context) = (self.attributes(), self.webhook_context(&checks));
            let mut logging = WebhookLogging(observer.webhooks());
            validate(&sets, attributes, &context, caller, &mut logging).await
        };
        let ValidationOutcome {
            status,
            cause,
            undecided,
            warnings,
            audit_annotations,
        } = outcome.map_err(|unfinished| self.stopped(unfinished))?;
        self.hold(None, status.as_deref())?;
        self.outcome.undecided.extend(undecided);
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        let cause = cause.unwrap_or(DenialCause::Failure);
        status.map_or(Ok(()), |status| Err(ChainEnd::Refused(status, cause)))
    }
}
