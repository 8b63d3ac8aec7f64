//! Bindings, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pratique_json::Value;
use pratique_match::MatchResources;
use pratique_types::GroupVersionKind;

use crate::cluster::Cluster;
use crate::constraints::Constraints;
use crate::params::ParamRef;

/// A compiled binding.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// The policy's name as the binding writes it.
    pub(crate) policy: String,
    /// `None` matches all that the policy matches.
    pub(crate) resources: Option<Arc<MatchResources>>,
    pub(crate) param_ref: Option<ParamRef>,
    /// None for a mutating policy.
    pub(crate) actions: Box<[Action]>,
    /// The actions as they are written, for the audit log.
    pub(crate) action_names: Box<[Box<str>]>,
}

/// What a failed validation leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Deny,
    Warn,
    Audit,
}

impl Binding {
    pub(crate) fn validating(
        binding: &api::ValidatingAdmissionPolicyBinding,
        constraints: &Constraints,
    ) -> Self {
        let spec = &binding.spec;
        let actions = spec.validation_actions.iter();
        Binding {
            actions: actions.filter_map(|name| Action::of(name)).collect(),
            action_names: spec
                .validation_actions
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            ..Binding::of(
                &binding.metadata,
                &spec.policy_name,
                spec.match_resources.as_ref(),
                spec.param_ref.as_ref(),
                constraints,
            )
        }
    }

    pub(crate) fn mutating(binding: &api::MutatingAdmissionPolicyBinding, constraints: &Constraints) -> Self {
        let spec = binding.spec.clone().unwrap_or_default();
        Binding::of(
            &binding.metadata,
            spec.policy_name.as_deref().unwrap_or_default(),
            spec.match_resources.as_ref(),
            spec.param_ref.as_ref(),
            constraints,
        )
    }

    fn of(
        metadata: &ObjectMeta,
        policy: &str,
        resources: Option<&api::MatchResources>,
        param_ref: Option<&api::ParamRef>,
        constraints: &Constraints,
    ) -> Self {
        Binding {
            name: metadata.name.clone().unwrap_or_default(),
            policy: policy.to_owned(),
            resources: resources
                .map(|resources| constraints.shared(MatchResources::compile(Some(resources)))),
            param_ref: param_ref.map(ParamRef::compile),
            actions: Box::default(),
            action_names: Box::default(),
        }
    }

    /// The params to judge with, one after the other: a policy or binding without params judges once, with none.
    pub(crate) fn params<'s>(
        &self,
        kind: Option<&GroupVersionKind>,
        namespace: &str,
        cluster: &'s dyn Cluster,
    ) -> Result<Params<'s>, String> {
        let (Some(kind), Some(param_ref)) = (kind, &self.param_ref) else {
            return Ok(Params::NoneNeeded);
        };
        let Some(scope) = cluster.param_scope(kind) else {
            return Ok(Params::Found(Vec::new()));
        };
        let found = param_ref.find(kind, scope, namespace, cluster);
        found.map(Params::Found).map_err(|error| error.to_string())
    }
}

/// The params to judge with.
#[derive(Debug)]
pub(crate) enum Params<'s> {
    /// One round, without.
    NoneNeeded,
    /// One round for each.
    Found(Vec<&'s Value<'s>>),
}

impl<'s> Params<'s> {
    /// One for each round.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = Option<&'s Value<'s>>> {
        let (without, found) = match self {
            Params::NoneNeeded => (Some(None), [].as_slice()),
            Params::Found(found) => (None, found.as_slice()),
        };
        without.into_iter().chain(found.iter().copied().map(Some))
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
