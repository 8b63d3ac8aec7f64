//! The limit ranges of namespaces, read once, and which of them concern pods or claims.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pratique_json::Value;

use super::limits::Limits;

/// Namespaces whose ranges are kept; beyond that all are forgotten.
const MAX_NAMESPACES: usize = 1024;

/// What limit ranges are looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Concern {
    Pods,
    Claims,
}

/// The limit ranges of namespaces.
#[derive(Default)]
pub(super) struct RangeIndex {
    namespaces: Mutex<HashMap<String, Arc<NamespaceLimits>>>,
}

/// The limit ranges of one namespace.
pub(super) struct NamespaceLimits {
    source: Vec<Arc<Value<'static>>>,
    all: Vec<Arc<Limits>>,
    pods: Vec<Arc<Limits>>,
    claims: Vec<Arc<Limits>>,
}

impl RangeIndex {
    /// The limits of a namespace, from before if the ranges are the same.
    pub(super) fn of(&self, namespace: &str, ranges: &[Arc<Value<'static>>]) -> Arc<NamespaceLimits> {
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let before = namespaces.get(namespace);
        if let Some(before) = before
            && before.are_of(ranges)
        {
            return Arc::clone(before);
        }
        let limits = Arc::new(NamespaceLimits::new(ranges, before.map(|before| &**before)));
        if before.is_none() && namespaces.len() >= MAX_NAMESPACES {
            namespaces.clear();
        }
        namespaces.insert(namespace.to_owned(), Arc::clone(&limits));
        limits
    }
}

impl NamespaceLimits {
    /// The limits of a list of ranges. What did not change since is taken from before.
    fn new(ranges: &[Arc<Value<'static>>], before: Option<&NamespaceLimits>) -> Self {
        let reused = |at: usize, range: &Arc<Value<'static>>| {
            let before = before?;
            let is_same = Arc::ptr_eq(before.source.get(at)?, range);
            before.all.get(at).filter(|_| is_same).cloned()
        };
        let limits = ranges.iter().enumerate();
        let limits =
            limits.map(|(at, range)| reused(at, range).unwrap_or_else(|| Arc::new(Limits::new(range))));
        let all: Vec<Arc<Limits>> = limits.collect();
        let concerning = |concern: Concern| all.iter().filter(move |limits| limits.concerns(concern));
        NamespaceLimits {
            source: ranges.to_vec(),
            pods: concerning(Concern::Pods).cloned().collect(),
            claims: concerning(Concern::Claims).cloned().collect(),
            all,
        }
    }

    /// Whether these are the ranges that it was made of.
    fn are_of(&self, ranges: &[Arc<Value<'static>>]) -> bool {
        let mut pairs = self.source.iter().zip(ranges);
        self.source.len() == ranges.len() && pairs.all(|(before, now)| Arc::ptr_eq(before, now))
    }

    /// The limits that concern pods or claims, in their order.
    pub(super) fn concerning(&self, concern: Concern) -> impl Iterator<Item = &Limits> {
        let limits = match concern {
            Concern::Pods => &self.pods,
            Concern::Claims => &self.claims,
        };
        limits.iter().map(|limits| &**limits)
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    fn range(name: usize, of_type: &str) -> Arc<Value<'static>> {
        let text = format!(
            r#"{{"metadata": {{"name": "r{name}"}}, "spec": {{"limits": [{{"type": "{of_type}"}}]}}}}"#
        );
        Arc::new(parse(text.as_bytes()).unwrap().into_owned())
    }

    #[test]
    fn ranges_are_kept_apart_and_followed() {
        let index = RangeIndex::default();
        let mut ranges: Vec<_> = (0..20).map(|name| range(name, "PersistentVolumeClaim")).collect();
        ranges.push(range(20, "Container"));
        let count = |ranges: &[_], concern| index.of("team", ranges).concerning(concern).count();
        assert_eq!(count(&ranges, Concern::Pods), 1);
        assert_eq!(count(&ranges, Concern::Claims), 20);
        let before = index.of("team", &ranges);
        ranges[3] = range(3, "Pod");
        assert_eq!(count(&ranges, Concern::Pods), 2);
        assert_eq!(count(&ranges, Concern::Claims), 19);
        let now = index.of("team", &ranges);
        assert!(
            Arc::ptr_eq(&before.all[4], &now.all[4]),
            "what stays is not read again"
        );
        assert_eq!(count(&ranges[..4], Concern::Pods), 1);
        assert_eq!(count(&[], Concern::Claims), 0);
    }
}
