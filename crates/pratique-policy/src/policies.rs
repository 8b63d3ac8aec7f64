//! The policies of one origin, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::Declarations;

use crate::batch::BatchEvaluator;
use crate::binding::BindingTerms;
use crate::compiled_expressions::{CompiledExpression, PolicyCompiler, ValidatingExpressions};
use crate::constraints::SharedConstraints;
use crate::groups::PolicyGroups;
use crate::policy_core::{PolicyCore, PolicyParts, parts_of};
use crate::policy_set::{CompiledPolicy, policies};

policies!(
    /// The validating policies of one origin with their bindings.
    Policies,
    RunnablePolicy,
    api::ValidatingAdmissionPolicy,
    api::ValidatingAdmissionPolicyBinding
);

/// A compiled policy.
#[derive(Debug)]
pub(crate) struct RunnablePolicy {
    pub(crate) core: PolicyCore,
    pub(crate) expressions: ValidatingExpressions,
    /// Whether an expression reads `authorizer`.
    pub(crate) asks_authorizer: bool,
}

impl CompiledPolicy for RunnablePolicy {
    type Object = api::ValidatingAdmissionPolicy;
    type Spec = api::ValidatingAdmissionPolicySpec;
    type Binding = api::ValidatingAdmissionPolicyBinding;

    fn binding_names(binding: &Self::Binding) -> (&str, &str) {
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        (&binding.spec.policy_name, name)
    }

    fn terms(binding: &Self::Binding, constraints: &SharedConstraints) -> BindingTerms {
        BindingTerms::validating(binding, constraints)
    }

    fn spec(object: &Self::Object) -> Option<&Self::Spec> {
        object.spec.as_ref()
    }

    fn parts(spec: &Self::Spec) -> PolicyParts<'_> {
        parts_of!(spec)
    }

    fn compile(
        core: PolicyCore,
        spec: &Self::Spec,
        compiler: &PolicyCompiler<'_>,
        declarations: Declarations,
    ) -> Self {
        let expressions = ValidatingExpressions::compile(spec, compiler, declarations);
        RunnablePolicy {
            asks_authorizer: core.asks_authorizer() || expressions.ask_authorizer(),
            core,
            expressions,
        }
    }

    fn core(&self) -> &PolicyCore {
        &self.core
    }

    fn expressions(&self) -> impl Iterator<Item = &CompiledExpression> {
        let validations = self.expressions.validations.iter().flat_map(|validation| {
            [&validation.expression]
                .into_iter()
                .chain(&validation.message_expression)
        });
        let annotations = self.expressions.annotations.iter();
        validations.chain(annotations.map(|annotation| &annotation.value))
    }

    fn batches(policies: &[Arc<Self>], groups: &PolicyGroups) -> Vec<BatchEvaluator> {
        let groups = groups.groups.iter();
        groups
            .map(|group| BatchEvaluator::new(policies, &group.members))
            .collect()
    }
}
