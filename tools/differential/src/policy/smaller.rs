//! Worlds from which one thing is gone.

use serde_json::Value;

use super::world::World;
use super::writer::Trees;
use crate::tree::shorter;

/// The objects of one sort in a world.
type Part = fn(&mut World) -> &mut Vec<Value>;

/// The same world without one of the things in it, or with a simpler expression; large things come first.
pub(super) fn smaller(world: &World) -> Vec<World> {
    let mut found = Vec::new();
    let parts: [(&Vec<Value>, Part, bool); 4] = [
        (&world.manifests, |world| &mut world.manifests, true),
        (&world.api, |world| &mut world.api, true),
        (&world.objects, |world| &mut world.objects, false),
        (&world.requests, |world| &mut world.requests, false),
    ];
    for (objects, part, _) in parts.iter().take(3) {
        for index in 0..objects.len() {
            let mut smaller = world.clone();
            part(&mut smaller).remove(index);
            found.push(smaller);
        }
    }
    if world.allow.as_array().is_some_and(|rules| !rules.is_empty()) {
        found.push(World {
            allow: Value::Array(Vec::new()),
            ..world.clone()
        });
    }
    let mut candidates = Vec::new();
    for (objects, part, of_policy) in parts {
        for (index, object) in objects.iter().enumerate() {
            // Definitions are as small as they get.
            if object["kind"] == "CustomResourceDefinition" {
                continue;
            }
            let mut replaced = Vec::new();
            replacements(object, of_policy, &world.trees, &mut Vec::new(), &mut replaced);
            candidates.extend(
                replaced
                    .into_iter()
                    .map(|(depth, object)| (depth, part, index, object)),
            );
        }
    }
    candidates.sort_by_key(|(depth, ..)| *depth);
    for (_, part, index, object) in candidates {
        let mut smaller = world.clone();
        if let Some(place) = part(&mut smaller).get_mut(index) {
            *place = object;
        }
        found.push(smaller);
    }
    found
}

/// What policies and bindings must have, and what an API server would set if it were not there.
const NEEDED: &str = "apiVersion kind metadata name spec policyName failurePolicy matchConstraints matchPolicy \
    namespaceSelector objectSelector scope resourceRules apiGroups apiVersions operations resources \
    validationActions reinvocationPolicy patchType applyConfiguration jsonPatch \
    parameterNotFoundAction expression valueExpression key operator values";

/// What a request must have.
const OF_REQUESTS: &str = "uid kind resource operation group version apiVersion name metadata";

/// A value with one thing in it gone, and how deep that was.
fn replacements(
    value: &Value,
    of_policy: bool,
    trees: &Trees,
    path: &mut Vec<String>,
    found: &mut Vec<(usize, Value)>,
) {
    match value {
        Value::Object(members) => {
            let needed = if of_policy { NEEDED } else { OF_REQUESTS };
            // The labels of a selector and the like may have any names.
            let free = path
                .last()
                .is_some_and(|last| last == "matchLabels" || last == "labels");
            for (name, member) in members {
                if free || !needed.split_whitespace().any(|needed| needed == name) {
                    let mut smaller = members.clone();
                    smaller.remove(name);
                    found.push((path.len(), Value::Object(smaller)));
                }
                let mut inner = Vec::new();
                path.push(name.clone());
                replacements(member, of_policy, trees, path, &mut inner);
                path.pop();
                found.extend(inner.into_iter().map(|(depth, replacement)| {
                    let mut smaller = members.clone();
                    smaller.insert(name.clone(), replacement);
                    (depth, Value::Object(smaller))
                }));
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                if !of_policy || elements.len() > 1 {
                    let mut smaller = elements.clone();
                    smaller.remove(index);
                    found.push((path.len(), Value::Array(smaller)));
                }
                let mut inner = Vec::new();
                path.push(String::new());
                replacements(element, of_policy, trees, path, &mut inner);
                path.pop();
                found.extend(inner.into_iter().map(|(depth, replacement)| {
                    let mut smaller = elements.clone();
                    if let Some(place) = smaller.get_mut(index) {
                        *place = replacement;
                    }
                    (depth, Value::Array(smaller))
                }));
            }
        }
        Value::String(text) if of_policy && is_expression(path) => {
            let simpler = simpler(text, trees);
            found.extend(simpler.into_iter().map(|text| (20, Value::String(text))));
        }
        _ => {}
    }
}

fn is_expression(path: &[String]) -> bool {
    let last = path.last().map(String::as_str);
    matches!(last, Some("expression" | "messageExpression" | "valueExpression"))
}

/// How many simpler expressions are tried in the place of one.
const SIMPLER: usize = 60;

fn simpler(source: &str, trees: &Trees) -> Vec<String> {
    let mut found: Vec<String> = match trees.get(source) {
        Some(tree) => tree.simpler().iter().map(crate::tree::Tree::plain).collect(),
        None => Vec::new(),
    };
    found.retain(|simpler| simpler.len() < source.len());
    found.dedup();
    found.truncate(SIMPLER);
    if source.len() < 120 {
        found.extend(shorter(source).into_iter().take(2 * SIMPLER));
    }
    found
}
