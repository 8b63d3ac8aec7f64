//! Workloads whose Pods were not reviewed, and the policies that would have matched these Pods.

use std::collections::BTreeMap;

use pratique_review::PodPolicies;
use pratique_types::GroupResource;

use crate::evaluation::input_request::InputRequest;
use crate::output::counted::first_names;
use crate::output::notice::Notice;
use crate::policies::NAMED;

/// Workloads whose Pods were not reviewed.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnexpandedWorkloads {
    /// How many there are of each resource.
    resources: BTreeMap<GroupResource, usize>,
    /// Where the first of them is.
    place: String,
}

impl UnexpandedWorkloads {
    /// Counts the workload of a request.
    pub(crate) fn count(&mut self, input: &InputRequest<'_>) {
        if self.resources.is_empty() {
            self.place = input.place();
        }
        let resource = input.request.resource.group_resource();
        *self.resources.entry(resource).or_default() += 1;
    }

    /// Adds those of a later part.
    pub(crate) fn add(&mut self, other: UnexpandedWorkloads) {
        if self.resources.is_empty() {
            self.place = other.place;
        }
        for (resource, count) in other.resources {
            *self.resources.entry(resource).or_default() += count;
        }
    }

    /// The warning about the workloads: the policies that match Pods and not all of these. `help` says what looks at them.
    pub(crate) fn warning(&self, policies: &PodPolicies<'_>, help: &str) -> Option<Notice> {
        let blind = policies.not_matching(self.resources.keys());
        if blind.is_empty() {
            return None;
        }
        let count: usize = self.resources.values().sum();
        let (pods, policies) = match (count, blind.len()) {
            (1, 1) => ("the Pods of 1 workload are", "1 policy for Pods is"),
            (1, _) => ("the Pods of 1 workload are", "policies for Pods are"),
            (_, 1) => ("the Pods of workloads are", "1 policy for Pods is"),
            (_, _) => ("the Pods of workloads are", "policies for Pods are"),
        };
        let message = format!(
            "{pods} not reviewed, and {policies} not evaluated for them ({}): {help}",
            first_names(&blind, NAMED)
        );
        Some(Notice::new("not-evaluated", self.place.clone(), message))
    }
}
