//! Policies, a cluster, and requests: the input of both sides.

use pratique_harness::{RandomDice, with};
use serde::Serialize;
use serde_json::{Value, json};

use super::kinds::{KINDS, POD};
use super::policies::{PolicyOrigin, policies};
use super::requests::{cluster, request};
use super::writer::SourceTrees;
use crate::release::ComparedRelease;
use crate::sketch::OF_POLICIES;

/// Policies, a cluster, and independent requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PolicyWorld {
    /// Policies and bindings of manifests.
    #[serde(rename = "static")]
    pub manifests: Vec<Value>,
    /// Policies and bindings of the API.
    pub api: Vec<Value>,
    /// Namespaces, params and definitions of custom resources.
    pub objects: Vec<Value>,
    /// The rules of the authorizer.
    pub allow: Value,
    /// The requests.
    pub requests: Vec<Value>,
    /// The release that is compared.
    #[serde(skip)]
    pub(super) compared: ComparedRelease,
    /// The trees of expressions.
    #[serde(skip)]
    pub(super) trees: SourceTrees,
}

/// Generates a world with a number of requests, for a release.
pub(super) fn world(dice: &mut RandomDice, requests: usize, compared: &ComparedRelease) -> PolicyWorld {
    let mut world = PolicyWorld {
        compared: compared.clone(),
        objects: cluster(dice),
        allow: OF_POLICIES.draw("allowed", dice),
        ..PolicyWorld::default()
    };
    let focus = *dice.pick(KINDS).unwrap_or(&POD);
    // Upstream: the gate ManifestBasedAdmissionControlConfig, new in 1.36.
    let has_files = compared.release.at_least(1, 36);
    let [from_files, from_api] = match dice.below(20) {
        _ if !has_files => [false, true],
        0 | 1 => [true, true],
        2..10 => [false, true],
        _ => [true, false],
    };
    if from_files {
        world.manifests = policies(dice, PolicyOrigin::Static, &focus, &mut world.trees);
    }
    if from_api {
        world.api = policies(dice, PolicyOrigin::Api, &focus, &mut world.trees);
    }
    world.requests = (0..requests).map(|_| request(dice, &focus)).collect();
    world
}

impl PolicyWorld {
    /// The same world with one of its requests.
    pub(super) fn with_request(&self, index: usize) -> PolicyWorld {
        PolicyWorld {
            requests: self.requests.get(index).cloned().into_iter().collect(),
            ..self.clone()
        }
    }

    /// A case as conformance suites have them, of the first request.
    pub(super) fn case(&self, expect: &Value) -> Value {
        let of = |prefix: &str| -> Vec<&Value> {
            let all = self.manifests.iter();
            all.filter(|object| {
                object["kind"]
                    .as_str()
                    .is_some_and(|kind| kind.starts_with(prefix))
            })
            .collect()
        };
        let mut manifests = serde_json::Map::new();
        for (folder, prefix) in [("mutating", "Mutating"), ("validating", "Validating")] {
            let items = of(prefix);
            if !items.is_empty() {
                let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
                manifests.insert(folder.to_owned(), json!({"policies.json": list.to_string()}));
            }
        }
        let case =
            json!({"name": "differential/", "objects": self.objects, "request": self.requests.first()});
        let case = match &self.compared.version {
            Some(version) => with(case, [("kubernetesVersion", version.as_str().into())]),
            None => case,
        };
        let parts = [
            ("manifests", Value::Object(manifests)),
            ("apiObjects", json!(self.api)),
            ("authorizer", json!({"allow": self.allow})),
            ("expect", expect.clone()),
        ];
        with(case, parts)
    }
}
