//! A request before validating webhooks: all at once.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pratique_expression::{Missing, Undecided};
use pratique_json::Progress;
use pratique_match::Matched;
use pratique_types::{GroupVersionKind, Status};
use tokio::time::Instant;

use crate::annotations::Annotations;
use crate::answer::Verified;
use crate::call::{Exchange, Failure, ask};
use crate::caller::Caller;
use crate::conditions::{self, Inputs, NotKnown};
use crate::configurations::ValidatingWebhooks;
use crate::meeting::{Unmet, candidates, given_name, meets};
use crate::memory::{CallMemory, PhaseMemory};
use crate::mutate::{answered, conversion, over};
use crate::observer::{Conditions, Does, Observer};
use crate::outcome::{End, Unanswered, Verdict};
use crate::patch::Unapplied;
use crate::review::{Review, Subject};
use crate::statuses::{denied, forbidden, internal, out_of_memory, timeout, unmatchable};
use crate::surroundings::{Attributes, Surroundings};
use crate::undecided::settle;
use crate::version::{Conversion, Held};
use crate::webhook::{ReviewVersion, Webhook};

/// Sends a request to sets of validating webhooks, all at once, and waits for all of them. Of several that refuse it,
/// the first to answer counts. Nobody is called if it cannot be told of one whether it is to be.
///
/// # Errors
/// An authorization check of a match condition was left open.
pub async fn validate<'s>(
    sets: &[&ValidatingWebhooks],
    attributes: impl Into<Attributes<'s>>,
    surroundings: &Surroundings<'s>,
    caller: &dyn Caller,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unanswered> {
    let attributes = attributes.into();
    let memory = PhaseMemory::new(&surroundings.memory);
    let mut jury = Jury {
        attributes,
        name: given_name(attributes.request, attributes),
        surroundings,
        conversion: conversion(attributes, surroundings),
        versions: Vec::new(),
        reviews: Vec::new(),
        calls: Vec::new(),
        undecided: Vec::new(),
        held: memory.part(),
        memory,
    };
    let gathered = jury.gather(sets, observer).await;
    let undecided = std::mem::take(&mut jury.undecided);
    let status = match gathered {
        Ok(()) if jury.calls.is_empty() => None,
        Ok(()) if over(surroundings) => Some(Box::new(timeout())),
        Ok(()) => {
            let verdict = jury.judge(caller, observer).await;
            return Ok(Verdict { undecided, ..verdict });
        }
        Err(End::Unanswered(unanswered)) => return Err(unanswered),
        Err(End::Status(status)) => Some(status),
        // Each was kept.
        Err(End::Undecided(_)) => None,
    };
    Ok(Verdict {
        status,
        undecided,
        ..Verdict::default()
    })
}

/// Those who judge a request.
struct Jury<'j, 's> {
    attributes: Attributes<'s>,
    name: &'s str,
    surroundings: &'j Surroundings<'s>,
    conversion: Conversion<'s>,
    /// One for each kind that webhooks asked for.
    versions: Vec<Version<'s>>,
    /// One for each question.
    reviews: Vec<(Question, Review)>,
    calls: Vec<Call<'j>>,
    /// The webhooks of which it is not known whether they are to be called.
    undecided: Vec<Undecided>,
    memory: PhaseMemory,
    /// What the objects and reviews hold.
    held: CallMemory,
}

struct Version<'s> {
    kind: GroupVersionKind,
    object: Held<'s>,
    old_object: Held<'s>,
}

/// A webhook to be called.
struct Call<'j> {
    webhook: &'j Webhook,
    /// The position of its review; none where it reads no version that is known.
    review: Option<usize>,
}

/// What tells reviews apart.
#[derive(PartialEq)]
struct Question {
    version: ReviewVersion,
    kind: GroupVersionKind,
    resource: pratique_types::GroupVersionResource,
}

