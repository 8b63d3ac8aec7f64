//! Validating webhooks: called concurrently.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pratique_core::{AdmissionPhase, Attributes, DenialCause, MissingDependency, UndecidedDecision};
use pratique_match::MatchedResource;
use pratique_types::status::internal_error;
use pratique_types::{GroupVersionKind, GroupVersionResource, Status};

use crate::call::{CallExchange, CallFailure};
use crate::caller::Caller;
use crate::configurations::ValidatingWebhooks;
use crate::context::WebhookContext;
use crate::memory::CallMemory;
use crate::observer::WebhookObserver;
use crate::outcome::{DispatchEnd, UnfinishedEvaluation, ValidationOutcome};
use crate::review::{ReviewSubject, SharedReview};
use crate::run::{AnswerRecords, PhaseRun};
use crate::statuses::{out_of_memory, timeout};
use crate::version::{ObjectRef, VersionedObjects};
use crate::webhook::{CompiledWebhook, ReviewVersion};

/// Sends a request to sets of validating webhooks concurrently, and waits for all of them. Of several that refuse it, the
/// first to answer counts. None is called if the match of one is undecided.
///
/// # Errors
/// The evaluation of match conditions was not finished.
// Upstream: pkg/admission/plugin/webhook/validating/dispatcher.go, Dispatch
pub async fn validate<'s>(
    sets: &[&ValidatingWebhooks],
    attributes: impl Into<Attributes<'s>>,
    context: &WebhookContext<'s>,
    caller: &dyn Caller,
    observer: &mut dyn WebhookObserver,
) -> Result<ValidationOutcome, UnfinishedEvaluation> {
    let run = PhaseRun::new(AdmissionPhase::Validating, attributes.into(), context);
    let mut fanout = WebhookFanout {
        versions: Vec::new(),
        reviews: Vec::new(),
        calls: Vec::new(),
        memory: run.memory.part(),
        run,
    };
    let prepared = fanout.prepare(sets, observer).await;
    let mut outcome = match prepared {
        Ok(()) if fanout.calls.is_empty() => ValidationOutcome::default(),
        Ok(()) if context.deadline_passed() => refused(Box::new(timeout()), DenialCause::Failure),
        Ok(()) => fanout.call(caller, observer).await,
        Err(DispatchEnd::Unfinished(unfinished)) => return Err(unfinished),
        Err(DispatchEnd::Refused(status, cause)) => refused(status, cause),
        Err(DispatchEnd::Undecided(undecided)) => ValidationOutcome {
            undecided: vec![*undecided],
            ..ValidationOutcome::default()
        },
    };
    outcome.undecided.append(&mut fanout.run.undecided);
    Ok(outcome)
}

fn refused(status: Box<Status>, cause: DenialCause) -> ValidationOutcome {
    ValidationOutcome {
        status: Some(status),
        cause: Some(cause),
        ..ValidationOutcome::default()
    }
}

/// The calls of the validating webhooks for a request.
struct WebhookFanout<'j, 's> {
    run: PhaseRun<'j, 's>,
    /// The objects in each kind that the rules of webhooks name.
    versions: Vec<VersionedObjects<'s>>,
    /// The different reviews, by their keys.
    reviews: Vec<(ReviewKey, SharedReview)>,
    calls: Vec<PreparedCall<'j>>,
    /// The memory of the objects and reviews.
    memory: CallMemory,
}

/// A webhook to be called.
struct PreparedCall<'j> {
    webhook: &'j CompiledWebhook,
    /// The position of its review; `None` where it accepts no known version.
    review: Option<usize>,
}

/// The key by which the reviews of a request differ.
#[derive(PartialEq)]
struct ReviewKey {
    version: ReviewVersion,
    kind: GroupVersionKind,
    resource: GroupVersionResource,
}

