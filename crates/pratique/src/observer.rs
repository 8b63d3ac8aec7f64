//! Observers of one request's run through the chain: they count, log or show it.

use std::time::Duration;

pub use pratique_policy::{AdmissionPhase, AdmissionPhases};
use pratique_policy::{Attributes, UndecidedDecision};
use pratique_types::{Operation, Status};

use crate::chain::end::ChainEnd;

/// Receives the events of a request in the chain. By default all methods do nothing.
pub trait ChainObserver: Send {
    /// The observer of its policies.
    fn policies(&mut self) -> Option<&mut dyn pratique_policy::PolicyObserver> {
        None
    }

    /// The observer of its calls of webhooks.
    #[cfg(feature = "webhooks")]
    fn webhooks(&mut self) -> Option<&mut dyn pratique_webhook::WebhookObserver> {
        None
    }

    /// Whether the [time](ChainSpan::elapsed) of parts and phases is measured: it is zero otherwise. Observers that pass spans on answer
    /// what those say to whom they pass them.
    // Rows `chain-*` of `benches/`: a chain has some thirty parts, and to look at the clock twice for each takes as long as several plugins.
    fn measures_time(&self) -> bool {
        true
    }

    /// A part of the chain has finished: an admission plugin, by its name, or a step of the caller.
    fn part(&mut self, name: &str, span: &ChainSpan) {
        let _ = (name, span);
    }

    /// As [`part`](Self::part), with the object as the part left it and the result: to show what each part of the chain
    /// does.
    fn step(&mut self, step: &ChainStep<'_>) {
        let _ = step;
    }

    /// A phase of the chain has finished.
    fn phase(&mut self, span: &ChainSpan) {
        let _ = span;
    }

    /// The request is allowed, with the object as it goes on: as it is stored, where a server stores it.
    fn admitted(&mut self, attributes: &Attributes<'_>) {
        let _ = attributes;
    }
}

/// Ignores all events.
impl ChainObserver for () {
    fn measures_time(&self) -> bool {
        false
    }
}

/// Logs undecided policies, and forwards events to another observer.
pub(crate) struct LoggingObserver<'o>(pub(crate) Option<&'o mut dyn pratique_policy::PolicyObserver>);

impl pratique_policy::PolicyObserver for LoggingObserver<'_> {
    fn decided(&mut self, decision: &pratique_policy::ObservedDecision<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.decided(decision);
        }
    }

    fn mutating(&mut self, mutating: &pratique_policy::MutationAttempt<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.mutating(mutating);
        }
    }

    fn conditions(&mut self, conditions: &pratique_policy::Conditions<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.conditions(conditions);
        }
    }

    fn ignored(&mut self, failure: &pratique_policy::IgnoredFailure) {
        if let Some(observer) = &mut self.0 {
            observer.ignored(failure);
        }
    }

    fn undecided(&mut self, undecided: &UndecidedDecision) {
        tracing::warn!("{undecided}");
        if let Some(observer) = &mut self.0 {
            observer.undecided(undecided);
        }
    }
}

/// The name of the [step](ChainStep) in which an [object model](crate::ObjectModel::prepare) prepares the object.
pub const PREPARATION: &str = "preparation";

/// The name of the [step](ChainStep) in which the prepared object is found to be invalid.
pub const VALIDATION: &str = "validation";

/// A part of the chain, as it left the request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChainStep<'a> {
    /// The name of the admission plugin, or of the step of the caller, or [`PREPARATION`], or [`VALIDATION`].
    pub name: &'a str,
    /// The phase of the chain that it belongs to.
    pub phase: AdmissionPhase,
    /// Whether it ran in the second round of the mutating phase.
    pub is_reinvoked: bool,
    /// The request, with the object as this part left it.
    pub attributes: Attributes<'a>,
    /// Whether something took the object to change it since the step before. If nothing did, it is as that left it.
    pub may_differ: bool,
    /// The result for the request.
    pub result: StepResult<'a>,
}

/// The result of a part of the chain for a request.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepResult<'a> {
    /// It lets the request pass.
    Passed,
    /// It refuses the request.
    Refused(&'a Status),
    /// It depends on missing input.
    Undecided(&'a UndecidedDecision),
    /// It was not finished.
    Unfinished,
}

impl<'a> StepResult<'a> {
    pub(crate) fn new(ended: &'a Result<(), ChainEnd>) -> Self {
        match ended {
            Ok(()) => StepResult::Passed,
            Err(ChainEnd::Refused(status, _)) => StepResult::Refused(status),
            Err(ChainEnd::Undecided(undecided)) => StepResult::Undecided(undecided),
            Err(ChainEnd::Unfinished(_)) => StepResult::Unfinished,
        }
    }
}

/// The run of a part of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainSpan {
    /// The phase of the chain that it belongs to.
    pub phase: AdmissionPhase,
    /// The operation of the request.
    pub operation: Operation,
    /// Whether it rejected the request.
    pub rejected: bool,
    /// How long it took; zero where its observer does not [measure](ChainObserver::measures_time) it.
    pub elapsed: Duration,
}
