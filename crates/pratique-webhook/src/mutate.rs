//! A request before mutating webhooks: one after the other, each given what those before it made.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_expression::Missing;
use pratique_gotext::strconv::quote;
use pratique_json::{Progress, Value};
use pratique_match::Matched;
use pratique_types::{GroupVersionKind, GroupVersionResource};
use tokio::time::Instant;

use crate::annotations::{Annotations, Place};
use crate::answer::{JSON_PATCH, Verified};
use crate::call::{Exchange, Failure, ask};
use crate::caller::Caller;
use crate::conditions::{self, Applies, Inputs, NotKnown};
use crate::configurations::{MutatingWebhooks, Turn};
use crate::meeting::{Unmet, candidates, meets};
use crate::memory::{self, CallMemory, PhaseMemory};
use crate::observer::{Conditions, Does, Observer};
use crate::outcome::{End, Mutated, Unanswered};
use crate::patch::{self, Unapplied, Written};
use crate::quantities;
use crate::reinvocation::Reinvocation;
use crate::review::{Review, Subject};
use crate::statuses::{forbidden, internal, out_of_memory, timeout, unknown, unmatchable};
use crate::surroundings::{Attributes, Surroundings};
use crate::undecided::settle;
use crate::version::{Conversion, Held};
use crate::webhook::Webhook;

/// Sends a request to sets of mutating webhooks, in their order: static ones first. This is one turn; `turns` says
/// whether another one is due, when all others that mutate had theirs.
///
/// # Errors
/// An authorization check of a match condition was left open.
pub async fn mutate<'s>(
    sets: &[&MutatingWebhooks],
    attributes: impl Into<Attributes<'s>>,
    surroundings: &Surroundings<'s>,
    turns: &mut Reinvocation,
    caller: &dyn Caller,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unanswered> {
    let attributes = attributes.into();
    let memory = PhaseMemory::new(&surroundings.memory);
    let mut bench = Bench {
        attributes,
        surroundings,
        conversion: conversion(attributes, surroundings),
        given: Held::Given(attributes.object),
        version: None,
        annotations: Annotations::default(),
        warnings: Vec::new(),
        noted: 0,
        held: memory.part(),
        memory,
    };
    turns.begin(attributes.object);
    let ended = bench.run(sets, turns, caller, observer).await;
    let (status, undecided) = match ended.and_then(|()| bench.finish()) {
        Err(End::Unanswered(unanswered)) => return Err(unanswered),
        Err(End::Status(status)) => (Some(status), None),
        Err(End::Undecided(undecided)) => (None, Some(undecided)),
        Ok(()) => (None, None),
    };
    let changed = status.is_none() && undecided.is_none() && bench.changed();
    match changed {
        true => turns.end(&bench.given),
        // What goes on is the object as it was submitted, which need not have the form of its kind.
        false => turns.end(&Held::Given(attributes.object)),
    }
    // The objects of the last kind may share what goes on, and are needed no more.
    drop(bench.version);
    Ok(Mutated {
        object: changed.then(|| Arc::unwrap_or_clone(bench.given.into_owned())),
        status,
        undecided,
        warnings: bench.warnings,
        audit_annotations: bench.annotations.all,
        patch_annotations: bench.annotations.patches,
    })
}

/// How the objects of a request are converted.
pub(crate) fn conversion<'s>(attributes: Attributes<'s>, surroundings: &Surroundings<'s>) -> Conversion<'s> {
    let request = attributes.request;
    let served = surroundings
        .equivalents
        .of(&request.resource, &request.sub_resource)
        .iter();
    let served = served.map(|equivalent| &equivalent.kind);
    Conversion::new(
        surroundings.types_objects,
        std::iter::once(&request.kind).chain(served),
    )
}

/// Where a request is mutated.
struct Bench<'b, 's> {
    attributes: Attributes<'s>,
    surroundings: &'b Surroundings<'s>,
    conversion: Conversion<'s>,
    /// The object in the kind of the request.
    given: Held<'s>,
    /// The objects in the kind that the last webhook asked for.
    version: Option<Version<'s>>,
    annotations: Annotations,
    warnings: Vec<String>,
    /// How many bytes the patches have that are noted.
    noted: usize,
    memory: PhaseMemory,
    /// What the objects, and the patches that are noted, hold.
    held: CallMemory,
}

struct Version<'s> {
    kind: GroupVersionKind,
    object: Held<'s>,
    /// The object as it came into this kind.
    given: Held<'s>,
    old_object: Held<'s>,
    /// Whether the object changed since it came into this kind.
    dirty: bool,
}

