//! Which of many limit ranges concern pods, and which claims, so that the others are not looked at for each request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pratique_json::Value;

use crate::object::{elements, text};

/// So few limit ranges are looked at as they are.
const FEW: usize = 8;

/// Namespaces whose ranges are kept apart; beyond that all are forgotten.
const MAX_NAMESPACES: usize = 1024;

/// What limit ranges are looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Concern {
    Pods,
    Claims,
}

/// The limit ranges of namespaces with many of them, by what they concern.
#[derive(Default)]
pub(super) struct RangeIndex {
    namespaces: Mutex<HashMap<String, Arc<Indexed>>>,
}

type Ranges = Vec<Arc<Value<'static>>>;

/// The ranges of one namespace.
pub(super) struct Indexed {
    source: Ranges,
    pods: Ranges,
    claims: Ranges,
}

/// Those that concern a request.
pub(super) enum Concerned<'r> {
    All(&'r [Arc<Value<'static>>]),
    Some(Arc<Indexed>, Concern),
}

impl RangeIndex {
    /// The ranges of a namespace that a request may meet.
    pub(super) fn of<'r>(
        &self,
        namespace: &str,
        ranges: &'r [Arc<Value<'static>>],
        concern: Concern,
    ) -> Concerned<'r> {
        if ranges.len() <= FEW {
            return Concerned::All(ranges);
        }
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = namespaces.get(namespace).filter(|known| known.is_of(ranges));
        let indexed = match known {
            Some(known) => Arc::clone(known),
            None => {
                let indexed = Arc::new(Indexed::new(ranges));
                if namespaces.len() >= MAX_NAMESPACES && !namespaces.contains_key(namespace) {
                    namespaces.clear();
                }
                namespaces.insert(namespace.to_owned(), Arc::clone(&indexed));
                indexed
            }
        };
        Concerned::Some(indexed, concern)
    }
}

impl Indexed {
    fn new(ranges: &[Arc<Value<'static>>]) -> Self {
        let concerning = |types: &[&str]| -> Ranges {
            let has = |range: &&Arc<Value<'static>>| {
                elements(range, &["spec", "limits"])
                    .iter()
                    .any(|item| types.contains(&text(item, &["type"])))
            };
            ranges.iter().filter(has).cloned().collect()
        };
        Indexed {
            source: ranges.to_vec(),
            pods: concerning(&["Pod", "Container"]),
            claims: concerning(&["PersistentVolumeClaim"]),
        }
    }

    /// Whether these are the ranges that it was made of.
    fn is_of(&self, ranges: &[Arc<Value<'static>>]) -> bool {
        let mut pairs = self.source.iter().zip(ranges);
        self.source.len() == ranges.len() && pairs.all(|(before, now)| Arc::ptr_eq(before, now))
    }
}

impl Concerned<'_> {
    /// The ranges, in their order.
    pub(super) fn ranges(&self) -> &[Arc<Value<'static>>] {
        match self {
            Concerned::All(ranges) => ranges,
            Concerned::Some(indexed, Concern::Pods) => &indexed.pods,
            Concerned::Some(indexed, Concern::Claims) => &indexed.claims,
        }
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
    fn many_ranges_are_kept_apart_and_followed() {
        let index = RangeIndex::default();
        let mut ranges: Ranges = (0..20).map(|name| range(name, "PersistentVolumeClaim")).collect();
        ranges.push(range(20, "Container"));
        let count = |ranges: &[_], concern| index.of("team", ranges, concern).ranges().len();
        assert_eq!(count(&ranges, Concern::Pods), 1);
        assert_eq!(count(&ranges, Concern::Claims), 20);
        ranges[3] = range(3, "Pod");
        assert_eq!(count(&ranges, Concern::Pods), 2);
        assert_eq!(count(&ranges, Concern::Claims), 19);
        assert_eq!(
            count(&ranges[..4], Concern::Pods),
            4,
            "few are looked at as they are"
        );
    }
}
