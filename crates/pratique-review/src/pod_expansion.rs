//! Of which workloads the Pods are reviewed, and the requests for these Pods.

use pratique_expansion::{Expander, ExpansionError, find_template};
use pratique_json::Value;
use pratique_request::pod_request;
use pratique_schema::Release;
use pratique_types::Operation;
use serde::Deserialize;

use crate::foreign_policy::PolicyEngine;
use crate::input::{ParentWorkload, ReviewInput};
use crate::pod_policies::PodPolicies;

/// When the Pods of workloads are reviewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpandMode {
    /// Where something that is evaluated is about Pods, and the workload is not refused.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Of which workloads the Pods are reviewed.
#[derive(Clone, Debug)]
pub struct PodExpansion<'a> {
    /// The release of the server, which says what a custom resource is.
    pub release: &'static Release,
    /// What finds the Pods of workloads.
    pub expander: Expander,
    /// When they are reviewed.
    pub mode: ExpandMode,
    /// What decides about them.
    pub policies: &'a PodPolicies<'a>,
    /// Whether a policy, a webhook or a plugin is evaluated at all.
    pub is_evaluated: bool,
}

/// Whether the Pods of a request's object are reviewed, as far as that is known before the object is completed.
#[derive(Clone, Debug)]
pub enum WorkloadPods {
    /// No controller makes Pods of it.
    None,
    /// They are not reviewed.
    NotEvaluated,
    /// A custom resource has a Pod template at these fields, of which nobody said that a controller makes Pods.
    Custom(String),
    /// With the reason why there can be none: completing an object makes an empty template where there is none.
    Evaluated(Result<(), ExpansionError>),
}

impl PodExpansion<'_> {
    /// Whether the Pods of a request's object are reviewed; `has_pods` is whether they are inputs themselves, if they exist.
    pub fn pods_of(&self, input: &ReviewInput<'_>, has_pods: bool) -> WorkloadPods {
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

    /// What there is to say of the Pods of one request, if they are not reviewed.
    pub fn unreviewed_note(&self, pods: &WorkloadPods, input: &ReviewInput<'_>) -> Option<String> {
        match pods {
            WorkloadPods::None | WorkloadPods::Evaluated(_) => None,
            WorkloadPods::NotEvaluated => {
                let workload = input.request.resource.group_resource();
                let blind = self.policies.not_matching(std::iter::once(&workload));
                (!blind.is_empty()).then(|| {
                    format!(
                        "the Pods of the workload are not reviewed, nor are the policies for Pods evaluated: {}",
                        blind.join(", ")
                    )
                })
            }
            WorkloadPods::Custom(path) => Some(format!(
                "if a controller makes Pods of {path}, they are not reviewed: policies for Pods are evaluated for a Pod that is given"
            )),
        }
    }

    /// Whether a request is one to store a custom resource.
    fn is_custom(&self, input: &ReviewInput<'_>) -> bool {
        let group = &input.request.kind.group;
        // What is like a Pod template in the policy of another engine is a pattern.
        let is_foreign = PolicyEngine::from_group(group).is_some();
        is_stored(input) && !is_foreign && !self.release.resources().has_group(group)
    }

    /// Whether a request is one for a workload, of which a controller makes Pods.
    fn makes_pods(&self, input: &ReviewInput<'_>) -> bool {
        let request = &input.request;
        is_stored(input) && self.expander.is_workload(&request.kind.group, &request.kind.kind)
    }

    /// The request for the Pod of a workload, whose object is as policies leave it; `None` if none is reviewed.
    ///
    /// # Errors
    /// The workload has no Pod template.
    pub fn pod<'v>(
        &self,
        pods: &WorkloadPods,
        is_refused: bool,
        object: &'v Value<'_>,
        workload: &ReviewInput<'_>,
    ) -> Result<Option<ReviewInput<'v>>, ExpansionError> {
        let WorkloadPods::Evaluated(template) = pods else {
            return Ok(None);
        };
        // No controller sees a workload that is refused.
        if workload.received.is_err() || (is_refused && self.mode != ExpandMode::On) {
            return Ok(None);
        }
        template.clone()?;
        let made = self.expander.pod(object)?;
        Ok(made.map(|made| ReviewInput {
            parent: Some(ParentWorkload {
                kind: workload.request.kind.kind.clone(),
                name: workload.name().to_owned(),
            }),
            ..ReviewInput::new(pod_request(made, &workload.request), Ok::<_, String>(Vec::new()))
        }))
    }
}

/// Whether a request is one to store an object.
fn is_stored(input: &ReviewInput<'_>) -> bool {
    let request = &input.request;
    matches!(request.operation, Operation::Create | Operation::Update)
        && request.sub_resource.is_empty()
        && input.received.is_ok()
}
