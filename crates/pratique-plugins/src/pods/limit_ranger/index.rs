//! Which of the limit ranges of a namespace concern pods or claims.

use std::sync::Arc;

use pratique_json::Value;
use pratique_plugin::{Derivation, DerivedValues};

use super::limits::RangeLimits;

/// The objects that limit ranges are looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitConcern {
    Pods,
    Claims,
}

/// The places of the limit ranges that concern pods or claims.
pub(super) struct RangeIndex {
    pods: Vec<usize>,
    claims: Vec<usize>,
}

impl DerivedValues for RangeIndex {
    type Item = RangeLimits;

    fn read(range: &Arc<Value<'static>>) -> RangeLimits {
        RangeLimits::new(range)
    }

    fn index(items: &[Arc<RangeLimits>]) -> Self {
        let concerning = |concern| {
            let limits = items.iter().enumerate();
            let concerned = limits.filter(|(_, limits)| limits.concerns(concern));
            concerned.map(|(place, _)| place).collect()
        };
        RangeIndex {
            pods: concerning(LimitConcern::Pods),
            claims: concerning(LimitConcern::Claims),
        }
    }
}

/// The limits that concern pods or claims, in their order.
pub(super) fn concerning(
    ranges: &Derivation<RangeIndex>,
    concern: LimitConcern,
) -> impl Iterator<Item = &RangeLimits> {
    let index = ranges.index();
    ranges.at(match concern {
        LimitConcern::Pods => &index.pods,
        LimitConcern::Claims => &index.claims,
    })
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;
    use pratique_plugin::{DerivedCache, ObjectList};

    use super::*;

    fn range(name: usize, of_type: &str) -> Arc<Value<'static>> {
        let text = format!(
            r#"{{"metadata": {{"name": "r{name}"}}, "spec": {{"limits": [{{"type": "{of_type}"}}]}}}}"#
        );
        Arc::new(parse(text.as_bytes()).unwrap().into_owned())
    }

    #[test]
    fn ranges_are_kept_apart_and_followed() {
        let cache = DerivedCache::<RangeIndex>::new(1);
        let mut ranges: Vec<_> = (0..20).map(|name| range(name, "PersistentVolumeClaim")).collect();
        ranges.push(range(20, "Container"));
        let count = |ranges: &[Arc<_>], concern| {
            let ranges: ObjectList = ranges.iter().cloned().collect();
            concerning(&cache.get("team", &ranges), concern).count()
        };
        assert_eq!(count(&ranges, LimitConcern::Pods), 1);
        assert_eq!(count(&ranges, LimitConcern::Claims), 20);
        ranges[3] = range(3, "Pod");
        assert_eq!(count(&ranges, LimitConcern::Pods), 2);
        assert_eq!(count(&ranges, LimitConcern::Claims), 19);
        assert_eq!(count(&ranges[..4], LimitConcern::Pods), 1);
        assert_eq!(count(&[], LimitConcern::Claims), 0);
    }
}
