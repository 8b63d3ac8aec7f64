//! The policies of one origin, compiled.

use std::collections::HashMap;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::Cache;
use pratique_match::{MatchIndex, MatchResources};
use pratique_types::{GroupVersion, GroupVersionKind};

use crate::binding::Binding;
use crate::compiled::Expressions;

/// Where policies come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Static manifests: judged first, and may judge policies of the API.
    Static,
    /// The API.
    Api,
}

/// The validating policies of one origin with their bindings.
#[derive(Debug)]
pub struct Policies {
    pub(crate) origin: Origin,
    /// By name.
    pub(crate) policies: Vec<Policy>,
    pub(crate) index: MatchIndex,
}

/// A compiled policy with its bindings.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) constraints: MatchResources,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) param_kind: Option<GroupVersionKind>,
    pub(crate) expressions: Expressions,
    /// By name.
    pub(crate) bindings: Vec<Binding>,
}

/// What an error leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
    /// One that no API server accepts, by its name: fails.
    Unknown(String),
}

impl Policies {
    /// Compiles policies and bindings; the order of both is by name.
    ///
    /// An expression that does not compile fails when it is evaluated, as with policies that were stored by another
    /// version: refusing such policies is the business of validation. Policies of the API count only with a binding.
    pub fn compile<'a>(
        policies: impl IntoIterator<Item = &'a api::ValidatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = &'a api::ValidatingAdmissionPolicyBinding>,
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let mut bound: HashMap<String, Vec<Binding>> = HashMap::new();
        for binding in bindings {
            let binding = Binding::compile(binding);
            bound.entry(binding.policy.clone()).or_default().push(binding);
        }
        let compiled = policies.into_iter().filter_map(|policy| {
            let name = policy.metadata.name.clone().unwrap_or_default();
            let mut bindings = bound.remove(&name).unwrap_or_default();
            bindings.sort_by(|a, b| a.name.cmp(&b.name));
            if origin == Origin::Api && bindings.is_empty() {
                return None;
            }
            Policy::compile(name, policy, bindings, cache)
        });
        let mut policies: Vec<Policy> = compiled.collect();
        policies.sort_by(|a, b| a.name.cmp(&b.name));
        Policies {
            origin,
            index: MatchIndex::new(policies.iter().map(|policy| &policy.constraints)),
            policies,
        }
    }

    /// How many policies there are.
    pub fn len(&self) -> usize {
        self.policies.len()
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Where they come from.
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl Policy {
    /// `None` for a policy whose `paramKind` is no kind at all: an API server leaves it out.
    fn compile(
        name: String,
        policy: &api::ValidatingAdmissionPolicy,
        bindings: Vec<Binding>,
        cache: &Cache,
    ) -> Option<Self> {
        let spec = policy.spec.clone().unwrap_or_default();
        let param_kind = match &spec.param_kind {
            None => None,
            Some(kind) => {
                let version = GroupVersion::parse(kind.api_version.as_deref().unwrap_or_default()).ok()?;
                Some(version.with_kind(kind.kind.as_deref().unwrap_or_default()))
            }
        };
        Some(Policy {
            name,
            constraints: MatchResources::compile(spec.match_constraints.as_ref()),
            failure_policy: FailurePolicy::of(spec.failure_policy.as_deref()),
            param_kind,
            expressions: Expressions::compile(&spec, cache),
            bindings,
        })
    }
}

impl FailurePolicy {
    fn of(name: Option<&str>) -> Self {
        match name {
            None | Some("Fail") => FailurePolicy::Fail,
            Some("Ignore") => FailurePolicy::Ignore,
            Some(other) => FailurePolicy::Unknown(other.to_owned()),
        }
    }

    /// Whether errors are ignored.
    pub(crate) fn ignores(&self) -> bool {
        *self == FailurePolicy::Ignore
    }
}
