//! Incremental compilation: a policy is not compiled again while its objects are the same.

use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::HashMap;
use pratique_exclusion::Origin;
use pratique_workers::{Workers, estimate, map};

/// The objects that a policy was compiled from, by identity: shared objects never change. They are not kept alive.
#[derive(Debug)]
pub(crate) struct PolicySources<P, B> {
    policy: Weak<P>,
    bindings: Vec<Weak<B>>,
}

/// Bindings by the names of their policies, each list by the names of the bindings.
pub(crate) struct BindingsByPolicy<'a, B>(HashMap<&'a str, Vec<(&'a str, B)>>);

/// A policy to compile, with its bindings and their names.
pub(crate) struct PolicySource<'a, P, B> {
    pub(crate) name: &'a str,
    pub(crate) policy: P,
    pub(crate) bindings: Vec<(&'a str, B)>,
}

impl<P, B> PolicySources<P, B> {
    pub(crate) fn new(policy: &Arc<P>, bindings: &[(&str, &Arc<B>)]) -> Self {
        let bindings = bindings.iter().map(|(_, binding)| Arc::downgrade(binding));
        PolicySources {
            policy: Arc::downgrade(policy),
            bindings: bindings.collect(),
        }
    }
}

impl<P, B> PartialEq for PolicySources<P, B> {
    /// Whether these are the same objects.
    fn eq(&self, other: &Self) -> bool {
        self.policy.ptr_eq(&other.policy)
            && self.bindings.len() == other.bindings.len()
            && self
                .bindings
                .iter()
                .zip(&other.bindings)
                .all(|(one, other)| one.ptr_eq(other))
    }
}

impl<'a, B: Copy> BindingsByPolicy<'a, B> {
    pub(crate) fn new(
        bindings: impl IntoIterator<Item = B>,
        policy_and_name: impl Fn(B) -> (&'a str, &'a str),
    ) -> Self {
        let named = bindings
            .into_iter()
            .map(|binding| (policy_and_name(binding), binding));
        let mut named: Vec<_> = named.collect();
        named.sort_by_key(|((_, name), _)| *name);
        let mut bound: HashMap<_, Vec<_>> = HashMap::default();
        for ((policy, name), binding) in named {
            bound.entry(policy).or_default().push((name, binding));
        }
        BindingsByPolicy(bound)
    }

    /// The policies to compile: those of the API only with a binding.
    pub(crate) fn join<P: Copy>(
        mut self,
        policies: impl IntoIterator<Item = P>,
        name: impl Fn(P) -> Option<&'a str>,
        origin: Origin,
    ) -> Vec<PolicySource<'a, P, B>> {
        let sources = policies.into_iter().map(|policy| {
            let name = name(policy).unwrap_or_default();
            PolicySource {
                name,
                policy,
                bindings: self.0.remove(name).unwrap_or_default(),
            }
        });
        sources
            .filter(|source| origin == Origin::Static || !source.bindings.is_empty())
            .collect()
    }
}

/// Compiles each policy; the workers may help.
pub(crate) fn compile_all<P: Sync, B: Sync, T: Send>(
    sources: &[PolicySource<'_, P, B>],
    workers: &dyn Workers,
    compile: impl Fn(&PolicySource<'_, P, B>) -> Option<T> + Sync,
) -> Vec<T> {
    let compiled = map(workers, sources, PolicySource::cost, compile);
    compiled.into_iter().flatten().collect()
}

impl<P, B> PolicySource<'_, P, B> {
    /// The estimated time to compile it.
    fn cost(&self) -> Duration {
        POLICY.saturating_add(estimate(BINDING, self.bindings.len()))
    }
}

/// Times to compile a policy and a binding of the usual size.
const POLICY: Duration = Duration::from_micros(25);
const BINDING: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_is_not_the_same() {
        let (policy, other) = (Arc::new(1), Arc::new(1));
        let (first, second) = (Arc::new("a"), Arc::new("b"));
        let made = PolicySources::new(&policy, &[("a", &first), ("b", &second)]);
        assert!(made == PolicySources::new(&policy, &[("a", &first), ("b", &second)]));
        assert!(made != PolicySources::new(&other, &[("a", &first), ("b", &second)]));
        assert!(made != PolicySources::new(&policy, &[("b", &second), ("a", &first)]));
        assert!(made != PolicySources::new(&policy, &[("a", &first)]));
    }

    #[test]
    fn dropped_objects_equal_no_others() {
        let policy = Arc::new(1);
        let made = PolicySources::<_, ()>::new(&policy, &[]);
        drop(policy);
        let others: Vec<_> = (0..64).map(Arc::new).collect();
        assert!(others.iter().all(|other| made != PolicySources::new(other, &[])));
    }
}