impl<'j, 's> Jury<'j, 's> {
    async fn gather(
        &mut self,
        sets: &[&'j ValidatingWebhooks],
        observer: &mut dyn Observer,
    ) -> Result<(), End> {
        for set in sets {
            for (_, webhook) in candidates(&set.webhooks, self.attributes, self.surroundings) {
                let met = meets(webhook, self.attributes, self.name, self.surroundings);
                let matched = match met {
                    Ok(Some(matched)) => matched,
                    Ok(None) => continue,
                    Err(Unmet::Error(error)) => return Err(unmatchable(&error).into()),
                    Err(Unmet::Undecided(missing)) => {
                        self.settle(webhook, missing, observer)?;
                        continue;
                    }
                };
                if !webhook.conditions.is_empty() && !self.applies(webhook, matched, observer).await? {
                    continue;
                }
                let version = self.version(matched.kind, webhook)?;
                let review = webhook
                    .version
                    .map(|of| self.review(of, matched, version, webhook));
                let review = review.transpose()?;
                self.calls.push(Call { webhook, review });
            }
        }
        Ok(())
    }

    async fn applies(
        &mut self,
        webhook: &Webhook,
        matched: Matched<'s>,
        observer: &mut dyn Observer,
    ) -> Result<bool, End> {
        let request = self.attributes.request;
        let at = self.version(matched.kind, webhook)?;
        let Some(version) = self.versions.get(at) else {
            return Ok(true);
        };
        let began = Instant::now();
        let applies = loop {
            let inputs = Inputs {
                request,
                name: self.name,
                kind: matched.kind,
                object: version.object.get(),
                old_object: version.old_object.get(),
                typed: self.conversion.is_typed(matched.kind),
            };
            match conditions::apply(webhook, &inputs, self.surroundings) {
                Ok(applies) => break applies,
                Err(Unanswered::Pending) => answered(self.surroundings).await?,
                Err(stopped) => return Err(stopped.into()),
            }
        };
        observer.conditions(&Conditions {
            webhook: &webhook.name,
            does: Does::Validate,
            operation: request.operation,
            duration: began.elapsed(),
            errors: applies.errors,
            excluded: applies.answer == Ok(false),
            failure: applies.failure(),
        });
        match applies.answer {
            Ok(applies) => Ok(applies),
            Err(NotKnown::Error(error)) => Err(forbidden(&request.resource, self.name, &error).into()),
            Err(NotKnown::Undecided(missing)) => {
                self.settle(webhook, *missing, observer)?;
                Ok(false)
            }
        }
    }

    /// Keeps that it is not known whether a webhook is to be called: others may refuse the request.
    fn settle(
        &mut self,
        webhook: &Webhook,
        missing: Missing,
        observer: &mut dyn Observer,
    ) -> Result<(), End> {
        let subject = (self.attributes.request, self.name);
        let settled = settle(
            (webhook, Does::Validate),
            missing,
            subject,
            self.surroundings,
            observer,
        );
        match settled {
            Err(End::Undecided(undecided)) => {
                self.undecided.push(*undecided);
                Ok(())
            }
            settled => settled,
        }
    }

    /// Counts what was made for a webhook.
    fn hold(&self, webhook: &Webhook, bytes: usize) -> Result<(), End> {
        let held = self.held.hold(bytes);
        held.map_err(|error| out_of_memory(&webhook.name, error).into())
    }

    /// The position of the objects in a kind.
    fn version(&mut self, kind: &GroupVersionKind, webhook: &Webhook) -> Result<usize, End> {
        if let Some(at) = self.versions.iter().position(|version| version.kind == *kind) {
            return Ok(at);
        }
        let progress = Progress::new(&self.surroundings.interrupt);
        let convert = |object| {
            let converted = self.conversion.forth(&Held::Given(object), kind, &progress);
            converted.map_err(|unapplied| match unapplied {
                Unapplied::Server(error) => End::from(internal(&error)),
                Unapplied::Interrupted => End::from(timeout()),
            })
        };
        let version = Version {
            kind: kind.clone(),
            old_object: convert(&self.attributes.request.old_object)?,
            object: convert(self.attributes.object)?,
        };
        let made = version
            .object
            .made_bytes()
            .saturating_add(version.old_object.made_bytes());
        self.versions.push(version);
        self.hold(webhook, made)?;
        Ok(self.versions.len() - 1)
    }

    /// The position of a review.
    fn review(
        &mut self,
        of: ReviewVersion,
        matched: Matched<'_>,
        version: usize,
        webhook: &Webhook,
    ) -> Result<usize, End> {
        let question = Question {
            version: of,
            kind: matched.kind.clone(),
            resource: matched.resource.clone(),
        };
        if let Some(at) = self.reviews.iter().position(|(asked, _)| *asked == question) {
            return Ok(at);
        }
        let null = pratique_json::Value::Null;
        let version = self.versions.get(version);
        let subject = Subject {
            request: self.attributes.request,
            name: self.name,
            matched,
            object: version.map_or(&null, |version| version.object.get()),
            old_object: version.map_or(&null, |version| version.old_object.get()),
        };
        let review = Review::new(of, &subject);
        self.hold(webhook, review.len(""))?;
        self.reviews.push((question, review));
        Ok(self.reviews.len() - 1)
    }

    async fn judge(&self, caller: &dyn Caller, observer: &mut dyn Observer) -> Verdict {
        let request = self.attributes.request;
        let dry_run = request.dry_run.unwrap_or_default();
        let asked = self.calls.iter().enumerate().map(async |(index, call)| {
            let review = call.review.and_then(|at| self.reviews.get(at));
            let review = review.map(|(_, review)| review);
            let does = Does::Validate;
            let within = (self.surroundings, &self.memory);
            let ended = ask(call.webhook, does, dry_run, review, caller, within).await;
            (index, call.webhook, ended)
        });
        let mut asked: FuturesUnordered<_> = asked.collect();
        let mut tally = Tally::default();
        while let Some((index, webhook, (exchange, ended))) = asked.next().await {
            let ended = ended.and_then(|answer| tally.heard(webhook, answer));
            told(observer, webhook, request.operation, &exchange, &ended);
            if let Err(failure) = ended {
                tally.failed(index, webhook, failure, &exchange);
            }
        }
        Verdict {
            status: tally.status,
            undecided: Vec::new(),
            warnings: tally.warnings,
            audit_annotations: tally.annotations.all,
        }
    }
}

/// What was heard so far.
#[derive(Default)]
struct Tally {
    status: Option<Box<Status>>,
    /// What the status holds.
    memory: Option<Arc<CallMemory>>,
    warnings: Vec<String>,
    annotations: Annotations,
}

impl Tally {
    fn heard(&mut self, webhook: &Webhook, answer: Verified) -> Result<(), Failure> {
        self.annotations
            .of_webhook(&webhook.name, &answer.audit_annotations);
        self.warnings.extend(answer.warnings);
        match answer.allowed {
            true => Ok(()),
            false => Err(Failure::Denied(Box::new(denied(&webhook.name, answer.result)))),
        }
    }

