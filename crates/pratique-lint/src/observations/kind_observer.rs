//! A policy that is tried with requests, of which those that it cannot tell apart are evaluated once.

use std::collections::HashMap;

use pratique_json::Value;
use pratique_sample::{
    ObservedPolicy, ObservedRun, PolicyObservation, SampleExtent, SampleInput, SampleSpec,
};

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

impl KindObserver<'_> {
    /// Adds observations by operation.
    pub(super) fn observe(
        &self,
        spec: &SampleSpec<'_>,
        inputs: &[SampleInput<'_>],
        by_operation: &mut OperationMap,
    ) {
        for run in self.observed.runs() {
            if self.interruption.has_come() {
                break;
            }
            self.observe_run(run, spec, inputs, by_operation);
        }
    }

    /// The observations of a run. Of requests that it cannot tell apart one is evaluated.
    fn observe_run<'i>(
        &self,
        run: &ObservedRun,
        spec: &SampleSpec<'_>,
        inputs: &'i [SampleInput<'i>],
        by_operation: &mut OperationMap,
    ) {
        let kind = &spec.served.kind.kind;
        let footprint = self.observed.footprint(run, kind, &self.parsed.asts);
        let mut groups: Vec<AlikeInputs<'i>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut last: Option<(&Value<'_>, usize)> = None;
        for input in inputs {
            if self.interruption.has_come() {
                break;
            }
            let next = groups.len();
            let group = match (&footprint, last) {
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
