//! The steps that mutating and validating webhooks share: matching, match conditions, calls, and records of the
//! answers.

use pratique_core::{
    AdmissionPhase, Attributes, ConditionError, MatchFailure, MissingDependency, OnUndecided, RequestMatcher,
    UndecidedDecision,
};
use pratique_json::Value;
use pratique_match::{MatchedResource, Target};
use pratique_types::Status;
use tokio::time::Instant;

use crate::annotations::PhaseAnnotations;
use crate::answer::VerifiedAnswer;
use crate::call::{CallExchange, CallFailure, call_webhook};
use crate::caller::Caller;
use crate::conditions::{self, ConditionInputs};
use crate::configurations::WebhookSet;
use crate::context::WebhookContext;
use crate::memory::PhaseMemory;
use crate::observer::{Conditions, WebhookObserver};
use crate::outcome::{DispatchEnd, UnfinishedEvaluation};
use crate::review::SharedReview;
use crate::statuses::{denied, forbidden, unmatchable};
use crate::version::{VersionConverter, VersionedObjects};
use crate::webhook::CompiledWebhook;

/// One phase of webhooks for a request.
pub(crate) struct PhaseRun<'r, 's> {
    pub(crate) phase: AdmissionPhase,
    pub(crate) attributes: Attributes<'s>,
    /// The name of the object, as far as it is known.
    pub(crate) name: &'s str,
    pub(crate) context: &'r WebhookContext<'s>,
    pub(crate) converter: VersionConverter<'s>,
    pub(crate) memory: PhaseMemory,
    /// The validating webhooks whose match is undecided.
    pub(crate) undecided: Vec<UndecidedDecision>,
}

/// The warnings and audit annotations from the answers of webhooks.
#[derive(Default)]
pub(crate) struct AnswerRecords {
    pub(crate) annotations: PhaseAnnotations,
    pub(crate) warnings: Vec<String>,
}

impl<'r, 's> PhaseRun<'r, 's> {
    pub(crate) fn new(
        phase: AdmissionPhase,
        attributes: Attributes<'s>,
        context: &'r WebhookContext<'s>,
    ) -> Self {
        let request = attributes.request;
        let served = context.equivalents.list(&request.resource, &request.sub_resource);
        let served = served.iter().map(|equivalent| &equivalent.kind);
        PhaseRun {
            phase,
            attributes,
            // Only in validation the object has a generated name.
            name: match phase {
                AdmissionPhase::Mutating => &request.name,
                AdmissionPhase::Validating => attributes.object_name(),
            },
            context,
            converter: VersionConverter::new(
                context.types_objects.then_some(context.release),
                std::iter::once(&request.kind).chain(served),
            ),
            memory: PhaseMemory::new(&context.memory),
            undecided: Vec::new(),
        }
    }

    /// Matches the request with this object.
    fn matcher<'o>(&self, object: &'o Value<'o>) -> RequestMatcher<'o>
    where
        's: 'o,
    {
        RequestMatcher {
            target: Target {
                name: self.name,
                object,
                types_objects: self.context.types_objects,
                ..Target::new(self.attributes.request)
            },
            equivalents: self.context.equivalents,
            namespaces: self.context.namespaces,
        }
    }

