//! The usage of resource claims: devices by class.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::time::Timestamp;
use pratique_json::Value;
use pratique_plugin::{ClusterState, FieldsRead, Rejection, StateKind};

use super::pods::pod_usage;
use super::rules::UsageRules;
use crate::fields::{items, text_at};
use crate::names::{DEVICE_CLASS, PER_CLASS};
use crate::{QuotaError, ResourceList};

/// How many devices a request for all of them may get.
const MOST_DEVICES: i64 = 32;

/// The annotation of claims that the scheduler makes for extended resources of a pod.
const EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";

/// What is read of the Pod that a claim for its extended resources belongs to.
pub(crate) const PODS_READ: FieldsRead = FieldsRead {
    kind: StateKind::POD,
    fields: &[
        &["metadata", "deletionGracePeriodSeconds"],
        &["metadata", "deletionTimestamp"],
        &["metadata", "uid"],
        &["spec", "containers", "name"],
        &["spec", "containers", "resources"],
        &["spec", "initContainers", "name"],
        &["spec", "initContainers", "resources"],
        &["spec", "initContainers", "restartPolicy"],
        &["spec", "overhead"],
        &["spec", "resources"],
        &["status"],
    ],
};

/// Which device classes provide extended resources.
// Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache/extendedresourcecache.go
#[derive(Clone, Copy)]
pub(crate) struct DeviceClasses<'a>(pub(crate) &'a [Arc<Value<'static>>]);

impl<'a> DeviceClasses<'a> {
    /// The extended resource that a class provides; empty if none.
    pub(crate) fn resource_of(self, class: &str) -> &'a str {
        let named = |value: &&Arc<Value<'static>>| text_at(value, &["metadata", "name"]) == class;
        let device_class = self.0.iter().find(named);
        device_class.map_or("", |class| text_at(class, &["spec", "extendedResourceName"]))
    }

    /// Whether a class provides an extended resource, under its own name or the implicit one.
    pub(crate) fn provides(self, resource: &str) -> bool {
        let implicit = resource.strip_prefix(DEVICE_CLASS);
        self.0.iter().any(|class| {
            let name = text_at(class, &["metadata", "name"]);
            let provided = text_at(class, &["spec", "extendedResourceName"]);
            implicit == Some(name) || (!provided.is_empty() && provided == resource)
        })
    }
}

/// The usage of a claim.
// Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, claimEvaluator.Usage
pub(crate) fn resource_claim_usage<'a>(
    claim: &'a Value<'a>,
    namespace: &str,
    now: Duration,
    rules: UsageRules,
    extended: Option<DeviceClasses<'a>>,
    state: &'a dyn ClusterState,
) -> Result<ResourceList<'a>, Rejection> {
    let mut usage = of_devices(claim)?;
    let Some(classes) = extended else {
        return Ok(usage);
    };
    let pod = owning_pod(claim, namespace, rules, state)?;
    let counted = match pod {
        Some(pod) => pod_usage(pod, now, rules).unwrap_or_default(),
        None => ResourceList::default(),
    };
    add_extended(&mut usage, classes, &counted)?;
    Ok(usage)
}

/// The devices that a claim requests, and the claim itself.
fn of_devices<'a>(claim: &'a Value<'a>) -> Result<ResourceList<'a>, QuotaError> {
    let mut usage = ResourceList::default();
    usage.set("count/resourceclaims.resource.k8s.io", Quantity::parse("1")?);
    let devices = claim.at(&["spec", "devices"]);
    for request in devices.map_or(&[] as &[_], |devices| items(devices, "requests")) {
        let alternatives = items(request, "firstAvailable");
        if !alternatives.is_empty() {
            // Of alternatives, the worst case of each class counts.
            let mut most = ResourceList::default();
            for alternative in alternatives {
                let (name, count) = device_count(alternative)?;
                // Classes without devices are not even named.
                if count.signum() > 0 {
                    most.raise_to(&[(name, count)].into_iter().collect());
                }
            }
            usage.add_all(&most)?;
        } else if let Some(exactly) = request.get("exactly").filter(|exactly| !exactly.is_null()) {
            let (name, count) = device_count(exactly)?;
            usage.add(name, &count)?;
        }
    }
    Ok(usage)
}

/// The resource of a request for devices, and how many it may get.
fn device_count<'a>(request: &'a Value<'a>) -> Result<(Cow<'a, str>, Quantity), QuotaError> {
    let count = match text_at(request, &["allocationMode"]) {
        "ExactCount" => request.get("count").and_then(Value::as_int).unwrap_or(0),
        "All" => MOST_DEVICES,
        // Modes of other versions count as none.
        _ => 0,
    };
    let name = format!("{}{PER_CLASS}", text_at(request, &["deviceClassName"]));
    Ok((Cow::Owned(name), Quantity::parse(&count.to_string())?))
}

/// Adds the devices under the names of extended resources, less the usage that the pod is charged already.
// Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, claimEvaluator.addExtendedResourceQuota
fn add_extended<'a>(
    usage: &mut ResourceList<'a>,
    classes: DeviceClasses<'a>,
    counted: &ResourceList<'_>,
) -> Result<(), QuotaError> {
    let mut extended: Vec<(String, Quantity)> = Vec::new();
    for (name, count) in usage.iter() {
        let Some(class) = name.strip_suffix(PER_CLASS).filter(|class| !class.is_empty()) else {
            continue;
        };
        extended.push((format!("requests.{DEVICE_CLASS}{class}"), count.clone()));
        let resource = classes.resource_of(class);
        if !resource.is_empty() {
            extended.push((format!("requests.{resource}"), count.clone()));
        }
    }
    for (name, count) in extended {
        let left = match counted.get(&name) {
            Some(of_pod) => count.sub(of_pod)?,
            None => count,
        };
        if left.signum() > 0 {
            usage.set(name, left);
        }
    }
    Ok(())
}

