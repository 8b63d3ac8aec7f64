//! Smaller worlds, each without one part.

use serde_json::Value;

use super::world::PolicyWorld;
use super::writer::SourceTrees;
use crate::shrink::{AllowedCuts, RemovablePart};
use crate::tree::shorter;

/// The objects of one sort in a world.
type WorldPlace = fn(&mut PolicyWorld) -> &mut Vec<Value>;

/// Variants of a world without one of its parts, or with a simpler expression; large parts are removed first.
pub(super) fn smaller(world: &PolicyWorld) -> Vec<PolicyWorld> {
    let mut worlds = Vec::new();
    let parts: [(&Vec<Value>, WorldPlace, bool); 4] = [
        (&world.manifests, |world| &mut world.manifests, true),
        (&world.api, |world| &mut world.api, true),
        (&world.objects, |world| &mut world.objects, false),
        (&world.requests, |world| &mut world.requests, false),
    ];
    for (objects, part, _) in parts.iter().take(3) {
        for index in 0..objects.len() {
            let mut smaller = world.clone();
            part(&mut smaller).remove(index);
            worlds.push(smaller);
        }
    }
    if world.allow.as_array().is_some_and(|rules| !rules.is_empty()) {
        worlds.push(PolicyWorld {
            allow: Value::Array(Vec::new()),
            ..world.clone()
        });
    }
    let of_policies = AllowedCuts {
        may_go: &|path, part| match part {
            RemovablePart::Member(name) => is_free(path) || !has_word(NEEDED, name),
            RemovablePart::Element(count) => count > 1,
        },
        texts: &|path, text| {
            if is_expression(path) {
                simpler(text, &world.trees)
            } else {
                Vec::new()
            }
        },
    };
    let of_others = AllowedCuts {
        may_go: &|path, part| match part {
            RemovablePart::Member(name) => is_free(path) || !has_word(OF_REQUESTS, name),
            RemovablePart::Element(_) => true,
        },
        texts: &|_, _| Vec::new(),
    };
    let mut candidates = Vec::new();
    for (objects, part, of_policy) in parts {
        for (index, object) in objects.iter().enumerate() {
            // Definitions are as small as they get.
            if object["kind"] == "CustomResourceDefinition" {
                continue;
            }
            let cuts = if of_policy { &of_policies } else { &of_others };
            let smaller = cuts.list_cuts(object, &mut Vec::new()).into_iter();
            candidates.extend(smaller.map(|(depth, object)| (depth, part, index, object)));
        }
    }
    candidates.sort_by_key(|(depth, ..)| *depth);
    for (_, part, index, object) in candidates {
        let mut smaller = world.clone();
        if let Some(place) = part(&mut smaller).get_mut(index) {
            *place = object;
        }
        worlds.push(smaller);
    }
    worlds
}

/// Fields that policies and bindings must have, and fields that an API server would default.
const NEEDED: &str = "apiVersion kind metadata name spec policyName failurePolicy matchConstraints matchPolicy \
    namespaceSelector objectSelector scope resourceRules apiGroups apiVersions operations resources \
    validationActions reinvocationPolicy patchType applyConfiguration jsonPatch \
    parameterNotFoundAction expression valueExpression key operator values";

/// Fields that a request must have.
const OF_REQUESTS: &str = "uid kind resource operation group version apiVersion name metadata";

/// Whether members may have any name, as labels and those of selectors.
fn is_free(path: &[String]) -> bool {
    path.last()
        .is_some_and(|last| last == "matchLabels" || last == "labels")
}

fn has_word(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

fn is_expression(path: &[String]) -> bool {
    let last = path.last().map(String::as_str);
    matches!(last, Some("expression" | "messageExpression" | "valueExpression"))
}

/// How many simpler expressions are tried in the place of one.
const SIMPLER: usize = 60;

fn simpler(source: &str, trees: &SourceTrees) -> Vec<String> {
    let mut expressions: Vec<String> = match trees.get(source) {
        Some(tree) => tree
            .simpler()
            .iter()
            .map(crate::tree::ExpressionTree::plain)
            .collect(),
        None => Vec::new(),
    };
    expressions.retain(|simpler| simpler.len() < source.len());
    expressions.dedup();
    expressions.truncate(SIMPLER);
    if source.len() < 120 {
        expressions.extend(shorter(source).into_iter().take(2 * SIMPLER));
    }
    expressions
}
