//! Bindings, compiled.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_match::MatchResources;

use crate::params::ParamRef;

/// A compiled binding of a validating policy.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// The policy's name as the binding writes it.
    pub(crate) policy: String,
    /// `None` matches all that the policy matches.
    pub(crate) resources: Option<MatchResources>,
    pub(crate) param_ref: Option<ParamRef>,
    pub(crate) actions: Vec<Action>,
    /// The actions as they are written, for the audit log.
    pub(crate) action_names: Vec<String>,
}

/// What a failed validation leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Deny,
    Warn,
    Audit,
}

impl Binding {
    pub(crate) fn compile(binding: &api::ValidatingAdmissionPolicyBinding) -> Self {
        let spec = &binding.spec;
        let resources = spec.match_resources.as_ref();
        let actions = spec.validation_actions.iter();
        Binding {
            name: binding.metadata.name.clone().unwrap_or_default(),
            policy: spec.policy_name.clone(),
            resources: resources.map(|resources| MatchResources::compile(Some(resources))),
            param_ref: spec.param_ref.as_ref().map(ParamRef::compile),
            actions: actions.filter_map(|name| Action::of(name)).collect(),
            action_names: spec.validation_actions.clone(),
        }
    }
}

impl Action {
    /// Unknown actions do nothing.
    fn of(name: &str) -> Option<Self> {
        match name {
            "Deny" => Some(Action::Deny),
            "Warn" => Some(Action::Warn),
            "Audit" => Some(Action::Audit),
            _ => None,
        }
    }
}
