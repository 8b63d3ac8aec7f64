//! The resources that CustomResourceDefinitions define, as far as they matter here.

use std::sync::Arc;

use pratique::cluster::MergeSchema;
use pratique::json::Value;
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersionKind, GroupVersionResource};

use super::follow::Keep;
use super::stored::Stored;

/// A definition: what it serves, and how its objects are merged.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    version: Option<String>,
    /// In the definition's order.
    pub(super) served: Vec<ServedResource>,
    /// Absent where a schema is none that a server takes.
    pub(super) schema: Option<Arc<MergeSchema>>,
}

/// Keeps of definitions what matters, once the API server serves them.
pub(super) struct Definitions;

impl Keep<Stored> for Definitions {
    type Kept = Definition;

    fn keep(&self, object: Stored) -> Option<Definition> {
        let object = object.into_value(&kind());
        is_established(&object).then(|| Definition::read(&object))
    }

    fn same(&self, one: &Definition, other: &Definition) -> bool {
        one.version.is_some() && one.version == other.version
    }
}

/// The kind of definitions.
pub(super) fn kind() -> GroupVersionKind {
    GroupVersionKind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
}

impl Definition {
    fn read(object: &Value<'_>) -> Self {
        let text = |path: &[&str]| object.at(path).and_then(Value::as_str).unwrap_or_default();
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        let plural = text(&["spec", "names", "plural"]);
        let namespaced = text(&["spec", "scope"]) != "Cluster";
        let versions = object.at(&["spec", "versions"]).and_then(Value::as_array);
        let mut served = Vec::new();
        for version in versions.unwrap_or_default() {
            if version.get("served").and_then(Value::as_bool) != Some(true) {
                continue;
            }
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
            let kind = GroupVersionKind::new(group, name, kind);
            let mut serve = |subresource: &str, kind: GroupVersionKind| {
                served.push(ServedResource {
                    resource: GroupVersionResource::new(group, name, plural),
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
        Definition {
            version: Some(text(&["metadata", "resourceVersion"]).to_owned())
                .filter(|version| !version.is_empty()),
            served,
            schema: MergeSchema::custom(object).ok().map(Arc::new),
        }
    }
}

/// Whether the API server says that it serves what is defined.
fn is_established(object: &Value<'_>) -> bool {
    let conditions = object.at(&["status", "conditions"]).and_then(Value::as_array);
    let text = |condition: &Value<'_>, field| condition.get(field).and_then(Value::as_str).map(str::to_owned);
    conditions.unwrap_or_default().iter().any(|condition| {
        text(condition, "type").as_deref() == Some("Established")
            && text(condition, "status").as_deref() == Some("True")
    })
}
