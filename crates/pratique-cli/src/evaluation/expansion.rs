//! Of which workloads the Pods are evaluated, and the requests for these Pods.

use pratique_expansion::{Expander, ExpansionError, find_template};
use pratique_json::Value;
use pratique_review::{PodPolicies, PolicyEngine};
use pratique_schema::Release;
use pratique_types::Operation;

use crate::arguments::{ExpandArguments, ExpandMode};
use crate::evaluation::decision::RequestDecision;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::request::pod_input;
use crate::input::InputError;

/// Of which workloads the Pods are evaluated.
pub(crate) struct ExpansionRule<'a> {
    /// The release of the server, which says what a custom resource is.
    release: &'static Release,
    expander: Expander,
    pub(crate) mode: ExpandMode,
    policies: &'a PodPolicies<'a>,
    /// Whether a policy, a webhook or a plugin is evaluated at all.
    is_evaluated: bool,
}

/// Whether the Pods of a request's object are evaluated, as far as that is known before the object is completed.
pub(crate) enum WorkloadPods {
    /// No controller makes Pods of it.
    None,
    NotEvaluated,
    /// A custom resource has a Pod template at these fields, of which nobody said that a controller makes Pods.
    Custom(String),
    /// With the reason why there can be none: completing an object makes an empty template where there is none.
    Evaluated(Result<(), ExpansionError>),
}

impl<'a> ExpansionRule<'a> {
    /// The rule of the arguments.
    pub(crate) fn new(
        release: &'static Release,
        arguments: &ExpandArguments,
        policies: &'a PodPolicies<'a>,
        is_evaluated: bool,
    ) -> Self {
        ExpansionRule {
            release,
            expander: arguments.expander(),
            mode: arguments.expand,
            policies,
            is_evaluated,
        }
    }

    /// Whether the Pods of a request's object are evaluated; `has_pods` is whether they are inputs themselves, if they exist.
    pub(crate) fn pods_of(&self, input: &InputRequest<'_>, has_pods: bool) -> WorkloadPods {
        let workload = input.request.resource.group_resource();
        if !self.makes_pods(input) {
            let is_looked_for = !has_pods
                && self.is_evaluated
                && self.is_custom(input)
                && self.policies.decide_about_pods_of(&workload);
            let template = is_looked_for.then(|| find_template(&input.request.object));
            return template
                .flatten()
                .map_or(WorkloadPods::None, WorkloadPods::Custom);
        }
        let expands = match self.mode {
            ExpandMode::On => true,
            ExpandMode::Off => false,
            ExpandMode::Auto => {
                !has_pods && self.is_evaluated && self.policies.decide_about_pods_of(&workload)
            }
        };
        if expands {
            let made = self.expander.pod(&input.request.object);
            WorkloadPods::Evaluated(made.map(|_| ()))
        } else {
            WorkloadPods::NotEvaluated
        }
    }

    /// Whether a request is one to store a custom resource.
    fn is_custom(&self, input: &InputRequest<'_>) -> bool {
        let group = &input.request.kind.group;
        // What is like a Pod template in the policy of another engine is a pattern.
        let is_foreign = PolicyEngine::from_group(group).is_some();
        is_stored(input) && !is_foreign && !self.release.resources().has_group(group)
    }

    /// Whether a request is one for a workload, of which a controller makes Pods.
    fn makes_pods(&self, input: &InputRequest<'_>) -> bool {
        let request = &input.request;
        is_stored(input) && self.expander.is_workload(&request.kind.group, &request.kind.kind)
    }

    /// The request for the Pod of a workload, whose object is as policies leave it; `None` if none is evaluated.
    ///
    /// # Errors
    /// The workload has no Pod template.
    pub(crate) fn pod<'v>(
        &self,
        pods: &WorkloadPods,
        decision: Option<RequestDecision>,
        object: &'v Value<'_>,
        workload: &InputRequest<'_>,
    ) -> Result<Option<InputRequest<'v>>, InputError> {
        let WorkloadPods::Evaluated(template) = pods else {
            return Ok(None);
        };
        // No controller sees a workload that is refused.
        let is_refused = decision == Some(RequestDecision::Denied);
        if workload.received.is_err() || (is_refused && self.mode != ExpandMode::On) {
            return Ok(None);
        }
        let made = template.clone().and_then(|()| self.expander.pod(object));
        match made {
            Ok(made) => Ok(made.map(|made| pod_input(made, workload))),
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
        decision: RequestDecision,
        object: &'v Value<'_>,
        workload: &InputRequest<'_>,
    ) -> Result<Option<InputRequest<'v>>, InputError> {
        match self.pod(pods, Some(decision), object, workload) {
            Err(_) if decision == RequestDecision::Denied => Ok(None),
            pod => pod,
        }
    }
}

/// Whether a request is one to store an object.
fn is_stored(input: &InputRequest<'_>) -> bool {
    let request = &input.request;
    matches!(request.operation, Operation::Create | Operation::Update)
        && request.sub_resource.is_empty()
        && input.received.is_ok()
}
