//! Mutating webhooks: called one after the other, each with the object as the webhooks before left it.

use std::sync::Arc;

use pratique_core::{AdmissionPhase, Attributes, ObjectMutator, Origin};
use pratique_json::Value;
use pratique_match::MatchedResource;
use pratique_types::configuration::StaticOrder;
use pratique_types::status::internal_error;
use pratique_types::{GroupVersionKind, GroupVersionResource};

use crate::annotations::CallPosition;
use crate::answer::VerifiedAnswer;
use crate::call::{CallExchange, CallFailure};
use crate::caller::Caller;
use crate::configurations::MutatingWebhooks;
use crate::context::WebhookContext;
use crate::memory::CallMemory;
use crate::object_error::ObjectError;
use crate::observer::WebhookObserver;
use crate::outcome::{DispatchEnd, MutatedRequest, UnfinishedEvaluation};
use crate::patching::{PatchTarget, patched};
use crate::reinvocation::Reinvocation;
use crate::review::{ReviewSubject, SharedReview};
use crate::run::{AnswerRecords, PhaseRun};
use crate::statuses::{out_of_memory, timeout, unknown};
use crate::version::{ObjectRef, VersionedObjects};
use crate::webhook::CompiledWebhook;

/// Sends a request to sets of mutating webhooks, in their order: static ones first. This is one round; `reinvocation`
/// has whether another one is due, after the round of all other mutating plugins.
///
/// # Errors
/// The evaluation of match conditions was not finished.
// Upstream: pkg/admission/plugin/webhook/mutating/dispatcher.go, Dispatch
pub async fn mutate<'s>(
    sets: &[&MutatingWebhooks],
    attributes: impl Into<Attributes<'s>>,
    context: &WebhookContext<'s>,
    reinvocation: &mut Reinvocation,
    caller: &dyn Caller,
    observer: &mut dyn WebhookObserver,
) -> Result<MutatedRequest, UnfinishedEvaluation> {
    let attributes = attributes.into();
    let run = PhaseRun::new(AdmissionPhase::Mutating, attributes, context);
    let mut mutation = MutationRun {
        requested: ObjectRef::Given(attributes.object),
        version: None,
        records: AnswerRecords::default(),
        patch_bytes: 0,
        memory: run.memory.part(),
        run,
    };
    reinvocation.begin(attributes.object);
    let ended = mutation.run(sets, reinvocation, caller, observer).await;
    let ended = ended.and_then(|()| mutation.finish());
    let mut outcome = MutatedRequest::default();
    match ended {
        Err(DispatchEnd::Unfinished(unfinished)) => return Err(unfinished),
        Err(DispatchEnd::Refused(status, cause)) => {
            (outcome.status, outcome.cause) = (Some(status), Some(cause));
        }
        Err(DispatchEnd::Undecided(undecided)) => outcome.undecided = Some(undecided),
        Ok(()) => {}
    }
    let changed = outcome.allowed() && mutation.changed();
    if changed {
        reinvocation.end(&mutation.requested)
    } else {
        // The object as it was submitted goes on, which need not have the form of its kind.
        reinvocation.end(&ObjectRef::Given(attributes.object))
    }
    // These objects may share memory with the one that goes on.
    drop(mutation.version);
    outcome.object = changed.then(|| Arc::unwrap_or_clone(mutation.requested.into_owned()));
    outcome.warnings = mutation.records.warnings;
    (outcome.audit_annotations, outcome.patch_annotations) = mutation.records.annotations.into_maps();
    Ok(outcome)
}

/// The mutation of a request.
struct MutationRun<'b, 's> {
    run: PhaseRun<'b, 's>,
    /// The object in the kind of the request.
    requested: ObjectRef<'s>,
    /// The objects in the kind that the rules of the last webhook name.
    version: Option<MutableVersion<'s>>,
    records: AnswerRecords,
    /// How many bytes the recorded patches have.
    patch_bytes: usize,
    /// The memory of the objects and of the recorded patches.
    memory: CallMemory,
}