/// The pod that a claim for extended resources belongs to, if both refer to each other.
// Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, claimEvaluator.getVerifiedPodUsage
fn owning_pod<'a>(
    claim: &Value<'_>,
    namespace: &str,
    rules: UsageRules,
    state: &'a dyn ClusterState,
) -> Result<Option<&'a Value<'a>>, Rejection> {
    let Some(owner) = owner(claim) else {
        return Ok(None);
    };
    let Some(pod) = state.find(StateKind::POD, namespace, text_at(owner, &["name"]))? else {
        return Ok(None);
    };
    let uid = text_at(owner, &["uid"]);
    if uid != text_at(pod, &["metadata", "uid"]) {
        return Ok(None);
    }
    if let Some(status) = pod
        .at(&["status", "extendedResourceClaimStatus"])
        .filter(|status| !status.is_null())
    {
        let is_claim = text_at(status, &["resourceClaimName"]) == text_at(claim, &["metadata", "name"]);
        return Ok(is_claim.then_some(pod));
    }
    // Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, getVerifiedPodUsage, which asked nothing more before 1.36.
    if !rules.release.at_least(1, 36) {
        return Ok(Some(pod));
    }
    // Otherwise it is the first claim of the pod.
    let order = |claim: &Value<'_>| {
        let created = Timestamp::parse(text_at(claim, &["metadata", "creationTimestamp"]));
        let created = created.map_or((i64::MIN, 0), |created| (created.seconds(), created.nanos()));
        (created, text_at(claim, &["metadata", "name"]).to_owned())
    };
    let claims = state.require_list(StateKind::RESOURCE_CLAIM, namespace)?;
    let mut owned = claims.iter().filter(|other| owner_uid(other) == Some(uid));
    let is_first = !owned.any(|other| order(other) < order(claim));
    Ok(is_first.then_some(pod))
}

/// The owner of a claim for extended resources, if it is a pod.
fn owner<'a>(claim: &'a Value<'_>) -> Option<&'a Value<'a>> {
    if text_at(claim, &["metadata", "annotations", EXTENDED]) != "true" {
        return None;
    }
    let owners = items(claim.get("metadata")?, "ownerReferences");
    let is_controller = |owner: &&Value<'_>| owner.get("controller").and_then(Value::as_bool) == Some(true);
    let owner = owners.iter().find(is_controller)?;
    (text_at(owner, &["kind"]) == "Pod" && text_at(owner, &["apiVersion"]) == "v1").then_some(owner)
}

fn owner_uid<'a>(claim: &'a Value<'static>) -> Option<&'a str> {
    owner(claim).map(|owner| text_at(owner, &["uid"]))
}

#[cfg(test)]
mod tests {
    use pratique_plugin::{FieldTree, ObjectText, StateObjects};
    use pratique_schema::{FeatureGates, Release};

    use super::*;

    #[test]
    fn what_is_read_of_a_pod_is_all_that_counts() {
        let resources =
            r#"{"requests":{"cpu":"1","example.com/gpu":"2"},"limits":{"cpu":"2","memory":"1Gi"}}"#;
        let status = r#"{"name":"a","allocatedResources":{"cpu":"3"},"resources":{"requests":{"cpu":"4"}}}"#;
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"shop","uid":"u","labels":{{"a":"b"}},
                "deletionTimestamp":"2024-01-01T00:00:00Z","deletionGracePeriodSeconds":30}},
                "spec":{{"containers":[{{"name":"a","image":"i","resources":{resources}}},{{"name":"b","resources":{resources}}}],
                "initContainers":[{{"name":"c","restartPolicy":"Always","resources":{resources}}}],"overhead":{{"cpu":"5m"}},
                "resources":{{"requests":{{"cpu":"20"}}}},"nodeName":"n"}},
                "status":{{"phase":"Running","containerStatuses":[{status}]}}}}"#
        );
        let pod = pratique_json::parse(text.as_bytes()).unwrap();
        let mut state = StateObjects::default();
        let kept = ObjectText::of_fields(&pod, &FieldTree::new(PODS_READ.fields));
        state.insert_text(StateKind::POD, "shop", "p", kept);
        let kept = state.find(StateKind::POD, "shop", "p").unwrap().unwrap();
        let usage = |pod: &Value<'_>, now: u64, pod_level: bool| {
            let rules = UsageRules {
                has_pod_level: pod_level,
                ..UsageRules::new(FeatureGates::new(Release::latest()))
            };
            let usage = pod_usage(pod, Duration::from_secs(now), rules).unwrap();
            let amounts = usage.iter().map(|(name, amount)| format!("{name}={amount}"));
            amounts.collect::<Vec<_>>()
        };
        for now in [0, 1 << 40] {
            for pod_level in [false, true] {
                assert_eq!(usage(kept, now, pod_level), usage(&pod, now, pod_level));
            }
        }
        assert!(usage(&pod, 0, true).len() > 5);
        for path in [&["metadata", "uid"][..], &["status"]] {
            assert_eq!(kept.at(path), pod.at(path));
        }
    }
}
