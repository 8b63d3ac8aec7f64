//! The Pod Security Standards by themselves.

use crate::checks::Registry;
use crate::{LevelVersion, Pod, Version, Violation};

/// Evaluates pods against the Pod Security Standards.
#[derive(Debug)]
pub struct Evaluator(Registry);

impl Evaluator {
    /// The checks of kube-apiserver 1.36.
    pub fn new() -> Self {
        Evaluator(Registry::new(None))
    }

    /// The checks of a server that emulates an older version: later versions are as that one.
    pub fn emulating(version: Version) -> Self {
        Evaluator(Registry::new(Some(version)))
    }

    /// What a pod violates, in the order of messages; nothing if it is allowed.
    // Upstream: pod-security-admission/policy/registry.go, checkRegistry.EvaluatePod
    pub fn violations(&self, policy: LevelVersion, pod: &Pod<'_>) -> Vec<Violation> {
        self.0.violations(policy, pod)
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Evaluator::new()
    }
}
