//! How manifests are loaded.

use pratique_workers::{Sequential, Workers};

use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::expression::ExpressionCompiler;
use crate::load::rewrites::UnstableFile;

/// How to load manifests.
#[derive(Clone, Copy)]
pub struct LoadOptions<'a> {
    expressions: &'a dyn ExpressionCompiler,
    workers: &'a dyn Workers,
    max_bytes: u64,
    pause: Option<&'a (dyn Fn(&UnstableFile) + Sync)>,
}

impl<'a> LoadOptions<'a> {
    /// Compiles the CEL expressions of policies and webhooks with `expressions`, and does all work on the calling thread.
    #[must_use]
    pub fn new(expressions: &'a dyn ExpressionCompiler) -> Self {
        Self {
            expressions,
            workers: &Sequential,
            max_bytes: DEFAULT_LOAD_BYTES,
            pause: None,
        }
    }

    /// Divides long work among these workers. The result is the same.
    #[must_use]
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        Self { workers, ..self }
    }

    /// Bounds the memory of a load, in bytes ([`DEFAULT_LOAD_BYTES`] by default): of files, of the values in them with YAML
    /// aliases expanded, and of errors. The memory is estimated from lengths and numbers. A load that needs more fails as a
    /// whole.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Has a [`Loader`](crate::Loader) and a [`ConfigurationLoader`](crate::ConfigurationLoader) load a directory again
    /// while a file of it may be incomplete because it was written to a moment ago. `pause` is expected to return after the
    /// delay of the file. This ends: see [`RewriteDelays::max`](crate::RewriteDelays::max).
    #[must_use]
    pub fn with_pause(self, pause: &'a (dyn Fn(&UnstableFile) + Sync)) -> Self {
        Self {
            pause: Some(pause),
            ..self
        }
    }

    pub(crate) fn pause(&self) -> Option<&'a (dyn Fn(&UnstableFile) + Sync)> {
        self.pause
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

/// Whether the texts of documents are kept once their objects are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceTexts {
    /// Kept, so that fields can be located.
    Kept,
    /// Discarded, which saves memory: every place is then the start of the document.
    Discarded,
}
