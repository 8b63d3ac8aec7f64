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

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_core::Need;
use pratique_expression::{Cache, Declarations, Use};
use pratique_workers::Workers;

use crate::binding::{Bindings, Terms};
use crate::compiled::{Compiled, Compiler};
use crate::constraints::Constraints;
use crate::groups::Groups;
use crate::needs::needs;
use crate::policy_core::{Parts, PolicyCore};
use crate::recompile::{BindingsByPolicy, Sources, compile_all};
use pratique_exclusion::Origin;

pub use dispatch::{mutate, mutate_once};
pub use outcome::{Mutated, Step, StepResult};
pub use reinvocation::Reinvocation;
pub use same::same;

/// The mutating policies of one origin with their bindings.
#[derive(Debug)]
pub struct MutatingPolicies {
    origin: Origin,
    /// By name.
    policies: Vec<Arc<MutatingPolicy>>,
    groups: Groups,
    constraints: Arc<Constraints>,
}

/// A compiled mutating policy.
#[derive(Debug)]
pub(crate) struct MutatingPolicy {
    core: PolicyCore,
    mutations: Box<[Mutation]>,
    /// How many mutations it was given. A stored one may have an unknown patch type.
    declared: usize,
    /// Whether it is reinvoked when the object changes after it.
    reinvoked: bool,
    sources: Option<Origins>,
}

type Origins = Sources<api::MutatingAdmissionPolicy, api::MutatingAdmissionPolicyBinding>;

/// A compiled mutation.
#[derive(Debug)]
pub(crate) struct Mutation {
    form: Form,
    expression: Compiled,
}

/// How a mutation says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// An object to merge in.
    ApplyConfiguration,
    /// Operations of a JSON Patch.
    JsonPatch,
}

impl MutatingPolicies {
    /// Compiles policies and bindings; the order of both is by name.
    ///
    /// An expression that does not compile fails when it is evaluated, as with policies that were stored by another
    /// version: refusing such policies is the business of validation. Policies of the API count only with a binding.
    pub fn compile<'a>(
        policies: impl IntoIterator<Item = &'a api::MutatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = &'a api::MutatingAdmissionPolicyBinding>,
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let constraints = Arc::new(Constraints::default());
        let bound = BindingsByPolicy::new(bindings, policy_and_name);
        let wanted = bound.join(policies, |policy| policy.metadata.name.as_deref(), origin);
        let compiled = wanted.into_iter().filter_map(|own| {
            let bindings = Bindings::new(&own.bindings, |own| Terms::mutating(own, &constraints));
            MutatingPolicy::compile(own.name.to_owned(), own.policy, bindings, cache, &constraints)
                .map(Arc::new)
        });
        MutatingPolicies::of(compiled.collect(), origin, constraints.clone())
    }

    /// Compiles policies and bindings in the place of these. Those that were made of the very same objects are taken
    /// over, so that it costs what changed. The workers may help.
    #[must_use]
    pub fn renew<'a>(
        &self,
        policies: impl IntoIterator<Item = &'a Arc<api::MutatingAdmissionPolicy>>,
        bindings: impl IntoIterator<Item = &'a Arc<api::MutatingAdmissionPolicyBinding>>,
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
                let bindings = Bindings::new(&wanted.bindings, |own| Terms::mutating(own, &self.constraints));
                let name = wanted.name.to_owned();
                let compiled =
                    MutatingPolicy::compile(name, wanted.policy, bindings, cache, &self.constraints)?;
                Some(Arc::new(MutatingPolicy {
                    sources: Some(Sources::new(wanted.policy, &wanted.bindings)),
                    ..compiled
                }))
            })
        });
        MutatingPolicies::of(compiled, self.origin, self.constraints.clone())
    }

    fn of(mut policies: Vec<Arc<MutatingPolicy>>, origin: Origin, constraints: Arc<Constraints>) -> Self {
        policies.sort_by(|a, b| a.core.name.cmp(&b.core.name));
        MutatingPolicies {
            origin,
            groups: Groups::new(policies.iter().map(|policy| &policy.core)),
            constraints,
            policies,
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<MutatingPolicy>> {
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

    /// What they may depend on besides the request.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.policies.iter().flat_map(|policy| {
            let mutations = policy.mutations.iter().map(|mutation| &mutation.expression);
            needs(&policy.core, mutations)
        })
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
fn policy_and_name(binding: &api::MutatingAdmissionPolicyBinding) -> (&str, &str) {
    let spec = binding.spec.as_ref();
    let policy = spec.and_then(|spec| spec.policy_name.as_deref());
    let name = binding.metadata.name.as_deref();
    (policy.unwrap_or_default(), name.unwrap_or_default())
}

impl MutatingPolicy {
    fn compile(
        name: String,
        policy: &api::MutatingAdmissionPolicy,
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
        let declarations = Declarations {
            patch_types: true,
            ..parts.declarations()
        };
        let declared = spec.mutations.as_deref().unwrap_or_default();
        let mutations = declared
            .iter()
            .filter_map(|mutation| Mutation::compile(mutation, &compiler, declarations));
        Some(MutatingPolicy {
            core,
            mutations: mutations.collect(),
            declared: declared.len(),
            reinvoked: spec.reinvocation_policy.as_deref() == Some("IfNeeded"),
            sources: None,
        })
    }
}

impl Mutation {
    /// `None` for an unknown patch type, and without an expression.
    fn compile(
        mutation: &api::Mutation,
        compiler: &Compiler<'_>,
        declarations: Declarations,
    ) -> Option<Self> {
        let (form, expression, usage) = match mutation.patch_type.as_str() {
            "ApplyConfiguration" => (
                Form::ApplyConfiguration,
                mutation
                    .apply_configuration
                    .as_ref()
                    .map(|patch| &patch.expression)?,
                Use::ApplyConfiguration,
            ),
            "JSONPatch" => (
                Form::JsonPatch,
                mutation.json_patch.as_ref().map(|patch| &patch.expression)?,
                Use::JsonPatch,
            ),
            _ => return None,
        };
        let text = expression.as_deref().unwrap_or_default();
        let expression = compiler.compile(text, usage, declarations);
        Some(Mutation { form, expression })
    }
}
