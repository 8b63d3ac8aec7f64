//! The resources that CustomResourceDefinitions define, as far as they matter here.

use std::sync::Arc;

use pratique::Release;
use pratique::api_objects::CustomDefaults;
use pratique::cluster::MergeSchema;
use pratique::json::Value;
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersionKind, GroupVersionResource};
use serde_json::json;

use super::follow::ObjectKeeper;
use super::stored_object::KubeObject;

/// A definition: the resources that it serves, and how their objects are merged and defaulted.
#[derive(Clone, Debug)]
pub(super) struct ServedDefinition {
    version: Option<String>,
    /// The definition as plugins see it: names and versions that are served.
    pub(super) outline: Arc<Value<'static>>,
    /// Absent where there are no defaults.
    pub(super) defaults: Option<Arc<CustomDefaults>>,
    /// In the definition's order.
    pub(super) served: Vec<ServedResource>,
    /// Absent where a schema is none that a server takes.
    pub(super) schema: Option<Arc<MergeSchema>>,
}

/// Keeps the used parts of definitions, once the API server, one of a release, serves them.
pub(super) struct DefinitionKeeper {
    pub(super) release: &'static Release,
}

impl ObjectKeeper<KubeObject> for DefinitionKeeper {
    type Kept = ServedDefinition;

    fn keep(&self, object: KubeObject) -> Option<ServedDefinition> {
        let object = object.into_value(&kind());
        is_established(&object).then(|| ServedDefinition::read(self.release, &object))
    }

    fn same(&self, one: &ServedDefinition, other: &ServedDefinition) -> bool {
        one.version.is_some() && one.version == other.version
    }
}

/// The kind of definitions.
pub(super) fn kind() -> GroupVersionKind {
    GroupVersionKind::custom_resource_definition()
}

impl ServedDefinition {
    fn read(release: &'static Release, object: &Value<'_>) -> Self {
        let text = |path: &[&str]| object.at(path).and_then(Value::as_str).unwrap_or_default();
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        let plural = text(&["spec", "names", "plural"]);
        let namespaced = text(&["spec", "scope"]) != "Cluster";
        let versions = object.at(&["spec", "versions"]).and_then(Value::as_array);
        let mut served = Vec::new();
        let mut names = Vec::new();
        for version in versions.unwrap_or_default() {
            if version.get("served").and_then(Value::as_bool) != Some(true) {
                continue;
            }
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
            let resource = GroupVersionResource::new(group, name, plural);
            if !release.resources().may_be_custom(&resource, kind) {
                continue;
            }
            names.push(name);
            let kind = GroupVersionKind::new(group, name, kind);
            let mut serve = |subresource: &str, kind: GroupVersionKind| {
                served.push(ServedResource {
                    resource: resource.clone(),
                    subresource: subresource.to_owned(),
                    kind,
                    namespaced,
                    short_names: Vec::new(),
                });
            };
            serve("", kind.clone());
            if version.at(&["subresources", "status"]).is_some() {
                serve("status", kind);
            }
            if version.at(&["subresources", "scale"]).is_some() {
                serve("scale", GroupVersionKind::new("autoscaling", "v1", "Scale"));
            }
        }
        ServedDefinition {
            version: Some(text(&["metadata", "resourceVersion"]).to_owned())
                .filter(|version| !version.is_empty()),
            outline: Arc::new(outline(object, &names)),
            defaults: defaults(object),
            served,
            schema: MergeSchema::custom(release, object).ok().map(Arc::new),
        }
    }
}

/// A definition without its schemas, and without versions that are not served.
fn outline(definition: &Value<'_>, served: &[&str]) -> Value<'static> {
    let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
    let versions: Vec<_> = served.iter().map(|name| json!({"name": name})).collect();
    let kind = kind();
    let outline = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": {"name": text(&["metadata", "name"])},
        "spec": {
            "group": text(&["spec", "group"]),
            "names": {"kind": text(&["spec", "names", "kind"]), "plural": text(&["spec", "names", "plural"])},
            "scope": text(&["spec", "scope"]),
            "versions": versions,
        },
    });
    let parsed = pratique::json::parse(outline.to_string().as_bytes()).map(Value::into_owned);
    parsed.unwrap_or_default()
}

/// The defaults of a definition, if it has any that can be followed.
fn defaults(definition: &Value<'_>) -> Option<Arc<CustomDefaults>> {
    match CustomDefaults::read(definition) {
        Ok(defaults) => defaults.map(Arc::new),
        Err(error) => {
            tracing::warn!(err = %error, "Objects are not defaulted after mutations");
            None
        }
    }
}

/// Whether the API server serves the defined resources, according to the status.
fn is_established(object: &Value<'_>) -> bool {
    let conditions = object.at(&["status", "conditions"]).and_then(Value::as_array);
    let text = |condition: &Value<'_>, field| condition.get(field).and_then(Value::as_str).map(str::to_owned);
    conditions.unwrap_or_default().iter().any(|condition| {
        text(condition, "type").as_deref() == Some("Established")
            && text(condition, "status").as_deref() == Some("True")
    })
}
