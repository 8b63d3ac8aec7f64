//! A policy that is tried with requests, of which those that it cannot tell apart are evaluated once.

use std::collections::HashMap;

use pratique_json::Value;
use pratique_sample::{
    ObservedPolicy, ObservedRun, PolicyObservation, ReadFootprint, SampleExtent, SampleInput, SampleSpec,
};
use pratique_types::builtin::ServedResource;

use super::OperationMap;
use crate::analysis::ParsedExpressions;
use crate::interruption::LintInterruption;
use crate::subject::PolicyView;

/// Observes a policy with requests about objects of one kind after another.
pub(super) struct KindObserver<'o> {
    pub(super) policy: &'o PolicyView<'o>,
    pub(super) parsed: &'o ParsedExpressions,
    pub(super) observed: ObservedPolicy,
    pub(super) interruption: &'o LintInterruption,
}

/// The runs of a policy, each with what it reads of requests about a kind.
pub(super) struct ObservedRuns<'o> {
    runs: Vec<(&'o ObservedRun, Option<ReadFootprint>)>,
    /// Those of all runs; none if one may read anything.
    footprints: Vec<ReadFootprint>,
}

impl ObservedRuns<'_> {
    /// What all runs read; empty if one may read anything.
    pub(super) fn footprints(&self) -> &[ReadFootprint] {
        &self.footprints
    }
}

impl KindObserver<'_> {
    /// The runs for requests about a kind.
    pub(super) fn runs_of(&self, served: &ServedResource) -> ObservedRuns<'_> {
        let runs = self.observed.runs().iter();
        let with_footprint = |run| {
            let footprint = self.observed.footprint(run, &served.kind.kind, &self.parsed.asts);
            (run, footprint)
        };
        let runs: Vec<_> = runs.map(with_footprint).collect();
        let footprints: Option<Vec<ReadFootprint>> =
            runs.iter().map(|(_, footprint)| footprint.clone()).collect();
        ObservedRuns {
            runs,
            footprints: footprints.unwrap_or_default(),
        }
    }

    /// Adds observations by operation.
    pub(super) fn observe(
        &self,
        runs: &ObservedRuns<'_>,
        spec: &SampleSpec<'_>,
        inputs: &[SampleInput<'_>],
        by_operation: &mut OperationMap,
    ) {
        for (run, footprint) in &runs.runs {
            if self.interruption.has_come() {
                break;
            }
            self.observe_run((run, footprint.as_ref()), spec, inputs, by_operation);
        }
    }

    /// The observations of a run. Of requests that it cannot tell apart one is evaluated.
    fn observe_run<'i>(
        &self,
        (run, footprint): (&ObservedRun, Option<&ReadFootprint>),
        spec: &SampleSpec<'_>,
        inputs: &'i [SampleInput<'i>],
        by_operation: &mut OperationMap,
    ) {
        let mut groups: Vec<AlikeInputs<'i>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut last: Option<(&Value<'_>, usize)> = None;
        for input in inputs {
            if self.interruption.has_come() {
                break;
            }
            let next = groups.len();
            let group = match (footprint, last) {
                (None, _) => next,
                (Some(footprint), Some((object, group)))
                    if footprint.is_of_object(input) && std::ptr::eq(object, input.object()) =>
                {
                    group
                }
                (Some(footprint), _) => *known.entry(footprint.key(input)).or_insert(next),
            };
            last = Some((input.object(), group));
            if group == next {
                let request = input.request(spec);
                groups.push(AlikeInputs {
                    observation: self.observed.evaluate(run, &request, input.allows),
                    counts: HashMap::new(),
                });
            }
            let Some(alike) = groups.get_mut(group) else {
                continue;
            };
            let operation = input.operation.as_str();
            let of_operation = by_operation.entry(operation).or_default();
            let count = alike.counts.entry((operation, &*input.extent)).or_default();
            *count += 1;
            if *count == 1 {
                let outcomes = &alike.observation.outcomes;
                of_operation.add((self.policy, self.parsed), outcomes, &input.extent);
            }
        }
        for AlikeInputs { observation, counts } in groups {
            for ((operation, _), count) in counts {
                if let Some(of_operation) = by_operation.get_mut(operation) {
                    of_operation.coverage.add(&observation, count);
                    of_operation.count(self.policy, &observation.outcomes, count);
                }
            }
        }
    }
}

/// Requests that a run of a policy cannot tell apart.
struct AlikeInputs<'i> {
    observation: PolicyObservation,
    /// How many there are by operation and what their objects have.
    counts: HashMap<(&'static str, &'i SampleExtent), u32>,
}
