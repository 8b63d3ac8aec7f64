//! Observers of one request's run through the chain: they count, log or show it.

use std::time::Duration;

pub use pratique_policy::Phase as Half;
use pratique_policy::Undecided;
use pratique_types::Operation;

/// Is told of a request's run through the chain. All methods do nothing unless implemented.
pub trait ChainObserver: Send {
    /// The observer of its policies.
    fn policies(&mut self) -> Option<&mut dyn pratique_policy::Observer> {
        None
    }

    /// The observer of its calls of webhooks.
    #[cfg(feature = "webhooks")]
    fn webhooks(&mut self) -> Option<&mut dyn pratique_webhook::Observer> {
        None
    }

    /// A part of the chain is done with the request: an admission plugin, by its name, or a step of the caller.
    fn part(&mut self, name: &str, span: &Span) {
        let _ = (name, span);
    }

    /// A half of the chain is done with the request.
    fn half(&mut self, span: &Span) {
        let _ = span;
    }
}

/// Listens to nothing.
impl ChainObserver for () {}

/// Logs what is undecided, and hands on what is told.
pub(crate) struct Logging<'o>(pub(crate) Option<&'o mut dyn pratique_policy::Observer>);

impl pratique_policy::Observer for Logging<'_> {
    fn decided(&mut self, decision: &pratique_policy::Decision<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.decided(decision);
        }
    }

    fn mutating(&mut self, mutating: &pratique_policy::Mutating<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.mutating(mutating);
        }
    }

    fn conditions(&mut self, conditions: &pratique_policy::Conditions<'_>) {
        if let Some(observer) = &mut self.0 {
            observer.conditions(conditions);
        }
    }

    fn undecided(&mut self, undecided: &Undecided) {
        tracing::warn!("{undecided}");
        if let Some(observer) = &mut self.0 {
            observer.undecided(undecided);
        }
    }
}

/// What a part of the chain did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Which half of the chain it is in.
    pub half: Half,
    /// What the request does.
    pub operation: Operation,
    /// Whether the request went no further.
    pub rejected: bool,
    /// How long it took.
    pub elapsed: Duration,
}
