//! The Pods of workloads, evaluated as `pratique review` does.

use pratique_expansion::Expander;
use pratique_request::pod_request;
use pratique_review::{PodPolicies, ReviewInput, unbound};
use pratique_types::{AdmissionRequest, Operation};

use crate::evaluate::DecisionEngine;
use crate::findings::Finding;
use crate::input::RequestInput;
use crate::policies::LoadedPolicies;
use crate::request::Expand;

/// A workload whose Pod is evaluated.
pub(crate) struct ExpandedWorkload {
    expander: Expander,
    mode: Expand,
    /// Why there is no Pod: defaulting makes an empty template where there is none.
    fault: Option<String>,
}

impl ExpandedWorkload {
    /// The workload of an input that is not completed yet; `None` if no Pod is evaluated.
    pub(crate) fn new(input: &RequestInput, mode: Expand, loaded: &LoadedPolicies) -> Option<Self> {
        let input = &input.review;
        let (request, expander) = (&input.request, Expander::default());
        let makes_pods = matches!(request.operation, Operation::Create | Operation::Update)
            && request.sub_resource.is_empty()
            && input.received.is_ok()
            && expander.is_workload(&request.kind.group, &request.kind.kind);
        let is_wanted = match mode {
            Expand::On => true,
            Expand::Off => false,
            Expand::Auto => decide_about_pods_of(request, loaded),
        };
        if !(makes_pods && is_wanted) {
            return None;
        }
        let fault = expander.pod(&request.object).err();
        Some(ExpandedWorkload {
            fault: fault.map(|error| error.to_string()),
            expander,
            mode,
        })
    }

    /// Evaluates the Pod of the workload, whose request was decided and completed, and adds the decision to that on the workload.
    pub(crate) fn decide_pod(
        self,
        engine: &DecisionEngine<'_>,
        decided: &mut DecidedRequest,
    ) -> Result<(), Box<Finding>> {
        // No controller sees a workload that is refused.
        if self.mode == Expand::Auto && decided.report.is_refused() {
            return Ok(());
        }
        let fault = |why: String| Box::new(Finding::plain("not-evaluated", why).within("object"));
        if let Some(why) = self.fault {
            return Err(fault(why));
        }
        let object = decided.report.object().unwrap_or(&decided.request.object);
        let made = self
            .expander
            .pod(object)
            .map_err(|error| fault(error.to_string()))?;
        let Some(made) = made else { return Ok(()) };
        let request = pod_request(made, &decided.request).into_owned();
        let pod = ReviewInput::new(request, Ok::<_, String>(Vec::new()));
        let name = pod.name().to_owned();
        let of_pod = engine.decide(RequestInput::from(pod))?;
        decided.report.add_pod(name, of_pod.report);
        Ok(())
    }
}

/// A decision, and its request as it was completed.
pub(crate) struct DecidedRequest {
    pub(crate) report: crate::decision_report::DecisionReport,
    pub(crate) request: AdmissionRequest<'static>,
}

/// Whether a policy that is evaluated decides about the Pods of the workload of a request.
fn decide_about_pods_of(request: &AdmissionRequest<'_>, loaded: &LoadedPolicies) -> bool {
    let sets = || loaded.sets.iter().map(|(_, set)| set);
    let count: usize = sets()
        .map(|set| set.validating_policies.len() + set.mutating_policies.len())
        .sum();
    let is_evaluated = count > unbound(&loaded.sets).len() || !loaded.stored.is_empty();
    let stored = loaded.stored.iter();
    let policies = PodPolicies::new(sets(), false)
        .with_rules(stored.map(|policy| (policy.name.as_str(), policy.rules.as_slice())));
    is_evaluated && policies.decide_about_pods_of(&request.resource.group_resource())
}
