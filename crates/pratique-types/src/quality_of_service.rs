//! The quality-of-service class of a Pod.
// Upstream: pkg/apis/core/helper/qos/qos.go, ComputePodQOS

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

/// The resources that a class depends on.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

const BEST_EFFORT: &str = "BestEffort";
const BURSTABLE: &str = "Burstable";
const GUARANTEED: &str = "Guaranteed";

/// The quality-of-service class that a Pod gets by its resources: `BestEffort`, `Burstable` or `Guaranteed`.
///
/// ```
/// let pod = pratique_json::parse(br#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}"#)?;
/// assert_eq!(pratique_types::quality_of_service(&pod), "Burstable");
/// # Ok::<(), pratique_json::Error>(())
/// ```
pub fn quality_of_service(pod: &Value<'_>) -> &'static str {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    if let Some(resources) = spec.get("resources").filter(|resources| is_set(resources)) {
        return class_of(resources);
    }
    let lists = ["initContainers", "containers"].iter();
    let containers = lists.flat_map(|list| spec.get(list).and_then(Value::as_array).unwrap_or_default());
    common_class(containers.map(|container| class_of(container.get("resources").unwrap_or(&Value::Null))))
}

/// Whether the resources of a whole Pod decide, rather than those of its containers.
// Upstream: pkg/apis/core/helper/helpers.go, IsPodLevelResourcesSet
fn is_set(resources: &Value<'_>) -> bool {
    let lists = ["requests", "limits"].into_iter();
    let lists = lists.filter_map(|list| resources.get(list).and_then(Value::as_object));
    let mut names = lists.flat_map(|list| list.iter().map(|(name, _)| name));
    names.any(|name| COMPUTE.contains(&name) || name.starts_with("hugepages-"))
}

// Upstream: pkg/apis/core/helper/qos/qos.go, requirementsQOS
fn class_of(resources: &Value<'_>) -> &'static str {
    let list = |name| resources.get(name).and_then(Value::as_object);
    let (requests, limits) = (list("requests"), list("limits"));
    if [requests, limits].into_iter().flatten().all(Object::is_empty) {
        return BEST_EFFORT;
    }
    common_class(COMPUTE.iter().map(|name| {
        let request = amount(requests, name);
        if request != amount(limits, name) {
            BURSTABLE
        } else if request.is_zero() {
            BEST_EFFORT
        } else {
            GUARANTEED
        }
    }))
}

/// The class of parts that all have it; parts of different classes can burst.
fn common_class(mut classes: impl Iterator<Item = &'static str>) -> &'static str {
    let first = classes.next().unwrap_or(BEST_EFFORT);
    if classes.all(|class| class == first) {
        first
    } else {
        BURSTABLE
    }
}

/// An amount, zero where there is none.
fn amount(amounts: Option<&Object<'_>>, name: &str) -> Quantity {
    let text = amounts.and_then(|amounts| amounts.get(name)?.as_str());
    let amount = text.and_then(|text| Quantity::parse(text).ok());
    amount.unwrap_or_else(|| Quantity::from_integer(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spec: &str, expected: &str) {
        let text = format!(r#"{{"spec":{spec}}}"#);
        let pod = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        assert_eq!(quality_of_service(&pod), expected, "{spec}");
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
        // Each container by itself, though the sums are equal.
        let resources = |request: &str, limit: &str| {
            format!(
                r#"{{"resources":{{"requests":{{"cpu":"{request}","memory":"1"}},"limits":{{"cpu":"{limit}","memory":"1"}}}}}}"#
            )
        };
        check(
            &format!(
                r#"{{"containers":[{},{}]}}"#,
                resources("1", "2"),
                resources("2", "1")
            ),
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
