//! The Pods of workloads, at the places of the workloads.

use std::ops::Deref;

use pratique_json::Value;
use pratique_report::Decision;
use pratique_review::{ExpandMode, PodExpansion, PodPolicies, WorkloadPods};
use pratique_schema::Release;

use crate::arguments::ExpandArguments;
use crate::evaluation::input_request::InputRequest;
use crate::input::InputError;

/// Of which workloads the Pods are evaluated.
pub(crate) struct ExpansionRule<'a>(PodExpansion<'a>);

impl<'a> ExpansionRule<'a> {
    /// The rule of the arguments.
    pub(crate) fn new(
        release: &'static Release,
        arguments: &ExpandArguments,
        policies: &'a PodPolicies<'a>,
        is_evaluated: bool,
    ) -> Self {
        ExpansionRule(PodExpansion {
            release,
            expander: arguments.expander(),
            mode: arguments.expand.into(),
            policies,
            is_evaluated,
        })
    }

    /// The rule for updates that change nothing, which make no Pods unless these are asked for.
    pub(crate) fn of_unchanged_objects(self) -> Self {
        let mode = match self.mode {
            ExpandMode::Auto => ExpandMode::Off,
            mode => mode,
        };
        ExpansionRule(PodExpansion { mode, ..self.0 })
    }

    /// The request for the Pod of a workload, whose object is as policies leave it; `None` if none is evaluated.
    ///
    /// # Errors
    /// The workload has no Pod template.
    pub(crate) fn pod<'v>(
        &self,
        pods: &WorkloadPods,
        decision: Option<Decision>,
        object: &'v Value<'_>,
        workload: &InputRequest<'_>,
    ) -> Result<Option<InputRequest<'v>>, InputError> {
        let is_refused = decision.is_some_and(Decision::denies);
        match self.0.pod(pods, is_refused, object, workload) {
            Ok(pod) => Ok(pod.map(|input| InputRequest {
                input,
                location: workload.location.clone(),
                origin: workload.origin.clone(),
            })),
            Err(fault) => Err(InputError::Faulty {
                place: workload.place(),
                why: fault.to_string(),
            }),
        }
    }

    /// The request for the Pod of a workload of which only one decision is counted: [`pod`](Self::pod), except that a workload
    /// without a template that is refused is refused.
    pub(crate) fn counted_pod<'v>(
        &self,
        pods: &WorkloadPods,
        decision: Decision,
        object: &'v Value<'_>,
        workload: &InputRequest<'_>,
    ) -> Result<Option<InputRequest<'v>>, InputError> {
        match self.pod(pods, Some(decision), object, workload) {
            Err(_) if decision.denies() => Ok(None),
            pod => pod,
        }
    }
}

impl<'a> Deref for ExpansionRule<'a> {
    type Target = PodExpansion<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
