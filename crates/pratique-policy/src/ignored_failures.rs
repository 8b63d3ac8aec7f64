//! Failures that failure policies ignore, and the text of those that both kinds of policies have.

use crate::binding::CompiledBinding;
use crate::observer::{FailedPart, IgnoredFailure, PolicyObserver};
use crate::policy_core::PolicyCore;

/// The failures of a run that failure policies ignore.
#[derive(Debug, Default)]
pub(crate) struct IgnoredFailures(Vec<IgnoredFailure>);

impl IgnoredFailures {
    /// Adds the failure of a part of a policy.
    pub(crate) fn add(
        &mut self,
        core: &PolicyCore,
        binding: Option<CompiledBinding<'_>>,
        part: FailedPart,
        error: impl Into<String>,
    ) {
        let failure = IgnoredFailure {
            policy: core.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            part,
            error: error.into(),
        };
        // A policy may fail in the same way with each of very many params.
        if self.0.last() != Some(&failure) {
            self.0.push(failure);
        }
    }

    /// Reports them.
    pub(crate) fn report(&self, observer: &mut dyn PolicyObserver) {
        self.0.iter().for_each(|failure| observer.ignored(failure));
    }
}

/// The text of an error of a policy's configuration, or of a binding's.
pub(crate) fn configuration_error(binding: Option<CompiledBinding<'_>>, error: &str) -> String {
    let subject = if binding.is_some() { "binding" } else { "policy" };
    format!("failed to configure {subject}: {error}")
}
