//! Requests, and what they find in the cluster.

use pratique_harness::{RandomDice, with};
use serde_json::{Value, json};

use super::kinds::{KINDS, POD, ResourceKind, definitions};
use super::objects::object;
use crate::sketch::OF_POLICIES;

/// A request, mostly about one kind.
pub(super) fn request(dice: &mut RandomDice, focus: &ResourceKind) -> Value {
    match dice.below(20) {
        0 => OF_POLICIES.draw("exec", dice),
        1 => OF_POLICIES.draw("scale", dice),
        2..8 => {
            let kind = *dice.pick(KINDS).unwrap_or(&POD);
            plain(dice, kind)
        }
        _ => plain(dice, *focus),
    }
}

pub(crate) fn plain(dice: &mut RandomDice, kind: ResourceKind) -> Value {
    let operation = OF_POLICIES.word("operation", dice);
    let name = match operation {
        "CREATE" if dice.chance(15) => "",
        "DELETE" if dice.chance(5) => "",
        _ => OF_POLICIES.word("name", dice),
    };
    let namespace = if kind.namespaced {
        OF_POLICIES.word("namespace", dice)
    } else {
        ""
    };
    // Each object of a collection is deleted without a name in the request.
    let object_name = match (operation, name) {
        ("DELETE", "") => "web-1",
        (_, name) => name,
    };
    let current = object(dice, &kind, object_name, namespace);
    let options = format!("options of {operation}");
    let options = dice
        .chance(50)
        .then(|| ("options", OF_POLICIES.draw(&options, dice)));
    // What is asked of a namespace is asked in it.
    let namespace = if kind.kind == "Namespace" { name } else { namespace };
    let named = [
        ("kind", kind.as_kind()),
        ("resource", kind.as_resource()),
        ("operation", json!(operation)),
        ("name", json!(name)),
        ("namespace", json!(namespace)),
    ];
    let request = with(
        OF_POLICIES.draw("request", dice),
        named.into_iter().chain(options),
    );
    match operation {
        "CREATE" => with(request, [("object", current)]),
        "UPDATE" => {
            let subresource = dice.pick(kind.subresources).filter(|_| dice.chance(20));
            let old = if dice.chance(25) {
                current.clone()
            } else {
                object(dice, &kind, name, namespace)
            };
            let request = with(request, [("oldObject", old), ("object", current)]);
            with(request, subresource.map(|name| ("subResource", json!(name))))
        }
        _ => with(request, [("oldObject", current)]),
    }
}

/// Namespaces, params, and the definitions of custom resources.
pub(super) fn cluster(dice: &mut RandomDice) -> Vec<Value> {
    let mut objects = definitions();
    if let Value::Object(drawn) = OF_POLICIES.draw("cluster", dice) {
        objects.extend(drawn.into_iter().map(|(_, object)| object));
    }
    objects
}
