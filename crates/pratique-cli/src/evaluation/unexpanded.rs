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
    given: WorkloadCount,
    /// Those of exports of etcd, which have the Pods that there are beside them.
    stored: WorkloadCount,
}

/// How many workloads there are.
#[derive(Clone, Debug, Default)]
struct WorkloadCount {
    /// By resource.
    resources: BTreeMap<GroupResource, usize>,
    /// Where the first of them is.
    place: String,
}

impl UnexpandedWorkloads {
    /// Counts the workload of a request; `is_stored` is whether the Pods of it that exist are inputs as well.
    pub(crate) fn count(&mut self, input: &InputRequest<'_>, is_stored: bool) {
        let counted = if is_stored {
            &mut self.stored
        } else {
            &mut self.given
        };
        counted.add(WorkloadCount {
            resources: BTreeMap::from([(input.request.resource.group_resource(), 1)]),
            place: input.place(),
        });
    }

    /// Adds those of a later part.
    pub(crate) fn add(&mut self, other: UnexpandedWorkloads) {
        self.given.add(other.given);
        self.stored.add(other.stored);
    }

    /// The warnings about the workloads: the policies that match Pods and not all of these.
    pub(crate) fn warnings(&self, policies: &PodPolicies<'_>) -> impl Iterator<Item = Notice> {
        let given = self.given.warning(policies, |count, policies| {
            let pods = match count {
                1 => "the Pods of 1 workload are",
                _ => "the Pods of workloads are",
            };
            format!("{pods} not reviewed, and {policies} not evaluated for them")
        });
        let stored = self.stored.warning(policies, |count, policies| {
            let (workloads, their) = match count {
                1 => ("a stored workload was".to_owned(), "its"),
                _ => (format!("{count} stored workloads were"), "their"),
            };
            format!(
                "{workloads} not expanded: {their} Pods are evaluated as far as they are among the inputs, and {policies} not \
                 evaluated for those to come"
            )
        });
        [given, stored].into_iter().flatten()
    }
}

impl WorkloadCount {
    fn add(&mut self, other: WorkloadCount) {
        if self.resources.is_empty() {
            self.place = other.place;
        }
        for (resource, count) in other.resources {
            *self.resources.entry(resource).or_default() += count;
        }
    }

    /// The warning about so many workloads and the policies that are not evaluated, if there are any.
    fn warning(
        &self,
        policies: &PodPolicies<'_>,
        describe: impl FnOnce(usize, &str) -> String,
    ) -> Option<Notice> {
        let blind = policies.not_matching(self.resources.keys());
        if self.resources.is_empty() || blind.is_empty() {
            return None;
        }
        let count = self.resources.values().sum();
        let policies = match blind.len() {
            1 => "1 policy for Pods is",
            _ => "policies for Pods are",
        };
        let message = format!(
            "{} ({}): --expand does",
            describe(count, policies),
            first_names(&blind, NAMED)
        );
        Some(Notice::new("not-evaluated", self.place.clone(), message))
    }
}