impl<'j, 's> WebhookFanout<'j, 's> {
    /// Prepares the calls of the webhooks that match the request.
    async fn prepare(
        &mut self,
        sets: &[&'j ValidatingWebhooks],
        observer: &mut dyn WebhookObserver,
    ) -> Result<(), DispatchEnd> {
        for set in sets {
            for (_, webhook) in self.run.candidates(&set.webhooks) {
                let object = self.run.attributes.object;
                let Some(matched) = self.run.matches(webhook, object, observer)? else {
                    continue;
                };
                let version = self.version(matched.kind, webhook)?;
                let Some(objects) = self.versions.get(version) else {
                    continue;
                };
                if !webhook.conditions.is_empty()
                    && !self.run.conditions_hold(webhook, objects, observer).await?
                {
                    continue;
                }
                if !self.run.can_be_sent(webhook, observer)? {
                    continue;
                }
                let review = match webhook.version {
                    Some(review_version) => Some(self.review(review_version, matched, version, webhook)?),
                    None => None,
                };
                self.calls.push(PreparedCall { webhook, review });
            }
        }
        Ok(())
    }

    /// Counts memory that was taken for a webhook.
    fn hold(&self, webhook: &CompiledWebhook, bytes: usize) -> Result<(), DispatchEnd> {
        let memory = self.memory.hold(bytes);
        memory.map_err(|error| out_of_memory(&webhook.name, error).into())
    }

    /// The position of the objects in a kind.
    fn version(&mut self, kind: &GroupVersionKind, webhook: &CompiledWebhook) -> Result<usize, DispatchEnd> {
        if let Some(position) = self.versions.iter().position(|version| version.kind == *kind) {
            return Ok(position);
        }
        let progress = self.run.context.progress();
        let convert = |object| {
            let object = ObjectRef::Given(object);
            let converted = self.run.converter.to_version(&object, kind, &progress);
            converted.map_err(|error| DispatchEnd::from(error.into_status(internal_error)))
        };
        let version = VersionedObjects {
            kind: kind.clone(),
            old_object: convert(&self.run.attributes.request.old_object)?,
            object: convert(self.run.attributes.object)?,
        };
        let made = version.made_bytes();
        self.versions.push(version);
        self.hold(webhook, made)?;
        Ok(self.versions.len() - 1)
    }

    /// The position of a review.
    fn review(
        &mut self,
        review_version: ReviewVersion,
        matched: MatchedResource<'_>,
        version: usize,
        webhook: &CompiledWebhook,
    ) -> Result<usize, DispatchEnd> {
        let key = ReviewKey {
            version: review_version,
            kind: matched.kind.clone(),
            resource: matched.resource.clone(),
        };
        if let Some(position) = self.reviews.iter().position(|(known, _)| *known == key) {
            return Ok(position);
        }
        let null = pratique_json::Value::Null;
        let version = self.versions.get(version);
        let subject = ReviewSubject {
            request: self.run.attributes.request,
            name: self.run.name,
            matched,
            object: version.map_or(&null, |version| version.object.get()),
            old_object: version.map_or(&null, |version| version.old_object.get()),
        };
        let review = SharedReview::new(review_version, &subject);
        self.hold(webhook, review.len(""))?;
        self.reviews.push((key, review));
        Ok(self.reviews.len() - 1)
    }

    /// Makes all calls, and collects the answers as they arrive.
    async fn call(&self, caller: &dyn Caller, observer: &mut dyn WebhookObserver) -> ValidationOutcome {
        let calls = self.calls.iter().enumerate().map(async |(index, call)| {
            let review = call.review.and_then(|position| self.reviews.get(position));
            let review = review.map(|(_, review)| review);
            let ended = self.run.call(call.webhook, review, caller).await;
            (index, call.webhook, ended)
        });
        let mut calls: FuturesUnordered<_> = calls.collect();
        let mut answers = AnswersSoFar::default();
        while let Some((index, webhook, (exchange, answer))) = calls.next().await {
            let result = answer.and_then(|mut answer| answers.records.accept(webhook, &mut answer));
            self.run.report(observer, webhook, &exchange, &result);
            match result {
                Ok(()) => {}
                Err(CallFailure::Unknown) => {
                    let undecided =
                        self.run
                            .undecided_by(webhook, MissingDependency::WebhookAnswer, observer);
                    answers.unknown(undecided, &exchange);
                }
                Err(failure) => answers.fail(index, webhook, failure, &exchange),
            }
        }
        let (status, cause) = answers.refusal.unzip();
        let (audit_annotations, _) = answers.records.annotations.into_maps();
        ValidationOutcome {
            status,
            cause,
            undecided: answers.undecided,
            warnings: answers.records.warnings,
            audit_annotations,
        }
    }
}

/// The answers so far.
#[derive(Default)]
struct AnswersSoFar {
    refusal: Option<(Box<Status>, DenialCause)>,
    /// The memory of the status.
    memory: Option<Arc<CallMemory>>,
    records: AnswerRecords,
    /// The webhooks whose answers are unknown.
    undecided: Vec<UndecidedDecision>,
}

impl AnswersSoFar {
    /// Records an unknown answer, as undecided, as ignored or as a refusal.
    fn unknown(
        &mut self,
        undecided: Result<Option<UndecidedDecision>, Box<Status>>,
        exchange: &CallExchange,
    ) {
        match undecided {
            Ok(undecided) => self.undecided.extend(undecided),
            Err(status) if self.refusal.is_none() => {
                self.refusal = Some((status, DenialCause::Failure));
                self.memory = Some(exchange.memory.clone());
            }
            Err(_) => {}
        }
    }

    fn fail(
        &mut self,
        index: usize,
        webhook: &CompiledWebhook,
        failure: CallFailure,
        exchange: &CallExchange,
    ) {
        if failure.is_ignored(webhook) {
            self.records.annotations.validating_failed_open(index, webhook);
        } else if self.refusal.is_none() {
            self.refusal = Some(failure.into_refusal(webhook));
            self.memory = Some(exchange.memory.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests are handled on any thread.
    #[allow(dead_code, reason = "compiling is the test")]
    fn futures_are_send(
        sets: &[&ValidatingWebhooks],
        attributes: Attributes<'_>,
        context: &WebhookContext<'_>,
        caller: &dyn Caller,
    ) {
        fn check<T: Send>(_: T) {}
        check(validate(sets, attributes, context, caller, &mut ()));
        check(crate::mutate(
            &[],
            attributes,
            context,
            &mut crate::Reinvocation::default(),
            caller,
            &mut (),
        ));
    }
}
