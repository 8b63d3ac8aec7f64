//! `extensions`, from which other groups came, and tokens.

use pratique_json::{Object, Value};

use super::field::{absent, empty, part, pointer};
use super::{Context, Function, apps, network};

/// As long as nothing is to be limited.
const UNLIMITED: i64 = 2_147_483_647;

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "DaemonSet" => |object, _| {
            apps::selector_from_template(object);
            apps::daemon_set(object, "OnDelete");
        },
        "Deployment" => deployment,
        "ReplicaSet" => |object, _| {
            apps::selector_from_template(object);
            if let Some(spec) = part(object, "spec") {
                absent(spec, "replicas", 1);
            }
        },
        _ => return network::function(name),
    })
}

fn deployment(object: &mut Object<'_>, _: &Context<'_>) {
    apps::selector_from_template(object);
    let Some(spec) = part(object, "spec") else { return };
    absent(spec, "replicas", 1);
    if let Some(strategy) = part(spec, "strategy") {
        empty(strategy, "type", "RollingUpdate");
        apps::rolling_update(strategy, Value::Int(1), Value::Int(1));
        // Here it is done for other strategies, too.
        if let Some(update) = pointer(strategy, "rollingUpdate") {
            absent(update, "maxUnavailable", 1);
            absent(update, "maxSurge", 1);
        }
    }
    absent(spec, "progressDeadlineSeconds", UNLIMITED);
    absent(spec, "revisionHistoryLimit", UNLIMITED);
}

pub(super) fn token_request(name: &str) -> Option<Function> {
    match name {
        "TokenRequestSpec" => Some(|object, _| absent(object, "expirationSeconds", 3600)),
        _ => None,
    }
}
