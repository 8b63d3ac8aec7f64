//! Mutating policies: compiled once, and applied in order to the requests that they match.

mod apply;
mod conversion;
mod dispatch;
mod failures;
mod foreign;
mod invoke;
mod json_form;
mod measure;
mod outcome;
mod patch;
mod patch_form;
mod refusal;
mod reinvocation;
mod result;
mod run;
mod same;
mod version;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::{Declarations, ExpressionPurpose};

use crate::binding::BindingTerms;
use crate::compiled_expressions::{CompiledExpression, PolicyCompiler};
use crate::constraints::SharedConstraints;
use crate::policy_core::{PolicyCore, PolicyParts, parts_of};
use crate::policy_set::{CompiledPolicy, policies};

pub use dispatch::{mutate, mutate_once};
pub use outcome::{MutatedRequest, MutationStep, StepResult};
pub use reinvocation::Reinvocation;
pub use same::{same, seen_the_same};

policies!(
    /// The mutating policies of one origin with their bindings.
    MutatingPolicies,
    MutatingPolicy,
    api::MutatingAdmissionPolicy,
    api::MutatingAdmissionPolicyBinding
);

/// A compiled mutating policy.
#[derive(Debug)]
pub(crate) struct MutatingPolicy {
    core: PolicyCore,
    mutations: Box<[CompiledMutation]>,
    /// How many mutations the object has; a stored one may have an unknown patch type and is not compiled.
    declared: usize,
    /// Whether it is reinvoked when the object changes after it.
    reinvoked: bool,
}

/// A compiled mutation.
#[derive(Debug)]
pub(crate) struct CompiledMutation {
    form: Form,
    expression: CompiledExpression,
}

/// The patch type of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// An object to merge in.
    ApplyConfiguration,
    /// Operations of a JSON Patch.
    JsonPatch,
}

impl CompiledPolicy for MutatingPolicy {
    type Object = api::MutatingAdmissionPolicy;
    type Spec = api::MutatingAdmissionPolicySpec;
    type Binding = api::MutatingAdmissionPolicyBinding;

    fn binding_names(binding: &Self::Binding) -> (&str, &str) {
        let spec = binding.spec.as_ref();
        let policy = spec.and_then(|spec| spec.policy_name.as_deref());
        let name = binding.metadata.name.as_deref();
        (policy.unwrap_or_default(), name.unwrap_or_default())
    }

    fn terms(binding: &Self::Binding, constraints: &SharedConstraints) -> BindingTerms {
        BindingTerms::mutating(binding, constraints)
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
        let declarations = Declarations {
            patch_types: true,
            ..declarations
        };
        let declared = spec.mutations.as_deref().unwrap_or_default();
        let mutations = declared
            .iter()
            .filter_map(|mutation| CompiledMutation::compile(mutation, compiler, declarations));
        MutatingPolicy {
            core,
            mutations: mutations.collect(),
            declared: declared.len(),
            reinvoked: spec.reinvocation_policy.as_deref() == Some("IfNeeded"),
        }
    }

    fn core(&self) -> &PolicyCore {
        &self.core
    }

    fn expressions(&self) -> impl Iterator<Item = &CompiledExpression> {
        self.mutations.iter().map(|mutation| &mutation.expression)
    }
}

impl CompiledMutation {
    /// `None` for an unknown patch type, and without an expression.
    fn compile(
        mutation: &api::Mutation,
        compiler: &PolicyCompiler<'_>,
        declarations: Declarations,
    ) -> Option<Self> {
        let (form, expression, usage) = match mutation.patch_type.as_str() {
            "ApplyConfiguration" => (
                Form::ApplyConfiguration,
                mutation
                    .apply_configuration
                    .as_ref()
                    .map(|patch| &patch.expression)?,
                ExpressionPurpose::ApplyConfiguration,
            ),
            "JSONPatch" => (
                Form::JsonPatch,
                mutation.json_patch.as_ref().map(|patch| &patch.expression)?,
                ExpressionPurpose::JsonPatch,
            ),
            _ => return None,
        };
        let text = expression.as_deref().unwrap_or_default();
        let expression = compiler.compile(text, usage, declarations);
        Some(CompiledMutation { form, expression })
    }
}
