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
use crate::policy_core::{Parts, PolicyCore};
use crate::policy_set::{CompiledPolicy, PolicySet};

/// The validating policies of one origin with their bindings.
#[derive(Debug)]
pub struct Policies {
    pub(crate) set: PolicySet<Policy>,
    /// One for each group.
    pub(crate) batches: Vec<BatchEvaluator>,
}

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) core: PolicyCore,
    pub(crate) expressions: Expressions,
    /// Whether an expression reads `authorizer`.
    pub(crate) asks_authorizer: bool,
}

impl Policies {
    /// Compiles policies and bindings; the order of both is by name.
    ///
    /// An expression that does not compile fails when it is evaluated, as with policies that were stored by another
    /// version: manifests are validated elsewhere. Policies of the API need a binding to have an effect.
    pub fn compile<'a>(
        policies: impl IntoIterator<Item = &'a api::ValidatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = &'a api::ValidatingAdmissionPolicyBinding>,
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        Policies::new(PolicySet::compile(policies, bindings, origin, cache))
    }

    /// Compiles policies and bindings in place of these. Those that were compiled from the same objects are reused, so
    /// that it costs what changed. The workers may help.
    #[must_use]
    pub fn recompile<'a>(
        &self,
        policies: impl IntoIterator<Item = &'a Arc<api::ValidatingAdmissionPolicy>>,
        bindings: impl IntoIterator<Item = &'a Arc<api::ValidatingAdmissionPolicyBinding>>,
        cache: &Cache,
        workers: &dyn Workers,
    ) -> Self {
        Policies::new(self.set.recompile(policies, bindings, cache, workers))
    }

    fn new(set: PolicySet<Policy>) -> Self {
        let groups = set.groups.groups.iter();
        let batches = groups.map(|group| BatchEvaluator::new(&set.policies, &group.members));
        Policies {
            batches: batches.collect(),
            set,
        }
    }

    /// Forgets which objects they were compiled from: a set in place of this one is compiled anew.
    pub fn forget_origins(&mut self) {
        self.set.forget_origins();
    }

    /// How many policies there are.
    pub fn len(&self) -> usize {
        self.set.policies.len()
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.set.policies.is_empty()
    }

    /// Where they come from.
    pub fn origin(&self) -> Origin {
        self.set.origin
    }
}

impl CompiledPolicy for Policy {
    type Object = api::ValidatingAdmissionPolicy;
    type Binding = api::ValidatingAdmissionPolicyBinding;

    fn name(object: &Self::Object) -> Option<&str> {
        object.metadata.name.as_deref()
    }

    fn binding_names(binding: &Self::Binding) -> (&str, &str) {
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        (&binding.spec.policy_name, name)
    }

    fn terms(binding: &Self::Binding, constraints: &Constraints) -> Terms {
        Terms::validating(binding, constraints)
    }

    fn compile(
        name: String,
        object: &Self::Object,
        bindings: Bindings,
        cache: &Cache,
        constraints: &Constraints,
    ) -> Option<Self> {
        let spec = object.spec.clone().unwrap_or_default();
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
        })
    }

    fn core(&self) -> &PolicyCore {
        &self.core
    }
}
