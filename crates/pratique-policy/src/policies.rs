//! The policies of one origin, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_workers::Workers;

use crate::batch::BatchEvaluator;
use crate::binding::{Bindings, Terms};
use crate::compiled::Expressions;
use crate::constraints::Constraints;
use crate::groups::Groups;
use crate::policy_core::{Parts, PolicyCore};
use crate::recompile::{BindingsByPolicy, Sources, compile_all};

/// The validating policies of one origin with their bindings.
#[derive(Debug)]
pub struct Policies {
    pub(crate) origin: Origin,
    /// By name.
    pub(crate) policies: Vec<Arc<Policy>>,
    pub(crate) groups: Groups,
    /// One for each group.
    pub(crate) batches: Vec<BatchEvaluator>,
    constraints: Arc<Constraints>,
}

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) core: PolicyCore,
    pub(crate) expressions: Expressions,
    /// Whether an expression reads `authorizer`.
    pub(crate) asks_authorizer: bool,
    sources: Option<Origins>,
}

type Origins = Sources<api::ValidatingAdmissionPolicy, api::ValidatingAdmissionPolicyBinding>;

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
        let constraints = Arc::new(Constraints::default());
        let bound = BindingsByPolicy::new(bindings, policy_and_name);
        let wanted = bound.join(policies, |policy| policy.metadata.name.as_deref(), origin);
        let compiled = wanted.into_iter().filter_map(|own| {
            let bindings = Bindings::new(&own.bindings, |own| Terms::validating(own, &constraints));
            Policy::compile(own.name.to_owned(), own.policy, bindings, cache, &constraints).map(Arc::new)
        });
        Policies::of(compiled.collect(), origin, constraints.clone())
    }

    /// Compiles policies and bindings in the place of these. Those that were made of the very same objects are taken
    /// over, so that it costs what changed. The workers may help.
    #[must_use]
    pub fn renew<'a>(
        &self,
        policies: impl IntoIterator<Item = &'a Arc<api::ValidatingAdmissionPolicy>>,
        bindings: impl IntoIterator<Item = &'a Arc<api::ValidatingAdmissionPolicyBinding>>,
        cache: &Cache,
        workers: &dyn Workers,
    ) -> Self {
        let bound = BindingsByPolicy::new(bindings, |binding| policy_and_name(binding));
        let wanted = bound.join(policies, |policy| policy.metadata.name.as_deref(), self.origin);
        let compiled = compile_all(&wanted, workers, |wanted| {
            let known = self.find(wanted.name).filter(|known| {
                let sources = known.sources.as_ref();
                sources.is_some_and(|sources| sources.is(wanted.policy, &wanted.bindings))
            });
            known.cloned().or_else(|| {
                let bindings =
                    Bindings::new(&wanted.bindings, |own| Terms::validating(own, &self.constraints));
                let name = wanted.name.to_owned();
                let compiled = Policy::compile(name, wanted.policy, bindings, cache, &self.constraints)?;
                Some(Arc::new(Policy {
                    sources: Some(Sources::new(wanted.policy, &wanted.bindings)),
                    ..compiled
                }))
            })
        });
        Policies::of(compiled, self.origin, self.constraints.clone())
    }

    fn of(mut policies: Vec<Arc<Policy>>, origin: Origin, constraints: Arc<Constraints>) -> Self {
        policies.sort_by(|a, b| a.core.name.cmp(&b.core.name));
        let groups = Groups::new(policies.iter().map(|policy| &policy.core));
        let batches = groups.groups.iter();
        Policies {
            origin,
            batches: batches
                .map(|group| BatchEvaluator::new(&policies, &group.members))
                .collect(),
            groups,
            constraints,
            policies,
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<Policy>> {
        let at = self
            .policies
            .binary_search_by(|policy| policy.core.name.as_str().cmp(name));
        self.policies.get(at.ok()?)
    }

    /// Forgets which objects they were made of: a set in the place of this one is compiled anew.
    pub fn forget_origins(&mut self) {
        for policy in self.policies.iter_mut().filter_map(Arc::get_mut) {
            policy.sources = None;
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

/// The name of a binding's policy, and that of the binding.
fn policy_and_name(binding: &api::ValidatingAdmissionPolicyBinding) -> (&str, &str) {
    let name = binding.metadata.name.as_deref().unwrap_or_default();
    (&binding.spec.policy_name, name)
}

impl Policy {
    fn compile(
        name: String,
        policy: &api::ValidatingAdmissionPolicy,
        bindings: Bindings,
        cache: &Cache,
        constraints: &Constraints,
    ) -> Option<Self> {
        let spec = policy.spec.clone().unwrap_or_default();
        let parts = Parts {
            constraints: spec.match_constraints.as_ref(),
            failure_policy: spec.failure_policy.as_deref(),
            param_kind: spec.param_kind.as_ref(),
            variables: spec.variables.as_deref().unwrap_or_default(),
            conditions: spec.match_conditions.as_deref().unwrap_or_default(),
        };
        let (core, compiler) = PolicyCore::compile(name, &parts, bindings, cache, constraints)?;
        let expressions = Expressions::compile(&spec, &compiler, parts.declarations());
        Some(Policy {
            asks_authorizer: core.asks_authorizer() || expressions.ask_authorizer(),
            core,
            expressions,
            sources: None,
        })
    }
}
