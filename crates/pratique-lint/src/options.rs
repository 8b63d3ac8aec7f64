//! The options of lints.

use std::sync::Arc;
use std::time::SystemTime;

use pratique_sample::{CustomKinds, SampleMemory, SampleObjects, SampleSpec};
use pratique_schema::{FeatureGates, Release};

use crate::interruption::LintInterruption;
use crate::lint_meta::LintMeta;
use crate::observations::ObservationMemory;

/// Options of [`lint_with`](crate::lint_with): findings that are off by default, and settings of the server.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    requested: Vec<&'static str>,
    disabled: Vec<&'static str>,
    pub(crate) now: Option<SystemTime>,
    pub(crate) feature_gates: FeatureGates,
    pub(crate) custom_kinds: Arc<CustomKinds>,
    /// Where objects are kept for the next time, if there may be one.
    pub(crate) samples: Option<Arc<SampleMemory>>,
    /// Where observations are kept for the next time, if there may be one.
    pub(crate) observations: Option<Arc<ObservationMemory>>,
    /// What ends the trials of a policy; they are not complete then.
    pub(crate) interruption: LintInterruption,
}

impl LintOptions {
    /// Enables the findings of a lint that are reported on request only.
    #[must_use]
    pub fn with_requested(mut self, lint: &LintMeta) -> Self {
        self.requested.push(lint.name);
        self
    }

    /// Leaves a lint out: it is not run, and costs nothing.
    #[must_use]
    pub fn without(mut self, lint: &LintMeta) -> Self {
        self.disabled.push(lint.name);
        self
    }

    /// Sets the current time, against which the validity of certificates is checked.
    #[must_use]
    pub fn at(self, now: SystemTime) -> Self {
        LintOptions {
            now: Some(now),
            ..self
        }
    }

    /// Sets the release and the feature gates of the server.
    #[must_use]
    pub fn feature_gates(self, feature_gates: FeatureGates) -> Self {
        LintOptions {
            feature_gates,
            ..self
        }
    }

    /// Sets the custom resources of the cluster, over whose objects policies are tried.
    #[must_use]
    pub fn custom_kinds(self, custom_kinds: Arc<CustomKinds>) -> Self {
        LintOptions { custom_kinds, ..self }
    }

    /// The release of the server, which says what there is to match and how it is typed.
    pub(crate) fn release(&self) -> &'static Release {
        self.feature_gates.release()
    }

    /// The objects of a specification.
    pub(crate) fn sample_objects(&self, spec: &SampleSpec<'_>) -> Arc<SampleObjects> {
        match &self.samples {
            Some(samples) => samples.objects(spec),
            None => Arc::new(SampleObjects::new(spec)),
        }
    }

    /// Whether a lint is run.
    pub fn is_enabled(&self, lint: &LintMeta) -> bool {
        !self.disabled.contains(&lint.name)
    }

    /// Whether the findings of a lint that are reported on request only are enabled.
    pub fn is_requested(&self, lint: &LintMeta) -> bool {
        self.requested.contains(&lint.name)
    }
}
