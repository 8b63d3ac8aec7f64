//! The compiled policies of one origin and phase.

use std::sync::Arc;

use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_workers::Workers;

use crate::binding::{Bindings, Terms};
use crate::constraints::Constraints;
use crate::groups::Groups;
use crate::policy_core::PolicyCore;
use crate::recompile::{BindingsByPolicy, Sources, compile_all};

/// A compiled policy of either phase.
pub(crate) trait CompiledPolicy: Sized + Send + Sync {
    /// The object that it is compiled from.
    type Object: Send + Sync;
    /// The objects that its bindings are compiled from.
    type Binding: Send + Sync;

    fn name(object: &Self::Object) -> Option<&str>;

    /// The name of a binding's policy, and that of the binding.
    fn binding_names(binding: &Self::Binding) -> (&str, &str);

    fn terms(binding: &Self::Binding, constraints: &Constraints) -> Terms;

    /// `None` for a policy that an API server leaves out.
    fn compile(
        name: String,
        object: &Self::Object,
        bindings: Bindings,
        cache: &Cache,
        constraints: &Constraints,
    ) -> Option<Self>;

    fn core(&self) -> &PolicyCore;

    /// The objects that it was compiled from, if they are remembered.
    fn sources(&mut self) -> &mut Option<SourcesOf<Self>>;

    /// Whether it was compiled from these very objects.
    fn is_of(&self, object: &Arc<Self::Object>, bindings: &[(&str, &Arc<Self::Binding>)]) -> bool;
}

pub(crate) type SourcesOf<P> = Sources<<P as CompiledPolicy>::Object, <P as CompiledPolicy>::Binding>;

/// The policies of one origin with their bindings.
#[derive(Debug)]
pub(crate) struct PolicySet<P> {
    pub(crate) origin: Origin,
    /// By name.
    pub(crate) policies: Vec<Arc<P>>,
    pub(crate) groups: Groups,
    constraints: Arc<Constraints>,
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
        let constraints = Arc::new(Constraints::default());
        let bindings = BindingsByPolicy::new(bindings, P::binding_names);
        let sources = bindings.join(objects, P::name, origin);
        let compiled = sources.into_iter().filter_map(|source| {
            let bindings = Bindings::new(&source.bindings, |binding| P::terms(binding, &constraints));
            P::compile(
                source.name.to_owned(),
                source.policy,
                bindings,
                cache,
                &constraints,
            )
            .map(Arc::new)
        });
        PolicySet::new(compiled.collect(), origin, constraints.clone())
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
        let sources = bindings.join(objects, |object| P::name(object), self.origin);
        let compiled = compile_all(&sources, workers, |source| {
            let known = self.find(source.name);
            let known = known.filter(|known| known.is_of(source.policy, &source.bindings));
            known.cloned().or_else(|| {
                let bindings =
                    Bindings::new(&source.bindings, |binding| P::terms(binding, &self.constraints));
                let name = source.name.to_owned();
                let mut compiled = P::compile(name, source.policy, bindings, cache, &self.constraints)?;
                *compiled.sources() = Some(Sources::new(source.policy, &source.bindings));
                Some(Arc::new(compiled))
            })
        });
        PolicySet::new(compiled, self.origin, self.constraints.clone())
    }

    fn new(mut policies: Vec<Arc<P>>, origin: Origin, constraints: Arc<Constraints>) -> Self {
        policies.sort_by(|a, b| a.core().name.cmp(&b.core().name));
        PolicySet {
            origin,
            groups: Groups::new(policies.iter().map(|policy| policy.core())),
            constraints,
            policies,
        }
    }

    fn find(&self, name: &str) -> Option<&Arc<P>> {
        let at = self
            .policies
            .binary_search_by(|policy| policy.core().name.as_str().cmp(name));
        self.policies.get(at.ok()?)
    }

    /// Forgets which objects the policies were compiled from.
    pub(crate) fn forget_origins(&mut self) {
        for policy in self.policies.iter_mut().filter_map(Arc::get_mut) {
            *policy.sources() = None;
        }
    }
}