    fn failed(&mut self, index: usize, webhook: &Webhook, failure: Failure, exchange: &Exchange) {
        if matches!(failure, Failure::Call { .. }) && webhook.ignores_failures() {
            self.annotations.validating_failed_open(index, webhook);
        } else if self.status.is_none() {
            self.status = Some(Box::new(failure.status(webhook)));
            self.memory = Some(exchange.memory.clone());
        }
    }
}

fn told(
    observer: &mut dyn Observer,
    webhook: &Webhook,
    operation: pratique_types::Operation,
    exchange: &Exchange,
    ended: &Result<(), Failure>,
) {
    let told = ended.as_ref().err().map(|failure| failure.told(webhook));
    let (code, rejection, failure) = told.unwrap_or((200, None, None));
    observer.called(&exchange.told(
        webhook,
        Does::Validate,
        operation,
        (code, rejection, failure.as_deref()),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests are judged on any thread.
    #[allow(dead_code, reason = "compiling is the test")]
    fn can_be_sent(
        sets: &[&ValidatingWebhooks],
        attributes: Attributes<'_>,
        surroundings: &Surroundings<'_>,
        caller: &dyn Caller,
    ) {
        fn sent<T: Send>(_: T) {}
        sent(validate(sets, attributes, surroundings, caller, &mut ()));
        sent(crate::mutate(
            &[],
            attributes,
            surroundings,
            &mut crate::Reinvocation::default(),
            caller,
            &mut (),
        ));
    }
}