    /// The webhooks of an origin that may match the request, with their positions among all of the origin; none where the
    /// origin may not intercept it.
    // Upstream: pkg/admission/plugin/webhook/generic/webhook.go, Dispatch
    pub(crate) fn candidates<'h>(&self, webhooks: &'h WebhookSet) -> Vec<(usize, &'h CompiledWebhook)> {
        let interceptor = pratique_exclusion::Interceptor::Webhook {
            excludes_virtual: self.context.excludes_virtual,
        };
        let matcher = self.matcher(self.attributes.object);
        if webhooks.all.is_empty() || !matcher.may_intercept(interceptor, webhooks.origin) {
            return Vec::new();
        }
        let positions = matcher.candidates(&webhooks.index).into_iter();
        let indexes = positions.map(|position| position as usize);
        indexes
            .filter_map(|position| Some((position, &**webhooks.all.get(position)?)))
            .collect()
    }

    /// Matches the request, with this object, with a webhook; `None` where the webhook is not called.
    // Upstream: pkg/admission/plugin/webhook/generic/webhook.go, ShouldCallHook
    pub(crate) fn matches<'o>(
        &mut self,
        webhook: &CompiledWebhook,
        object: &'o Value<'o>,
        observer: &mut dyn WebhookObserver,
    ) -> Result<Option<MatchedResource<'o>>, DispatchEnd>
    where
        's: 'o,
    {
        match self.matcher(object).matches(&webhook.constraints) {
            Ok(matched) => Ok(matched),
            Err(MatchFailure::Error(error)) => Err(unmatchable(&error).into()),
            Err(MatchFailure::Undecided(missing)) => {
                self.handle_undecided(webhook, *missing, observer)?;
                Ok(None)
            }
        }
    }

    /// Whether the match conditions of a webhook hold.
    pub(crate) async fn conditions_hold(
        &mut self,
        webhook: &CompiledWebhook,
        objects: &VersionedObjects<'_>,
        observer: &mut dyn WebhookObserver,
    ) -> Result<bool, DispatchEnd> {
        let began = Instant::now();
        let inputs = ConditionInputs {
            attributes: self.attributes,
            name: self.name,
            objects,
            typed: self.converter.is_typed(&objects.kind),
        };
        let outcome = loop {
            match conditions::evaluate(webhook, &inputs, self.context) {
                Ok(outcome) => break outcome,
                Err(UnfinishedEvaluation::Pending) => self.context.answer_pending().await?,
                Err(unfinished) => return Err(unfinished.into()),
            }
        };
        let request = self.attributes.request;
        observer.conditions(&Conditions {
            webhook: &webhook.name,
            configuration: &webhook.configuration,
            phase: self.phase,
            operation: request.operation,
            duration: began.elapsed(),
            errors: outcome.errors,
            excluded: outcome.matches == Ok(false),
            failure: outcome.failure(),
            ignored: outcome.ignored.as_deref(),
        });
        match outcome.matches {
            Ok(matches) => Ok(matches),
            Err(ConditionError::Failed(error)) => Err(forbidden(&request.resource, self.name, &error).into()),
            Err(ConditionError::Undecided(missing)) => {
                self.handle_undecided(webhook, *missing, observer)?;
                Ok(false)
            }
        }
    }

    /// Whether a webhook that matches can be called: it is sent the whole request, on any part of which its answer may depend.
    pub(crate) fn can_be_sent(
        &mut self,
        webhook: &CompiledWebhook,
        observer: &mut dyn WebhookObserver,
    ) -> Result<bool, DispatchEnd> {
        let request = self.attributes.request;
        let missing = if request.lacks_old_object {
            let path = "oldObject".to_owned();
            MissingDependency::OldObject { path }
        } else if request.assumes_resource {
            MissingDependency::resource_of(&request.kind)
        } else if request.lacks_details {
            let path = "request.userInfo.groups".to_owned();
            MissingDependency::RequestDetail { path }
        } else {
            return Ok(true);
        };
        self.handle_undecided(webhook, missing, observer)?;
        Ok(false)
    }

    /// Handles a webhook whose match is undecided: it ends a mutation, while other validating webhooks may still refuse
    /// the request.
    fn handle_undecided(
        &mut self,
        webhook: &CompiledWebhook,
        missing: MissingDependency,
        observer: &mut dyn WebhookObserver,
    ) -> Result<(), DispatchEnd> {
        let undecided = self.undecided_by(webhook, missing, observer);
        let undecided = undecided.map_err(|status| DispatchEnd::from(*status))?;
        match (undecided, self.phase) {
            (None, _) => Ok(()),
            (Some(undecided), AdmissionPhase::Mutating) => Err(DispatchEnd::Undecided(Box::new(undecided))),
            (Some(undecided), AdmissionPhase::Validating) => {
                self.undecided.push(undecided);
                Ok(())
            }
        }
    }

    /// Handles a mutating webhook whose answer is unknown, and with it those of all webhooks after it.
    pub(crate) fn unknown_answer(
        &mut self,
        webhook: &CompiledWebhook,
        observer: &mut dyn WebhookObserver,
    ) -> Result<(), DispatchEnd> {
        self.handle_undecided(webhook, MissingDependency::WebhookAnswer, observer)
    }

    /// A webhook that lacks something, as undecided; `None` where its failure policy ignores that.
    ///
    /// # Errors
    /// Its failure policy refuses the request.
    pub(crate) fn undecided_by(
        &self,
        webhook: &CompiledWebhook,
        missing: MissingDependency,
        observer: &mut dyn WebhookObserver,
    ) -> Result<Option<UndecidedDecision>, Box<Status>> {
        let undecided = UndecidedDecision {
            plugin: self.phase.webhook_plugin().into(),
            name: webhook.name.to_string(),
            binding: None,
            missing,
        };
        observer.undecided(&undecided);
        match self.context.on_undecided {
            OnUndecided::Report => Ok(Some(undecided)),
            OnUndecided::FailurePolicy if webhook.failure_policy.ignores() => Ok(None),
            OnUndecided::FailurePolicy => {
                let resource = &self.attributes.request.resource;
                let status = forbidden(resource, self.name, &undecided.to_string());
                Err(Box::new(status))
            }
        }
    }

    /// Calls a webhook. There is no review for a webhook that accepts no known version.
    pub(crate) async fn call(
        &self,
        webhook: &CompiledWebhook,
        review: Option<&SharedReview>,
        caller: &dyn Caller,
    ) -> (CallExchange, Result<VerifiedAnswer, CallFailure>) {
        let dry_run = self.attributes.request.dry_run.unwrap_or_default();
        let within = (self.context, &self.memory);
        call_webhook(webhook, (self.phase, dry_run), review, caller, within).await
    }

    /// Reports a call to an observer; a webhook that was not called is not reported.
    pub(crate) fn report<T>(
        &self,
        observer: &mut dyn WebhookObserver,
        webhook: &CompiledWebhook,
        exchange: &CallExchange,
        result: &Result<T, CallFailure>,
    ) {
        let failure = result.as_ref().err();
        if matches!(failure, Some(CallFailure::Unknown)) {
            return;
        }
        let operation = self.attributes.request.operation;
        exchange.report(observer, (webhook, self.phase), operation, failure);
    }
}

impl AnswerRecords {
    /// Records an answer; the failure is that the webhook denies the request.
    pub(crate) fn accept(
        &mut self,
        webhook: &CompiledWebhook,
        answer: &mut VerifiedAnswer,
    ) -> Result<(), CallFailure> {
        self.annotations
            .of_webhook(&webhook.name, &answer.audit_annotations);
        self.warnings.append(&mut answer.warnings);
        if answer.allowed {
            Ok(())
        } else {
            let status = denied(&webhook.name, answer.result.take());
            Err(CallFailure::Denied(Box::new(status)))
        }
    }
}
