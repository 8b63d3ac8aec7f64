//! An object of any kind, as it is stored.

use std::borrow::Cow;
use std::sync::LazyLock;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use pratique::Release;
use pratique::cluster::StoredObject;
use pratique::json::Value;
use pratique::types::GroupVersionKind;
use serde::{Deserialize, Deserializer};

use super::follow::ObjectKeeper;

/// The kind of namespaces.
pub(super) static NAMESPACE: LazyLock<GroupVersionKind> =
    LazyLock::new(|| GroupVersionKind::new("", "v1", "Namespace"));

/// An object of any kind.
#[derive(Clone, Debug)]
pub(super) struct KubeObject {
    /// Only the fields by which it is found.
    meta: ObjectMeta,
    value: Value<'static>,
}

impl KubeObject {
    /// The object, with `apiVersion` and `kind`, which objects in lists of built-in kinds lack.
    pub(super) fn into_value(self, kind: &GroupVersionKind) -> Value<'static> {
        let mut value = self.value;
        if let Value::Object(members) = &mut value {
            members.insert("apiVersion", Value::from(kind.api_version()));
            members.insert("kind", Value::from(kind.kind.clone()));
        }
        value
    }
}

impl<'de> Deserialize<'de> for KubeObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?.into_owned();
        let text = |field| {
            let text = value.at(&["metadata", field]).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        let meta = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        Ok(KubeObject { meta, value })
    }
}

impl Resource for KubeObject {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(of: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&of.kind)
    }

    fn group(of: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&of.group)
    }

    fn version(of: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&of.version)
    }

    fn api_version(of: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&of.api_version)
    }

    fn plural(of: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&of.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

/// The resource of a kind.
pub(super) fn resource(kind: &GroupVersionKind, plural: &str) -> ApiResource {
    ApiResource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        plural: plural.to_owned(),
    }
}

/// Keeps whole objects of this kind; those of built-in kinds without `managedFields`, as an API server keeps them.
pub(super) struct WholeObjects {
    pub(super) kind: GroupVersionKind,
    pub(super) builtin: bool,
}

/// Keeps namespaces.
pub(super) struct NamespaceStore {
    release: &'static Release,
    objects: WholeObjects,
}

impl NamespaceStore {
    pub(super) fn new(release: &'static Release) -> Self {
        NamespaceStore {
            release,
            objects: WholeObjects {
                kind: NAMESPACE.clone(),
                builtin: true,
            },
        }
    }
}

impl ObjectKeeper<KubeObject> for NamespaceStore {
    type Kept = StoredObject;

    fn keep(&self, object: KubeObject) -> Option<StoredObject> {
        let value = self.objects.keep(object)?;
        Some(StoredObject::new(self.release, value))
    }

    fn same(&self, one: &StoredObject, other: &StoredObject) -> bool {
        self.objects.same(one.value(), other.value())
    }
}

impl ObjectKeeper<KubeObject> for WholeObjects {
    type Kept = Value<'static>;

    fn keep(&self, object: KubeObject) -> Option<Value<'static>> {
        let mut value = object.into_value(&self.kind);
        if self.builtin
            && let Some(Value::Object(metadata)) = value.get_mut("metadata")
        {
            metadata.remove("managedFields");
        }
        Some(value)
    }

    fn same(&self, one: &Value<'static>, other: &Value<'static>) -> bool {
        let version = |value: &Value<'static>| {
            let version = value.at(&["metadata", "resourceVersion"]);
            version.and_then(Value::as_str).map(str::to_owned)
        };
        let (one, other) = (version(one), version(other));
        one.is_some() && one == other
    }
}