/// The objects of the request in one kind, while webhooks change them.
// Upstream: pkg/admission/conversion.go, VersionedAttributes
struct MutableVersion<'s> {
    objects: VersionedObjects<'s>,
    /// The object as it was when it was converted to this kind.
    converted: ObjectRef<'s>,
    /// Whether the object changed since then.
    dirty: bool,
}

/// The resource and kind that a webhook matched.
struct OwnedMatch {
    resource: GroupVersionResource,
    kind: GroupVersionKind,
}

impl<'s> MutationRun<'_, 's> {
    async fn run(
        &mut self,
        sets: &[&MutatingWebhooks],
        reinvocation: &mut Reinvocation,
        caller: &dyn Caller,
        observer: &mut dyn WebhookObserver,
    ) -> Result<(), DispatchEnd> {
        for (index, set, webhook) in self.ordered(sets) {
            let Some(reinvocable) = &webhook.reinvocable else {
                continue;
            };
            let Some(matched) = self.matches(webhook, observer).await? else {
                continue;
            };
            let key = (set.webhooks.origin, reinvocable.uid.clone());
            if !reinvocation.runs(&key) {
                continue;
            }
            let position = CallPosition {
                round: u8::from(reinvocation.is_second()),
                index,
            };
            let result = self.invoke(webhook, &matched, position, caller, observer).await?;
            if matches!(result, Ok(true)) {
                reinvocation.changed();
            }
            if reinvocable.if_needed {
                reinvocation.remember(key);
            }
            match result {
                Ok(_) => {}
                Err(CallFailure::Unknown) => self.run.unknown_answer(webhook, observer)?,
                Err(failure) => self.fail(webhook, position, failure)?,
            }
        }
        Ok(())
    }

    /// The webhooks that may match, in the order in which they are called, each with its position among all.
    // Upstream: apiserver/pkg/admission/plugin/webhook/generic/composite_webhook_source.go, mergeAccessors
    fn ordered<'h>(
        &self,
        sets: &[&'h MutatingWebhooks],
    ) -> Vec<(usize, &'h MutatingWebhooks, &'h CompiledWebhook)> {
        let order = self.run.context.static_order;
        let mut sets = sets.to_vec();
        sets.sort_by_key(|set| order == StaticOrder::StaticLast && set.webhooks.origin == Origin::Static);
        let (mut ordered, mut offset) = (Vec::new(), 0);
        for set in &sets {
            let candidates = self.run.candidates(&set.webhooks).into_iter();
            ordered.extend(candidates.map(|(index, webhook)| (offset + index, *set, webhook)));
            offset += set.len();
        }
        if order == StaticOrder::ByName {
            let all = sets.iter().flat_map(|set| set.webhooks.all.iter());
            let mut positions: Vec<(&str, usize)> = all
                .enumerate()
                .map(|(position, webhook)| (&*webhook.configuration, position))
                .collect();
            positions.sort_by_key(|(name, _)| *name);
            let mut ranks = vec![0; positions.len()];
            for (rank, (_, position)) in positions.into_iter().enumerate() {
                if let Some(slot) = ranks.get_mut(position) {
                    *slot = rank;
                }
            }
            for (index, ..) in &mut ordered {
                *index = ranks.get(*index).copied().unwrap_or_default();
            }
            ordered.sort_by_key(|(index, ..)| *index);
        }
        ordered
    }

    /// Matches the request with a webhook, its match conditions included.
    async fn matches(
        &mut self,
        webhook: &CompiledWebhook,
        observer: &mut dyn WebhookObserver,
    ) -> Result<Option<OwnedMatch>, DispatchEnd> {
        let version = self.version.as_ref();
        let object = version.map_or(&self.requested, |version| &version.objects.object);
        let matched = self.run.matches(webhook, object.get(), observer)?;
        let Some(MatchedResource { resource, kind }) = matched else {
            return Ok(None);
        };
        let matched = OwnedMatch {
            resource: resource.clone(),
            kind: kind.clone(),
        };
        if !webhook.conditions.is_empty() {
            self.convert(&matched.kind)?;
            if let Some(version) = &self.version {
                let conditions_hold = self.run.conditions_hold(webhook, &version.objects, observer);
                if !conditions_hold.await? {
                    return Ok(None);
                }
            }
        }
        let can_be_sent = self.run.can_be_sent(webhook, observer)?;
        Ok(can_be_sent.then_some(matched))
    }

    /// Converts the objects to a kind.
    fn convert(&mut self, kind: &GroupVersionKind) -> Result<(), DispatchEnd> {
        let version = self.version.as_ref();
        if version.is_some_and(|version| version.objects.kind == *kind) {
            return Ok(());
        }
        // The reference wraps the error twice.
        let failed = |error: ObjectError| {
            DispatchEnd::from(error.into_status(|error| internal_error(&internal_error(error).message)))
        };
        let progress = self.run.context.progress();
        let stored = ObjectRef::Given(&self.run.attributes.request.old_object);
        let old_object = self.run.converter.to_version(&stored, kind, &progress);
        let old_object = old_object.map_err(failed)?;
        self.convert_back().map_err(failed)?;
        let object = self.run.converter.to_version(&self.requested, kind, &progress);
        let object = object.map_err(failed)?;
        self.version = Some(MutableVersion {
            converted: object.clone(),
            objects: VersionedObjects {
                kind: kind.clone(),
                object,
                old_object,
            },
            dirty: false,
        });
        Ok(())
    }

    /// Converts the object as webhooks changed it back to the kind of the request.
    fn convert_back(&mut self) -> Result<(), ObjectError> {
        if let Some(version) = self.version.as_ref().filter(|version| version.dirty) {
            let progress = self.run.context.progress();
            let VersionedObjects { kind, object, .. } = &version.objects;
            let change = (&version.converted, object);
            let converter = &self.run.converter;
            self.requested = converter.convert_back(change, kind, self.requested.get(), &progress)?;
        }
        Ok(())
    }

    /// Whether the object changed, and not only its form. In a custom resource, 7.0 in place of 7 is a change: webhooks that
    /// are called again find that they change it back.
    fn changed(&self) -> bool {
        let submitted = ObjectRef::Given(self.run.attributes.object);
        let (old_object, new_object) = (submitted.get(), self.requested.get());
        let kind = &self.run.attributes.request.kind;
        if old_object == new_object {
            return false;
        }
        if self.run.converter.is_typed(kind) {
            let progress = self.run.context.progress();
            let formed = self.run.converter.to_version(&submitted, kind, &progress);
            !formed.is_ok_and(|formed| formed.get() == new_object)
        } else {
            true
        }
    }

    fn finish(&mut self) -> Result<(), DispatchEnd> {
        self.convert_back().map_err(|error| error.into_status(unknown))?;
        let Some(model) = self.run.context.object_model.filter(|_| self.changed()) else {
            return Ok(());
        };
        if let ObjectRef::Made(object) = &mut self.requested {
            let converted = model.convert(&self.run.attributes.request.kind, Arc::make_mut(object));
            converted.map_err(|error| unknown(&error.to_string()))?;
        }
        Ok(())
    }

    /// Calls a webhook and applies its patch; returns whether that changed the object.
    async fn invoke(
        &mut self,
        webhook: &CompiledWebhook,
        matched: &OwnedMatch,
        position: CallPosition,
        caller: &dyn Caller,
        observer: &mut dyn WebhookObserver,
    ) -> Result<Result<bool, CallFailure>, DispatchEnd> {
        self.convert(&matched.kind)?;
        let (exchange, answer) = match &self.version {
            None => (
                CallExchange::new(&self.run.memory),
                Err(CallFailure::internal("no object")),
            ),
            Some(version) => {
                let objects = &version.objects;
                let subject = ReviewSubject {
                    request: self.run.attributes.request,
                    name: self.run.name,
                    matched: MatchedResource {
                        resource: &matched.resource,
                        kind: &matched.kind,
                    },
                    object: objects.object.get(),
                    old_object: objects.old_object.get(),
                };
                let review = webhook
                    .version
                    .map(|version| SharedReview::new(version, &subject));
                let memory = self.run.memory.part();
                let review_bytes = review.as_ref().map_or(0, |review| review.len(""));
                memory
                    .hold(objects.made_bytes().saturating_add(review_bytes))
                    .map_err(|error| out_of_memory(&webhook.name, error))?;
                self.run.call(webhook, review.as_ref(), caller).await
            }
        };
        let result = answer.and_then(|answer| self.accept(webhook, position, answer));
        let changed = matches!(result, Ok(true));
        self.records.annotations.mutation(position, webhook, changed);
        self.run.report(observer, webhook, &exchange, &result);
        Ok(result)
    }

    /// Takes an answer, and applies its patch.
    fn accept(
        &mut self,
        webhook: &CompiledWebhook,
        position: CallPosition,
        mut answer: VerifiedAnswer,
    ) -> Result<bool, CallFailure> {
        self.records.accept(webhook, &mut answer)?;
        if answer.patch.is_empty() {
            return Ok(false);
        }
        let Some(version) = &mut self.version else {
            return Ok(false);
        };
        let out_of_memory = |error| CallFailure::out_of_memory(webhook, error);
        let applying = self.run.memory.part();
        let target = PatchTarget {
            objects: &version.objects,
            converter: &self.run.converter,
            progress: &self.run.context.progress(),
            release: self.run.context.release,
        };
        let Some(mut patched) = patched(webhook, &answer, &target, &applying)? else {
            return Ok(false);
        };
        let object = &version.objects.object;
        let changed = if self.run.converter.is_typed(&version.objects.kind) {
            !is_semantically_equal(object.get(), patched.object.get())
        } else {
            object.get() != patched.object.get()
        };
        // Defaults are no change by the webhook.
        if let (Some(model), ObjectRef::Made(object)) = (self.run.context.object_model, &mut patched.object) {
            let object = Arc::make_mut(object);
            model.set_defaults(
                &version.objects.kind,
                object,
                ObjectMutator::Webhook(&webhook.name),
            );
        }
        // The object in the webhook's kind and in the request's, and the recorded patches.
        self.patch_bytes = self.patch_bytes.saturating_add(answer.patch.len());
        let kept = patched.object.made_bytes().saturating_mul(2);
        version.objects.object = patched.object;
        version.dirty = true;
        drop(applying);
        self.memory
            .hold_at_least(kept.saturating_add(self.patch_bytes))
            .map_err(out_of_memory)?;
        self.records
            .annotations
            .patch(position, webhook, &patched.written.json());
        Ok(changed)
    }

    /// Ends the request for a failed call, unless the webhook ignores failures.
    fn fail(
        &mut self,
        webhook: &CompiledWebhook,
        position: CallPosition,
        failure: CallFailure,
    ) -> Result<(), DispatchEnd> {
        if !failure.is_ignored(webhook) {
            return Err(failure.into_end(webhook));
        }
        self.records.annotations.mutating_failed_open(position, webhook);
        if self.run.context.deadline_passed() {
            Err(timeout().into())
        } else {
            Ok(())
        }
    }
}

/// Whether two objects of a built-in kind are equal, where an empty list equals a missing one.
// Upstream: apimachinery/pkg/api/equality/semantic.go, Semantic
fn is_semantically_equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Array(elements)) | (Value::Array(elements), Value::Null) => elements.is_empty(),
        (Value::Array(left), Value::Array(right)) => {
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(left, right)| is_semantically_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let mut pairs = left.iter().zip(right.iter());
            left.len() == right.len()
                && pairs.all(|((left_key, left), (right_key, right))| {
                    left_key == right_key && is_semantically_equal(left, right)
                })
        }
        _ => left == right,
    }
}
