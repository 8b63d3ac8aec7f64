//! The compiled policies of one origin and phase.

use std::sync::Arc;

use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pratique_exclusion::Origin;
use pratique_expression::{Cache, Declarations};
use pratique_workers::Workers;

use crate::batch::BatchEvaluator;
use crate::binding::{BindingTerms, PolicyBindings};
use crate::compiled_expressions::{CompiledExpression, PolicyCompiler};
use crate::constraints::SharedConstraints;
use crate::groups::PolicyGroups;
use crate::policy_core::{PolicyCore, PolicyParts};
use crate::recompile::{BindingsByPolicy, PolicySources, compile_all};

/// A compiled policy of either phase.
pub(crate) trait CompiledPolicy: Sized + Send + Sync {
    /// The object that it is compiled from.
    type Object: Metadata<Ty = ObjectMeta> + Send + Sync;
    /// The `spec` of that object.
    type Spec: Default;
    /// The objects that its bindings are compiled from.
    type Binding: Send + Sync;

    /// The name of a binding's policy, and that of the binding.
    fn binding_names(binding: &Self::Binding) -> (&str, &str);

    fn terms(binding: &Self::Binding, constraints: &SharedConstraints) -> BindingTerms;

    fn spec(object: &Self::Object) -> Option<&Self::Spec>;

    /// The parts of the `spec` that make the [`PolicyCore`].
    fn parts(spec: &Self::Spec) -> PolicyParts<'_>;

    /// Compiles the validations or mutations.
    fn compile(
        core: PolicyCore,
        spec: &Self::Spec,
        compiler: &PolicyCompiler<'_>,
        declarations: Declarations,
    ) -> Self;

    fn core(&self) -> &PolicyCore;

    /// The expressions besides those of variables and match conditions.
    fn expressions(&self) -> impl Iterator<Item = &CompiledExpression>;

    /// The batches that evaluate the policies of a group together: one for each group, or none.
    fn batches(_: &[Arc<Self>], _: &PolicyGroups) -> Vec<BatchEvaluator> {
        Vec::new()
    }
}

