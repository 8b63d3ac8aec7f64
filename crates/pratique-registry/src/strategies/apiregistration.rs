//! `apiregistration.k8s.io`.
// Upstream: kube-aggregator/pkg/registry/apiservice/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::object;
use crate::strategy::{PartEndpoint, ResourceStrategy, StrategyContext};

/// An endpoint that keeps the metadata that users set.
const STATUS: PartEndpoint = PartEndpoint {
    kept: &[
        &["spec"],
        &["metadata", "labels"],
        &["metadata", "annotations"],
        &["metadata", "finalizers"],
        &["metadata", "ownerReferences"],
    ],
    ..PartEndpoint::STATUS_ONLY
};

pub(super) const STRATEGIES: &[ResourceStrategy] =
    &[ResourceStrategy::new("apiregistration.k8s.io", "APIService")
        .conditional()
        .status(STATUS)
        .prepare(create, |_, _, _| {})];

/// An API that the server itself serves is available at once.
fn create(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    if object::has(object, &["spec", "service"]) {
        return;
    }
    let mut condition = Value::Object(pratique_json::Object::new());
    for (name, text) in [
        ("type", "Available"),
        ("status", "True"),
        ("reason", "Local"),
        ("message", "Local APIServices are always available"),
        ("lastTransitionTime", context.placeholders.time.as_str()),
    ] {
        object::set(&mut condition, &[name], text.to_owned());
    }
    object::set(object, &["status", "conditions"], vec![condition]);
}
