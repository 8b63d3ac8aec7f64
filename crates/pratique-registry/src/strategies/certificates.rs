//! `certificates.k8s.io`.
// Upstream: pkg/registry/certificates/*/strategy.go

use pratique_json::{Object, Value};

use crate::edited_object::EditedObject;
use crate::object::{self, FieldPath};
use crate::strategy::{PartEndpoint, ResourceStrategy, StrategyContext};

const GROUP: &str = "certificates.k8s.io";

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy {
        reset: &[&["spec"], &["status"]],
        endpoints: &[("approval", APPROVAL)],
        ..ResourceStrategy::new(GROUP, "CertificateSigningRequest")
            .status(PartEndpoint {
                reset: &[&["spec"], &["status", "conditions"]],
                ..PartEndpoint::STATUS.and(update_status)
            })
            .prepare(create_request, |_, object, old| {
                object::copy(object, old, &["spec"])
            })
    },
    ResourceStrategy::new(GROUP, "ClusterTrustBundle").conditional(),
    ResourceStrategy::new(GROUP, "PodCertificateRequest")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY),
];

const APPROVAL: PartEndpoint = PartEndpoint {
    reset: &[&["spec"], &["status", "certificate"]],
    ..PartEndpoint::STATUS.and(update_approval)
};

/// The requester is the user who makes the request, whatever the object says.
fn create_request(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    for field in ["username", "uid", "groups", "extra"] {
        object::remove(object, &["spec", field]);
    }
    let user = context.user;
    for (field, text) in [("username", &user.username), ("uid", &user.uid)] {
        if !text.is_empty() {
            object::set(object, &["spec", field], text.clone());
        }
    }
    if !user.groups.is_empty() {
        object::set(object, &["spec", "groups"], texts(&user.groups));
    }
    if !user.extra.is_empty() {
        let mut extra = Object::new();
        for (name, values) in &user.extra {
            extra.insert(name.clone(), texts(values));
        }
        object::set(object, &["spec", "extra"], extra);
    }
}

fn texts(texts: &[String]) -> Value<'static> {
    let texts = texts.iter().map(|text| Value::from(text.clone()));
    texts.collect::<Vec<_>>().into()
}

const CONDITIONS: FieldPath<'static> = &["status", "conditions"];

fn update_status<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    for of_type in ["Approved", "Denied"] {
        preserve_conditions(object, old, of_type);
    }
    populate_times(context, object, old);
}

fn update_approval<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    populate_times(context, object, old);
    let conditions = object::remove(object, CONDITIONS);
    object::copy(object, old, &["status"]);
    object::put(object, CONDITIONS, conditions);
}

/// Conditions of a type stay as they were, unless there are more or fewer of them.
// Upstream: pkg/registry/certificates/certificates/strategy.go, preserveConditionInstances
fn preserve_conditions<'v>(object: &mut EditedObject<'v>, old: &Value<'v>, of_type: &str) {
    let is_of_type = |condition: &&Value<'_>| object::text(condition, &["type"]) == of_type;
    let old_conditions: Vec<Value<'_>> = object::list(old, CONDITIONS)
        .iter()
        .filter(is_of_type)
        .cloned()
        .collect();
    if object::list(object, CONDITIONS).iter().filter(is_of_type).count() != old_conditions.len() {
        return;
    }
    let now = object::list_mut(object, CONDITIONS).iter_mut();
    let now = now.filter(|condition| object::text(condition, &["type"]) == of_type);
    for (condition, old_condition) in now.zip(old_conditions) {
        *condition = old_condition;
    }
}

// Upstream: pkg/registry/certificates/certificates/strategy.go, populateConditionTimestamps
fn populate_times<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    let now = &context.placeholders.time;
    for condition in object::list_mut(object, CONDITIONS) {
        if !object::has(condition, &["lastUpdateTime"]) {
            object::set(condition, &["lastUpdateTime"], now.clone());
        }
        if !object::has(condition, &["lastTransitionTime"]) {
            let same = |old_condition: &&Value<'_>| {
                let same = |name| object::text(old_condition, &[name]) == object::text(condition, &[name]);
                same("type") && same("status") && object::has(old_condition, &["lastTransitionTime"])
            };
            let old_condition = object::list(old, CONDITIONS).iter().find(same);
            let time = old_condition.map_or(now.as_str(), |old_condition| {
                object::text(old_condition, &["lastTransitionTime"])
            });
            object::set(condition, &["lastTransitionTime"], time.to_owned());
        }
    }
}
