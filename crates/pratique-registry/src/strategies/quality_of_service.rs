//! The quality-of-service class of a pod.
// Upstream: pkg/apis/core/helper/qos/qos.go, ComputePodQOS

use std::cmp::Ordering;
use std::collections::BTreeMap;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

use crate::object;

/// The resources that a class depends on.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// Amounts by resource.
type Amounts = BTreeMap<&'static str, Quantity>;

/// The class of a pod.
pub(super) fn class(pod: &Value<'static>) -> &'static str {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let of_pod = spec.get("resources").filter(|resources| is_set(resources));
    let all: Vec<&Value<'static>> = match of_pod {
        Some(resources) => vec![resources],
        None => {
            let lists = ["containers", "initContainers"].iter();
            let containers = lists.flat_map(|list| object::list(spec, &[list]));
            containers
                .map(|container| container.get("resources").unwrap_or(&Value::Null))
                .collect()
        }
    };
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut guaranteed = true;
    for resources in all {
        add(&mut requests, resources.get("requests"));
        let limited = add(&mut limits, resources.get("limits"));
        // Those of a pod count only where there are some.
        let counts = of_pod.is_none() || resources.get("limits").is_some_and(|limits| !limits.is_empty());
        guaranteed &= limited == COMPUTE.len() || !counts;
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let as_limited = |(name, request): (&&str, &Quantity)| {
        limits
            .get(*name)
            .is_some_and(|limit| limit.partial_cmp(request) == Some(Ordering::Equal))
    };
    match guaranteed && requests.iter().all(as_limited) && requests.len() == limits.len() {
        true => "Guaranteed",
        false => "Burstable",
    }
}

/// Whether the resources of a whole Pod decide, rather than those of its containers.
// Upstream: pkg/apis/core/helper/helpers.go, IsPodLevelResourcesSet
fn is_set(resources: &Value<'static>) -> bool {
    let lists = ["requests", "limits"].into_iter();
    let lists = lists.filter_map(|list| resources.get(list).and_then(Value::as_object));
    let mut names = lists.flat_map(|list| list.iter().map(|(name, _)| name));
    names.any(|name| COMPUTE.contains(&name) || name.starts_with("hugepages-"))
}

/// Adds positive amounts and says of how many resources there are some.
fn add(sums: &mut Amounts, amounts: Option<&Value<'static>>) -> usize {
    let Some(amounts) = amounts.and_then(Value::as_object) else {
        return 0;
    };
    let positive = COMPUTE
        .iter()
        .filter_map(|name| Some((*name, amount(amounts, name)?)));
    let mut found = 0;
    for (name, amount) in positive {
        found += 1;
        let sum = match sums.get(name) {
            // A sum that is out of bounds stays as it was.
            Some(sum) => sum.add(&amount).unwrap_or_else(|_| sum.clone()),
            None => amount,
        };
        sums.insert(name, sum);
    }
    found
}

fn amount(amounts: &Object<'static>, name: &str) -> Option<Quantity> {
    let amount = Quantity::parse(amounts.get(name)?.as_str()?).ok()?;
    (amount.signum() > 0).then_some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spec: &str, expected: &str) {
        let text = format!(r#"{{"spec":{spec}}}"#);
        let pod = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        assert_eq!(class(&pod), expected, "{spec}");
    }

    #[test]
    fn classes_follow_from_resources() {
        let both = r#"{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1Gi"}}"#;
        check("{}", "BestEffort");
        check(
            r#"{"containers":[{"resources":{"requests":{"cpu":"0"}}}]}"#,
            "BestEffort",
        );
        check(
            r#"{"containers":[{"resources":{"limits":{"example.com/x":"1"}}}]}"#,
            "BestEffort",
        );
        check(
            r#"{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}"#,
            "Burstable",
        );
        check(
            &format!(r#"{{"containers":[{{"resources":{both}}}]}}"#),
            "Guaranteed",
        );
        check(
            &format!(r#"{{"containers":[{{"resources":{both}}},{{}}]}}"#),
            "Burstable",
        );
        check(
            &format!(r#"{{"containers":[{{}}],"resources":{both}}}"#),
            "Guaranteed",
        );
        check(
            r#"{"containers":[{}],"resources":{"requests":{"cpu":"1"}}}"#,
            "Burstable",
        );
        check(
            &format!(r#"{{"containers":[{{"resources":{both}}}],"resources":{{}}}}"#),
            "Guaranteed",
        );
    }
}
