//! The policies of one origin, compiled.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_match::MatchIndex;

use crate::binding::Binding;
use crate::compiled::Expressions;
use crate::hook::{Bound, Hook, Parts};

/// The validating policies of one origin with their bindings.
#[derive(Debug)]
pub struct Policies {
    pub(crate) origin: Origin,
    /// By name.
    pub(crate) policies: Vec<Policy>,
    pub(crate) index: MatchIndex,
}

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) hook: Hook,
    pub(crate) expressions: Expressions,
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
        let mut bound = Bound::new(bindings.into_iter().map(Binding::validating));
        let compiled = policies.into_iter().filter_map(|policy| {
            let name = policy.metadata.name.clone().unwrap_or_default();
            let bindings = bound.take(&name, origin)?;
            Policy::compile(name, policy, bindings, cache)
        });
        let mut policies: Vec<Policy> = compiled.collect();
        policies.sort_by(|a, b| a.hook.name.cmp(&b.hook.name));
        Policies {
            origin,
            index: MatchIndex::new(policies.iter().map(|policy| &policy.hook.constraints)),
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
    fn compile(
        name: String,
        policy: &api::ValidatingAdmissionPolicy,
        bindings: Vec<Binding>,
        cache: &Cache,
    ) -> Option<Self> {
        let spec = policy.spec.clone().unwrap_or_default();
        let parts = Parts {
            constraints: spec.match_constraints.as_ref(),
            failure_policy: spec.failure_policy.as_deref(),
            param_kind: spec.param_kind.as_ref(),
            variables: spec.variables.as_deref().unwrap_or_default(),
            conditions: spec.match_conditions.as_deref().unwrap_or_default(),
        };
        let (hook, composition) = Hook::compile(name, &parts, bindings, cache)?;
        Some(Policy {
            hook,
            expressions: Expressions::compile(&spec, &composition, parts.declarations()),
        })
    }
}
