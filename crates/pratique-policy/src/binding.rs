//! Bindings, compiled.

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pratique_json::Value;
use pratique_match::{MatchResources, Target};
use pratique_types::GroupVersionKind;

use crate::cluster::Cluster;
use crate::params::ParamRef;

/// A compiled binding.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// The policy's name as the binding writes it.
    pub(crate) policy: String,
    /// `None` matches all that the policy matches.
    pub(crate) resources: Option<MatchResources>,
    pub(crate) param_ref: Option<ParamRef>,
    /// None for a mutating policy.
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
    pub(crate) fn validating(binding: &api::ValidatingAdmissionPolicyBinding) -> Self {
        let spec = &binding.spec;
        let actions = spec.validation_actions.iter();
        Binding {
            actions: actions.filter_map(|name| Action::of(name)).collect(),
            action_names: spec.validation_actions.clone(),
            ..Binding::of(
                &binding.metadata,
                &spec.policy_name,
                spec.match_resources.as_ref(),
                spec.param_ref.as_ref(),
            )
        }
    }

    pub(crate) fn mutating(binding: &api::MutatingAdmissionPolicyBinding) -> Self {
        let spec = binding.spec.clone().unwrap_or_default();
        Binding::of(
            &binding.metadata,
            spec.policy_name.as_deref().unwrap_or_default(),
            spec.match_resources.as_ref(),
            spec.param_ref.as_ref(),
        )
    }

    fn of(
        metadata: &ObjectMeta,
        policy: &str,
        resources: Option<&api::MatchResources>,
        param_ref: Option<&api::ParamRef>,
    ) -> Self {
        Binding {
            name: metadata.name.clone().unwrap_or_default(),
            policy: policy.to_owned(),
            resources: resources.map(|resources| MatchResources::compile(Some(resources))),
            param_ref: param_ref.map(ParamRef::compile),
            actions: Vec::new(),
            action_names: Vec::new(),
        }
    }

    /// Whether a request matches; the error is that of the binding's configuration.
    pub(crate) fn matches(&self, target: &Target<'_>, cluster: &dyn Cluster) -> Result<bool, String> {
        let Some(resources) = &self.resources else {
            return Ok(true);
        };
        let matched = resources.matches(target, cluster.equivalents(), cluster);
        matched
            .map(|matched| matched.is_some())
            .map_err(|error| error.to_string())
    }

    /// The params to judge with, one after the other: a policy or binding without params judges once, with none.
    pub(crate) fn params<'s>(
        &self,
        kind: Option<&GroupVersionKind>,
        namespace: &str,
        cluster: &'s dyn Cluster,
    ) -> Result<Vec<Option<&'s Value<'s>>>, String> {
        let (Some(kind), Some(param_ref)) = (kind, &self.param_ref) else {
            return Ok(vec![None]);
        };
        let Some(scope) = cluster.param_scope(kind) else {
            return Ok(Vec::new());
        };
        let found = param_ref.find(kind, scope, namespace, cluster);
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(Some).collect())
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
