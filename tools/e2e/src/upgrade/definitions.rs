//! Where objects are created, and what has to be there: their namespaces, and the definitions of their kinds.

use std::collections::{BTreeMap, BTreeSet};

use pratique_deploy::text_at;
use pratique_harness::{ToolError, eventually};
use serde_json::{Value, json};

use crate::http::{self, UserProxy};
use crate::kubectl::KubectlUser;

/// An object, and the path of the collection that it is created in.
pub(super) struct PlacedObject {
    pub(super) object: Value,
    pub(super) path: String,
}

/// The definitions among objects, and the namespaces that the objects are in.
pub(super) struct CustomDefinitions {
    /// By their names.
    definitions: BTreeMap<String, Value>,
    /// The paths of custom resources, by version and kind: the one of their group, the resource, and whether they are in namespaces.
    paths: BTreeMap<[String; 2], (String, String, bool)>,
    namespaces: BTreeSet<String>,
}

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// Namespaces that every server makes for itself.
const OWN: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

const DEFINITION: &str = "CustomResourceDefinition";

impl CustomDefinitions {
    /// Those among objects; of several with the same name the first one.
    pub(super) fn new(objects: &[Value]) -> Self {
        let mut known = CustomDefinitions {
            definitions: BTreeMap::new(),
            paths: BTreeMap::new(),
            namespaces: BTreeSet::new(),
        };
        for object in objects {
            let name = text_at(object, "/metadata/name").to_owned();
            if text_at(object, "/kind") == DEFINITION && !known.definitions.contains_key(&name) {
                known.add_paths(object);
                known.definitions.insert(name, object.clone());
            }
            let namespace = text_at(object, "/metadata/namespace");
            if !namespace.is_empty() {
                known.namespaces.insert(namespace.to_owned());
            }
        }
        known
    }

    fn add_paths(&mut self, definition: &Value) {
        let group = text_at(definition, "/spec/group");
        let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
        for version in versions.into_iter().flatten() {
            let version = format!("{group}/{}", text_at(version, "/name"));
            let path = (
                format!("/apis/{version}"),
                text_at(definition, "/spec/names/plural").to_owned(),
                text_at(definition, "/spec/scope") == "Namespaced",
            );
            let kind = text_at(definition, "/spec/names/kind").to_owned();
            self.paths.insert([version, kind], path);
        }
    }

    /// The objects of kinds that a server may know, with their paths, and a text about the others.
    pub(super) fn place(&self, objects: Vec<Value>) -> (Vec<PlacedObject>, String) {
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        let mut placed = Vec::new();
        for mut object in objects {
            let [version, kind] = ["/apiVersion", "/kind"].map(|path| text_at(&object, path).to_owned());
            let has_namespace = !text_at(&object, "/metadata/namespace").is_empty();
            let custom = self.paths.get(&[version.clone(), kind.clone()]);
            let path = match custom {
                Some((api, resource, false)) => Ok(format!("{api}/{resource}")),
                Some((api, resource, true)) => {
                    name_namespace(&mut object, has_namespace);
                    let namespace = text_at(&object, "/metadata/namespace");
                    Ok(format!("{api}/namespaces/{namespace}/{resource}"))
                }
                None => http::path(&object).and_then(|path| {
                    if path.contains("/namespaces//") {
                        name_namespace(&mut object, has_namespace);
                    }
                    http::path(&object)
                }),
            };
            match path {
                Ok(path) => placed.push(PlacedObject { object, path }),
                Err(_) => *unknown.entry(format!("{version} {kind}")).or_default() += 1,
            }
        }
        let count: usize = unknown.values().sum();
        let names: Vec<&str> = unknown.keys().map(String::as_str).collect();
        (
            placed,
            format!(
                "{count} of kinds without a definition are left out: {}",
                names.join(", ")
            ),
        )
    }

    /// Creates the namespaces and the definitions in a server, and waits until it knows the kinds.
    pub(super) fn create(&self, proxy: &UserProxy, kubectl: &KubectlUser) -> Result<(), ToolError> {
        let others = self
            .namespaces
            .iter()
            .filter(|name| !OWN.contains(&name.as_str()));
        for name in others {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            proxy.send("POST", "/api/v1/namespaces", &namespace)?;
        }
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let mut created = BTreeSet::new();
        for (name, definition) in &self.definitions {
            let answer = proxy.send("POST", path, definition)?;
            if answer.get("object").is_some() {
                created.insert(name.as_str());
            } else {
                eprintln!("{name}: {answer}");
            }
        }
        eventually("known", || {
            let list = kubectl.json(&["get", "customresourcedefinitions"])?;
            let items = list.get("items").and_then(Value::as_array);
            let known = items.into_iter().flatten().filter(|item| is_established(item));
            Ok(known.count() >= created.len())
        })
        .map(drop)
    }

    /// The definitions, each on a line.
    pub(super) fn lines(&self) -> String {
        self.definitions
            .values()
            .map(|definition| format!("{definition}\n"))
            .collect()
    }
}

fn name_namespace(object: &mut Value, has_namespace: bool) {
    if let (Some(Value::Object(metadata)), false) = (object.get_mut("metadata"), has_namespace) {
        metadata.insert("namespace".to_owned(), NAMESPACE.into());
    }
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| {
        text_at(condition, "/type") == "Established" && text_at(condition, "/status") == "True"
    })
}
