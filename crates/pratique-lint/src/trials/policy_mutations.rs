//! The mutations of a policy, all of them or the first few: which of them leaves what a server refuses.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_sample::{CustomKinds, MutationTrial, SampleServer, ServerFinding};
use pratique_schema::FeatureGates;
use pratique_types::AdmissionRequest;

/// The mutations of a policy, to try over objects.
pub(super) struct PolicyMutations<'m> {
    pub(super) gates: FeatureGates,
    pub(super) manifest: &'m api::MutatingAdmissionPolicy,
    pub(super) custom: Arc<CustomKinds>,
}

impl PolicyMutations<'_> {
    /// All of them.
    pub(super) fn trial(&self) -> MutationTrial {
        self.compile(self.manifest)
    }

    /// The mutation that leaves what a server finds in the result of all: the result of those before it does not have it.
    pub(super) fn find_cause(
        &self,
        finding: &ServerFinding,
        server: &SampleServer,
        (request, allowed): (&AdmissionRequest<'static>, bool),
    ) -> usize {
        // What is stored of none of their changes is about all of them.
        if matches!(finding, ServerFinding::Dropped { .. }) {
            return 0;
        }
        let mutations = self
            .manifest
            .spec
            .as_ref()
            .and_then(|spec| spec.mutations.as_ref());
        let is_left_by = |count: usize| {
            let mut first = self.manifest.clone();
            if let Some(mutations) = first.spec.as_mut().and_then(|spec| spec.mutations.as_mut()) {
                mutations.truncate(count);
            }
            let findings = server.review(&self.compile(&first), request, allowed);
            findings.contains(finding)
        };
        // None of them leaves it without any, and all do: between these is one that does, after those before it that do not.
        let (mut without, mut with) = (0, mutations.map_or(0, Vec::len));
        while with.saturating_sub(without) > 1 {
            let between = without.midpoint(with);
            if is_left_by(between) {
                with = between;
            } else {
                without = between;
            }
        }
        without
    }

    fn compile(&self, manifest: &api::MutatingAdmissionPolicy) -> MutationTrial {
        MutationTrial::new(self.gates, manifest).with_custom_kinds(Arc::clone(&self.custom))
    }
}
