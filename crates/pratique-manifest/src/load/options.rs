//! How manifests are loaded.

use pratique_workers::{Alone, Workers};

use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::expression::ExpressionCompiler;

/// How to load.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    expressions: &'a dyn ExpressionCompiler,
    workers: &'a dyn Workers,
    max_bytes: u64,
}

impl<'a> Options<'a> {
    /// Has the CEL expressions of policies and webhooks compiled by `expressions`, and does all on the thread that asks.
    #[must_use]
    pub fn new(expressions: &'a dyn ExpressionCompiler) -> Self {
        Self {
            expressions,
            workers: &Alone,
            max_bytes: DEFAULT_LOAD_BYTES,
        }
    }

    /// Takes others' help with whatever takes long. The outcome is the same.
    #[must_use]
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        Self { workers, ..self }
    }

    /// Bounds the memory that a load takes, in bytes, [`DEFAULT_LOAD_BYTES`] otherwise: of files, of the values in them
    /// with YAML aliases expanded, and of what is wrong with these. It is an estimate from lengths and numbers. A load
    /// that needs more is refused as a whole.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.max_bytes)
    }

    pub(crate) fn expressions(&self) -> &'a dyn ExpressionCompiler {
        self.expressions
    }

    pub(crate) fn workers(&self) -> &'a dyn Workers {
        self.workers
    }
}

/// Whether the texts of documents are kept when their objects have loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// For those who ask where a field stands.
    Kept,
    /// Nobody will ask.
    LetGo,
}
