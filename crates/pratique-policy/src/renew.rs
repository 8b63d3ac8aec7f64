//! Policies with the bindings that they are compiled with, and which objects a compiled one was made of: while they are
//! the same, it need not be compiled again.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pratique_exclusion::Origin;
use pratique_workers::{Workers, estimate, map};

/// The policy and the bindings, by identity: what is shared is never changed. Holding on to the identity does not
/// hold on to the object.
#[derive(Debug)]
pub(crate) struct MadeOf<P, B> {
    policy: Weak<P>,
    bindings: Vec<Weak<B>>,
}

/// Bindings by the policy that they name, each list by the binding's name.
pub(crate) struct Bound<'a, B>(HashMap<&'a str, Vec<(&'a str, B)>>);

/// A policy that is to be compiled with its bindings, which have their names beside them.
pub(crate) struct Wanted<'a, P, B> {
    pub(crate) name: &'a str,
    pub(crate) policy: P,
    pub(crate) bindings: Vec<(&'a str, B)>,
}

impl<P, B> MadeOf<P, B> {
    pub(crate) fn new(policy: &Arc<P>, bindings: &[(&str, &Arc<B>)]) -> Self {
        let bindings = bindings.iter().map(|(_, binding)| Arc::downgrade(binding));
        MadeOf {
            policy: Arc::downgrade(policy),
            bindings: bindings.collect(),
        }
    }

    /// Whether it was made of these very objects.
    pub(crate) fn is(&self, policy: &Arc<P>, bindings: &[(&str, &Arc<B>)]) -> bool {
        let same_bindings = || {
            let mut pairs = self.bindings.iter().zip(bindings);
            pairs.all(|(own, (_, given))| std::ptr::eq(own.as_ptr(), Arc::as_ptr(given)))
        };
        std::ptr::eq(self.policy.as_ptr(), Arc::as_ptr(policy))
            && self.bindings.len() == bindings.len()
            && same_bindings()
    }
}

impl<'a, B: Copy> Bound<'a, B> {
    pub(crate) fn new(
        bindings: impl IntoIterator<Item = B>,
        policy_and_name: impl Fn(B) -> (&'a str, &'a str),
    ) -> Self {
        let named = bindings
            .into_iter()
            .map(|binding| (policy_and_name(binding), binding));
        let mut named: Vec<_> = named.collect();
        named.sort_by_key(|((_, name), _)| *name);
        let mut bound: HashMap<_, Vec<_>> = HashMap::new();
        for ((policy, name), binding) in named {
            bound.entry(policy).or_default().push((name, binding));
        }
        Bound(bound)
    }

    /// Policies with their bindings, without those that do not count: of the API, those that nothing binds.
    pub(crate) fn join<P: Copy>(
        mut self,
        policies: impl IntoIterator<Item = P>,
        name: impl Fn(P) -> Option<&'a str>,
        origin: Origin,
    ) -> Vec<Wanted<'a, P, B>> {
        let wanted = policies.into_iter().map(|policy| {
            let name = name(policy).unwrap_or_default();
            Wanted {
                name,
                policy,
                bindings: self.0.remove(name).unwrap_or_default(),
            }
        });
        wanted
            .filter(|own| origin == Origin::Static || !own.bindings.is_empty())
            .collect()
    }
}

/// Makes something of each, with the workers' help.
pub(crate) fn make_all<P: Sync, B: Sync, T: Send>(
    wanted: &[Wanted<'_, P, B>],
    workers: &dyn Workers,
    make: impl Fn(&Wanted<'_, P, B>) -> Option<T> + Sync,
) -> Vec<T> {
    let made = map(workers, wanted, Wanted::cost, make);
    made.into_iter().flatten().collect()
}

impl<P, B> Wanted<'_, P, B> {
    /// About what it takes to compile it.
    fn cost(&self) -> Duration {
        POLICY.saturating_add(estimate(BINDING, self.bindings.len()))
    }
}

/// What policies and bindings of the usual size take.
const POLICY: Duration = Duration::from_micros(25);
const BINDING: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_is_not_the_same() {
        let (policy, other) = (Arc::new(1), Arc::new(1));
        let (first, second) = (Arc::new("a"), Arc::new("b"));
        let made = MadeOf::new(&policy, &[("a", &first), ("b", &second)]);
        assert!(made.is(&policy, &[("a", &first), ("b", &second)]));
        assert!(!made.is(&other, &[("a", &first), ("b", &second)]));
        assert!(!made.is(&policy, &[("b", &second), ("a", &first)]));
        assert!(!made.is(&policy, &[("a", &first)]));
    }

    #[test]
    fn what_is_gone_is_nobody_else() {
        let policy = Arc::new(1);
        let made = MadeOf::<_, ()>::new(&policy, &[]);
        drop(policy);
        let others: Vec<_> = (0..64).map(Arc::new).collect();
        assert!(others.iter().all(|other| !made.is(other, &[])));
    }
}
