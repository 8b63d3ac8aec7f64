//! The policies of one origin, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::Declarations;

use crate::batch::BatchEvaluator;
use crate::binding::Terms;
use crate::compiled::{Compiled, Compiler, Expressions};
use crate::constraints::Constraints;
use crate::groups::Groups;
use crate::policy_core::{Parts, PolicyCore, parts_of};
use crate::policy_set::{CompiledPolicy, policies};

policies!(
    /// The validating policies of one origin with their bindings.
    Policies,
    Policy,
    api::ValidatingAdmissionPolicy,
    api::ValidatingAdmissionPolicyBinding
);

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) core: PolicyCore,
    pub(crate) expressions: Expressions,
    /// Whether an expression reads `authorizer`.
    pub(crate) asks_authorizer: bool,
}

impl CompiledPolicy for Policy {
    type Object = api::ValidatingAdmissionPolicy;
    type Spec = api::ValidatingAdmissionPolicySpec;
    type Binding = api::ValidatingAdmissionPolicyBinding;

    fn binding_names(binding: &Self::Binding) -> (&str, &str) {
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        (&binding.spec.policy_name, name)
    }

    fn terms(binding: &Self::Binding, constraints: &Constraints) -> Terms {
        Terms::validating(binding, constraints)
    }

    fn spec(object: &Self::Object) -> Option<&Self::Spec> {
        object.spec.as_ref()
    }

    fn parts(spec: &Self::Spec) -> Parts<'_> {
        parts_of!(spec)
    }

    fn compile(
        core: PolicyCore,
        spec: &Self::Spec,
        compiler: &Compiler<'_>,
        declarations: Declarations,
    ) -> Self {
        let expressions = Expressions::compile(spec, compiler, declarations);
        Policy {
            asks_authorizer: core.asks_authorizer() || expressions.ask_authorizer(),
            core,
            expressions,
        }
    }

    fn core(&self) -> &PolicyCore {
        &self.core
    }

    fn expressions(&self) -> impl Iterator<Item = &Compiled> {
        let validations = self.expressions.validations.iter().flat_map(|validation| {
            [&validation.expression]
                .into_iter()
                .chain(&validation.message_expression)
        });
        let annotations = self.expressions.annotations.iter();
        validations.chain(annotations.map(|annotation| &annotation.value))
    }

    fn batches(policies: &[Arc<Self>], groups: &Groups) -> Vec<BatchEvaluator> {
        let groups = groups.groups.iter();
        groups
            .map(|group| BatchEvaluator::new(policies, &group.members))
            .collect()
    }
}