/// Declares the policies of one origin and phase.
macro_rules! policies {
    ($(#[$documentation:meta])* $name:ident, $policy:ty, $object:ty, $binding:ty) => {
        $(#[$documentation])*
        #[derive(Debug)]
        pub struct $name {
            pub(crate) set: $crate::policy_set::PolicySet<$policy>,
        }

        impl $name {
            /// Compiles policies and bindings; the order of both is by name.
            ///
            /// An expression that does not compile fails when it is evaluated, as with policies that were stored by another
            /// version: manifests are validated elsewhere. Policies of the API need a binding to have an effect.
            pub fn compile<'a>(
                policies: impl IntoIterator<Item = &'a $object>,
                bindings: impl IntoIterator<Item = &'a $binding>,
                origin: pratique_exclusion::Origin,
                cache: &pratique_expression::Cache,
            ) -> Self {
                $name {
                    set: $crate::policy_set::PolicySet::compile(policies, bindings, origin, cache),
                }
            }

            /// Compiles policies and bindings in place of these. Those that were compiled from the same objects are
            /// reused, so that it costs what changed. The workers may help.
            #[must_use]
            pub fn recompile<'a>(
                &self,
                policies: impl IntoIterator<Item = &'a std::sync::Arc<$object>>,
                bindings: impl IntoIterator<Item = &'a std::sync::Arc<$binding>>,
                cache: &pratique_expression::Cache,
                workers: &dyn pratique_workers::Workers,
            ) -> Self {
                $name {
                    set: self.set.recompile(policies, bindings, cache, workers),
                }
            }

            /// Forgets which objects they were compiled from: a recompilation then reuses nothing.
            pub fn forget_origins(&mut self) {
                self.set.forget_origins();
            }

            /// The dependencies of the decisions of these policies besides requests.
            pub fn needs(&self) -> impl Iterator<Item = pratique_core::DecisionNeed> {
                self.set.policies.iter().flat_map(|policy| $crate::needs::needs(&**policy))
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
            pub fn origin(&self) -> pratique_exclusion::Origin {
                self.set.origin
            }
        }
    };
}
pub(crate) use policies;

/// The policies of one origin with their bindings.
#[derive(Debug)]
pub(crate) struct PolicySet<P: CompiledPolicy> {
    pub(crate) origin: Origin,
    /// By name.
    pub(crate) policies: Vec<Arc<P>>,
    /// The objects that each was compiled from, while they are remembered.
    sources: Vec<PolicySources<P::Object, P::Binding>>,
    pub(crate) groups: PolicyGroups,
    pub(crate) batches: Vec<BatchEvaluator>,
    constraints: Arc<SharedConstraints>,
}

impl<P: CompiledPolicy> PolicySet<P> {
    /// Compiles policies and bindings. Policies of the API need a binding.
    pub(crate) fn compile<'a>(
        objects: impl IntoIterator<Item = &'a P::Object>,
        bindings: impl IntoIterator<Item = &'a P::Binding>,
        origin: Origin,
        cache: &Cache,
    ) -> Self
    where
        P: 'a,
    {
        let constraints = Arc::new(SharedConstraints::default());
        let bindings = BindingsByPolicy::new(bindings, P::binding_names);
        let sources = bindings.join(objects, name_of, origin);
        let compiled = sources.into_iter().filter_map(|source| {
            let bindings = PolicyBindings::new(&source.bindings, |binding| P::terms(binding, &constraints));
            compile_policy::<P>(source.name, source.policy, bindings, cache, &constraints)
        });
        let mut policies: Vec<Arc<P>> = compiled.collect();
        policies.sort_by(|a, b| a.core().name.cmp(&b.core().name));
        PolicySet::new(policies, Vec::new(), origin, constraints.clone())
    }

    /// Compiles policies and bindings in place of these. Those that were compiled from the same objects are reused.
    pub(crate) fn recompile<'a>(
        &self,
        objects: impl IntoIterator<Item = &'a Arc<P::Object>>,
        bindings: impl IntoIterator<Item = &'a Arc<P::Binding>>,
        cache: &Cache,
        workers: &dyn Workers,
    ) -> Self
    where
        P: 'a,
    {
        let bindings = BindingsByPolicy::new(bindings, |binding| P::binding_names(binding));
        let sources = bindings.join(objects, |object| name_of(&**object), self.origin);
        let mut compiled = compile_all(&sources, workers, |source| {
            let made_of = PolicySources::new(source.policy, &source.bindings);
            let policy = self.find(source.name, &made_of).or_else(|| {
                let bindings =
                    PolicyBindings::new(&source.bindings, |binding| P::terms(binding, &self.constraints));
                compile_policy::<P>(source.name, source.policy, bindings, cache, &self.constraints)
            })?;
            Some((policy, made_of))
        });
        compiled.sort_by(|(a, _), (b, _)| a.core().name.cmp(&b.core().name));
        let (policies, sources) = compiled.into_iter().unzip();
        PolicySet::new(policies, sources, self.origin, self.constraints.clone())
    }

    /// A set of policies, by name.
    fn new(
        policies: Vec<Arc<P>>,
        sources: Vec<PolicySources<P::Object, P::Binding>>,
        origin: Origin,
        constraints: Arc<SharedConstraints>,
    ) -> Self {
        let groups = PolicyGroups::new(policies.iter().map(|policy| policy.core()));
        PolicySet {
            origin,
            batches: P::batches(&policies, &groups),
            groups,
            constraints,
            policies,
            sources,
        }
    }

    /// The policy of a name, if it was compiled from the same objects.
    fn find(&self, name: &str, sources: &PolicySources<P::Object, P::Binding>) -> Option<Arc<P>> {
        let by_name = |policy: &Arc<P>| policy.core().name.as_str().cmp(name);
        let at = self.policies.binary_search_by(by_name).ok()?;
        let is_same = self.sources.get(at)? == sources;
        self.policies.get(at).filter(|_| is_same).cloned()
    }

    /// Forgets which objects the policies were compiled from.
    pub(crate) fn forget_origins(&mut self) {
        self.sources = Vec::new();
    }
}

/// `None` for a policy that an API server leaves out.
fn compile_policy<P: CompiledPolicy>(
    name: &str,
    object: &P::Object,
    bindings: PolicyBindings,
    cache: &Cache,
    constraints: &SharedConstraints,
) -> Option<Arc<P>> {
    let empty = P::Spec::default();
    let spec = P::spec(object).unwrap_or(&empty);
    let parts = P::parts(spec);
    let (core, compiler) = PolicyCore::compile(name.to_owned(), &parts, bindings, cache, constraints)?;
    Some(Arc::new(P::compile(core, spec, &compiler, parts.declarations())))
}

fn name_of(object: &impl Metadata<Ty = ObjectMeta>) -> Option<&str> {
    object.metadata().name.as_deref()
}