/// What a webhook matched.
struct Met {
    resource: GroupVersionResource,
    kind: GroupVersionKind,
}

impl<'s> Bench<'_, 's> {
    async fn run(
        &mut self,
        sets: &[&MutatingWebhooks],
        turns: &mut Reinvocation,
        caller: &dyn Caller,
        observer: &mut dyn Observer,
    ) -> Result<(), End> {
        let mut offset = 0;
        for set in sets {
            for (at, webhook) in candidates(&set.webhooks, self.attributes, self.surroundings) {
                let Some(turn) = set.turns.get(at) else {
                    continue;
                };
                let Some(met) = self.met(webhook, observer).await? else {
                    continue;
                };
                let key = (set.webhooks.origin, turn.uid.clone());
                if !turns.has_turn(&key) {
                    continue;
                }
                let place = Place {
                    round: u8::from(turns.is_second()),
                    index: offset + at,
                };
                let ended = self.invoke(webhook, &met, place, caller, observer).await?;
                self.remember(turn, key, &ended, turns);
                self.judge(webhook, place, ended)?;
            }
            offset += set.len();
        }
        Ok(())
    }

    /// What the request meets a webhook as, its match conditions included.
    async fn met(&mut self, webhook: &Webhook, observer: &mut dyn Observer) -> Result<Option<Met>, End> {
        let request = self.attributes.request;
        let seen = self.version.as_ref().map(|version| version.object.clone());
        let seen = seen.unwrap_or_else(|| self.given.clone());
        let met = {
            let attributes = Attributes {
                request,
                object: seen.get(),
            };
            let found = match meets(webhook, attributes, &request.name, self.surroundings) {
                Ok(found) => found,
                Err(Unmet::Error(error)) => return Err(unmatchable(&error).into()),
                Err(Unmet::Undecided(missing)) => {
                    self.settle(webhook, missing, observer)?;
                    None
                }
            };
            found.map(|Matched { resource, kind }| Met {
                resource: resource.clone(),
                kind: kind.clone(),
            })
        };
        let Some(met) = met else {
            return Ok(None);
        };
        if webhook.conditions.is_empty() {
            return Ok(Some(met));
        }
        self.convert(&met.kind)?;
        let applies = self.applies(webhook, &met.kind, observer).await?;
        match applies {
            Ok(applies) => Ok(applies.then_some(met)),
            Err(NotKnown::Error(error)) => Err(forbidden(&request.resource, &request.name, &error).into()),
            Err(NotKnown::Undecided(missing)) => {
                self.settle(webhook, *missing, observer)?;
                Ok(None)
            }
        }
    }

    fn settle(&self, webhook: &Webhook, missing: Missing, observer: &mut dyn Observer) -> Result<(), End> {
        let request = self.attributes.request;
        let subject = (request, request.name.as_str());
        settle(
            (webhook, Does::Mutate),
            missing,
            subject,
            self.surroundings,
            observer,
        )
    }

    async fn applies(
        &self,
        webhook: &Webhook,
        kind: &GroupVersionKind,
        observer: &mut dyn Observer,
    ) -> Result<Result<bool, NotKnown>, End> {
        let Some(version) = &self.version else {
            return Ok(Ok(true));
        };
        let request = self.attributes.request;
        let began = Instant::now();
        let applies: Applies = loop {
            let inputs = Inputs {
                request,
                name: &request.name,
                kind,
                object: version.object.get(),
                old_object: version.old_object.get(),
                typed: self.conversion.is_typed(kind),
            };
            match conditions::apply(webhook, &inputs, self.surroundings) {
                Ok(applies) => break applies,
                Err(Unanswered::Pending) => answered(self.surroundings).await?,
                Err(stopped) => return Err(stopped.into()),
            }
        };
        observer.conditions(&Conditions {
            webhook: &webhook.name,
            does: Does::Mutate,
            operation: request.operation,
            duration: began.elapsed(),
            errors: applies.errors,
            excluded: applies.answer == Ok(false),
            failure: applies.failure(),
        });
        Ok(applies.answer)
    }

    /// Brings the objects into a kind.
    fn convert(&mut self, kind: &GroupVersionKind) -> Result<(), End> {
        if self.version.as_ref().is_some_and(|version| version.kind == *kind) {
            return Ok(());
        }
        // The reference says twice that it is an internal error.
        let failed = |unapplied| match unapplied {
            Unapplied::Server(error) => End::from(internal(&internal(&error).message)),
            Unapplied::Interrupted => End::from(timeout()),
        };
        let progress = Progress::new(&self.surroundings.interrupt);
        let stored = Held::Given(&self.attributes.request.old_object);
        let old_object = self.conversion.forth(&stored, kind, &progress);
        let old_object = old_object.map_err(failed)?;
        self.back().map_err(failed)?;
        let object = self.conversion.forth(&self.given, kind, &progress);
        let object = object.map_err(failed)?;
        self.version = Some(Version {
            kind: kind.clone(),
            given: object.clone(),
            object,
            old_object,
            dirty: false,
        });
        Ok(())
    }

    /// Brings what webhooks changed back into the kind of the request.
    fn back(&mut self) -> Result<(), Unapplied> {
        if let Some(version) = self.version.as_ref().filter(|version| version.dirty) {
            let progress = Progress::new(&self.surroundings.interrupt);
            let change = (&version.given, &version.object);
            let kind = &version.kind;
            let back = self.conversion.back(change, kind, self.given.get(), &progress)?;
            self.given = back;
        }
        Ok(())
    }

    /// Whether the object is another one by now, and not only in the form of its kind. 7.0 in the place of 7 is a change of a
    /// custom resource: webhooks that are called again find out that they change it back.
    fn changed(&self) -> bool {
        let given = Held::Given(self.attributes.object);
        let (before, after) = (given.get(), self.given.get());
        let kind = &self.attributes.request.kind;
        if before == after {
            return false;
        }
        match self.conversion.is_typed(kind) {
            true => {
                let progress = Progress::new(&self.surroundings.interrupt);
                let formed = self.conversion.forth(&given, kind, &progress);
                !formed.is_ok_and(|formed| formed.get() == after)
            }
            false => true,
        }
    }

    fn finish(&mut self) -> Result<(), End> {
        self.back().map_err(|unapplied| match unapplied {
            Unapplied::Server(error) => unknown(error).into(),
            Unapplied::Interrupted => timeout().into(),
        })
    }

    /// Calls a webhook and applies its patch; gives whether that changed the object.
    async fn invoke(
        &mut self,
        webhook: &Webhook,
        met: &Met,
        place: Place,
        caller: &dyn Caller,
        observer: &mut dyn Observer,
    ) -> Result<Result<bool, Failure>, End> {
        self.convert(&met.kind)?;
        let request = self.attributes.request;
        let dry_run = request.dry_run.unwrap_or_default();
        let (exchange, answer) = match &self.version {
            None => (Exchange::new(&self.memory), Err(Failure::internal("no object"))),
            Some(version) => {
                let review = webhook.version.map(|of| {
                    let subject = Subject {
                        request,
                        name: &request.name,
                        matched: Matched {
                            resource: &met.resource,
                            kind: &met.kind,
                        },
                        object: version.object.get(),
                        old_object: version.old_object.get(),
                    };
                    Review::new(of, &subject)
                });
                let asking = self.memory.part();
                let made = version
                    .object
                    .made_bytes()
                    .saturating_add(version.old_object.made_bytes());
                let review_bytes = review.as_ref().map_or(0, |review| review.len(""));
                asking
                    .hold(made.saturating_add(review_bytes))
                    .map_err(|error| out_of_memory(&webhook.name, error))?;
                let within = (self.surroundings, &self.memory);
                ask(webhook, Does::Mutate, dry_run, review.as_ref(), caller, within).await
            }
        };
        let ended = answer.and_then(|answer| self.answered(webhook, place, answer));
        let changed = matches!(ended, Ok(true));
        self.annotations.mutation(place, webhook, changed);
        let told = ended.as_ref().err().map(|failure| failure.told(webhook));
        let (code, rejection, failure) = told.unwrap_or((200, None, None));
        observer.called(&exchange.told(
            webhook,
            Does::Mutate,
            request.operation,
            (code, rejection, failure.as_deref()),
        ));
        Ok(ended)
    }

    fn answered(&mut self, webhook: &Webhook, place: Place, answer: Verified) -> Result<bool, Failure> {
        let annotations: &BTreeMap<String, String> = &answer.audit_annotations;
        self.annotations.of_webhook(&webhook.name, annotations);
        self.warnings.extend(answer.warnings.iter().cloned());
        if !answer.allowed {
            let denied = crate::statuses::denied(&webhook.name, answer.result);
            return Err(Failure::Denied(Box::new(denied)));
        }
        if answer.patch.is_empty() {
            return Ok(false);
        }
        self.patch(webhook, place, &answer)
    }

    fn patch(&mut self, webhook: &Webhook, place: Place, answer: &Verified) -> Result<bool, Failure> {
        let no_memory = |error| Failure::out_of_memory(webhook, error);
        let applying = self.memory.part();
        applying
            .hold(memory::of_patch(&answer.patch))
            .map_err(no_memory)?;
        let mut operations = patch::decode(&answer.patch).map_err(|error| {
            let reason = format!("received undecodable patch in webhook response: {error}");
            Failure::call(reason, 503)
        })?;
        let Some(version) = self.version.as_mut().filter(|_| !operations.is_empty()) else {
            return Ok(false);
        };
        if version.object.get().is_null() {
            return Err(Failure::internal(&format!(
                "admission webhook {} attempted to modify the object, which is not supported for this operation",
                quote(&webhook.name)
            )));
        }
        if answer.patch_type != JSON_PATCH {
            let reason = format!("unsupported patch type {}", quote(&answer.patch_type));
            let denied = crate::statuses::denied(&webhook.name, answer.result.clone());
            return Err(Failure::call(
                reason,
                u16::try_from(denied.code).unwrap_or_default(),
            ));
        }
        if self.conversion.is_typed(&version.kind) {
            quantities::keep_digits(&answer.patch, &mut operations, &version.kind);
        }
        let needed = patch::applied_bytes(version.object.get(), &operations, answer.patch.len());
        applying.hold(needed).map_err(no_memory)?;
        let made = patch::apply(
            version.object.get(),
            &operations,
            &version.kind,
            &self.conversion,
            &Progress::new(&self.surroundings.interrupt),
        );
        let made = made.map_err(|unapplied| match unapplied {
            Unapplied::Server(error) => Failure::internal(&error),
            Unapplied::Interrupted => Failure::Server(Box::new(timeout())),
        })?;
        let changed = match self.conversion.is_typed(&version.kind) {
            true => !is_equal_type(version.object.get(), made.get()),
            false => version.object.get() != made.get(),
        };
        // In the webhook's kind and in the request's, and what is noted of the patch.
        self.noted = self.noted.saturating_add(answer.patch.len());
        let kept = made.made_bytes().saturating_mul(2).saturating_add(self.noted);
        version.object = made;
        version.dirty = true;
        drop(applying);
        self.held.hold_at_least(kept).map_err(no_memory)?;
        self.annotations
            .patch(place, webhook, &Written::read(&answer.patch).json());
        Ok(changed)
    }

    fn remember(
        &self,
        turn: &Turn,
        key: crate::reinvocation::Key,
        ended: &Result<bool, Failure>,
        turns: &mut Reinvocation,
    ) {
        if matches!(ended, Ok(true)) {
            turns.changed();
        }
        if turn.reinvoked {
            turns.remember(key);
        }
    }

    /// Whether the next webhook has its turn.
    fn judge(&mut self, webhook: &Webhook, place: Place, ended: Result<bool, Failure>) -> Result<(), End> {
        let Err(failure) = ended else {
            return Ok(());
        };
        if !matches!(failure, Failure::Call { .. }) || !webhook.ignores_failures() {
            return Err(failure.status(webhook).into());
        }
        self.annotations.mutating_failed_open(place, webhook);
        match over(self.surroundings) {
            true => Err(timeout().into()),
            false => Ok(()),
        }
    }
}

/// Whether two objects of a built-in kind are equal: to the reference, a list that is empty is one that is not there.
// Upstream: k8s.io/apimachinery/pkg/api/equality, Semantic.
fn is_equal_type(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Null, Value::Array(elements)) | (Value::Array(elements), Value::Null) => elements.is_empty(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_equal_type(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut pairs = one.iter().zip(other.iter());
            one.len() == other.len()
                && pairs.all(|(one, other)| one.0 == other.0 && is_equal_type(one.1, other.1))
        }
        _ => one == other,
    }
}

/// Whether the request's own deadline has passed.
pub(crate) fn over(surroundings: &Surroundings<'_>) -> bool {
    let deadline = surroundings.interrupt.deadline().map(Instant::from_std);
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Waits for open authorization checks.
pub(crate) async fn answered(surroundings: &Surroundings<'_>) -> Result<(), Unanswered> {
    match surroundings.pending {
        Some(pending) if pending.answered().await => Ok(()),
        _ => Err(Unanswered::Pending),
    }
}
