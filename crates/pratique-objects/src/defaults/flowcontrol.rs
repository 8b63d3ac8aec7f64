//! `flowcontrol`.

use pratique_json::Object;

use super::field::{absent, empty, members, pointer};
use super::{Context, Function};

/// With it, a PriorityLevelConfiguration of `v1beta3` keeps zero shares.
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/// The shares of a level that has none.
const SHARES: i64 = 30;

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        (_, "ExemptPriorityLevelConfiguration") => |object, _| {
            absent(object, "nominalConcurrencyShares", 0);
            absent(object, "lendablePercent", 0);
        },
        (_, "FlowSchemaSpec") => |object, _| empty(object, "matchingPrecedence", 1000),
        ("v1", "LimitedPriorityLevelConfiguration") => |object, _| {
            absent(object, "nominalConcurrencyShares", SHARES);
            absent(object, "lendablePercent", 0);
        },
        ("v1beta1" | "v1beta2", "LimitedPriorityLevelConfiguration") => |object, _| {
            empty(object, "assuredConcurrencyShares", SHARES);
            absent(object, "lendablePercent", 0);
        },
        (_, "LimitedPriorityLevelConfiguration") => |object, _| absent(object, "lendablePercent", 0),
        (_, "PriorityLevelConfiguration") => priority_level,
        (_, "QueuingConfiguration") => |object, _| {
            empty(object, "handSize", 8);
            empty(object, "queues", 64);
            empty(object, "queueLengthLimit", 50);
        },
        _ => return None,
    })
}

fn priority_level(object: &mut Object<'_>, _: &Context<'_>) {
    let annotations = members(members(object, "metadata"), "annotations");
    if annotations.contains_key(PRESERVE_ZERO) {
        return;
    }
    let limited = pointer(object, "spec").and_then(|spec| pointer(spec, "limited"));
    if let Some(limited) = limited {
        empty(limited, "nominalConcurrencyShares", SHARES);
    }
}
