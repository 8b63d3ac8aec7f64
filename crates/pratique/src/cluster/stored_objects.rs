//! Objects as a cluster keeps them.

use std::sync::{LazyLock, OnceLock};

use pratique_json::Value;
use pratique_policy::NamespaceObject;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// The kind of namespaces.
pub(super) static NAMESPACE: LazyLock<GroupVersionKind> =
    LazyLock::new(|| GroupVersionKind::new("", "v1", "Namespace"));

/// An object as a [`Cluster`](super::Cluster) keeps it. If it is a `v1` Namespace, the forms in which expressions see it
/// are made by the first request that reads them, and kept.
///
/// ```
/// use pratique::Release;
/// use pratique::cluster::StoredObject;
/// use pratique::json::Value;
///
/// let text = br#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}"#;
/// let stored = StoredObject::new(Release::latest(), pratique::json::parse(text)?.into_owned());
/// assert_eq!(stored.value().at(&["metadata", "name"]).and_then(Value::as_str), Some("shop"));
/// // What `Cluster::namespace_object` gives.
/// let first: *const _ = stored.as_namespace();
/// assert!(std::ptr::eq(first, stored.as_namespace()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredObject {
    release: &'static Release,
    value: Value<'static>,
    namespace: OnceLock<Box<NamespaceObject>>,
}

impl StoredObject {
    /// Keeps an object of a server of a release.
    pub fn new(release: &'static Release, value: Value<'static>) -> Self {
        StoredObject {
            release,
            value,
            namespace: OnceLock::new(),
        }
    }

    /// The object.
    pub fn value(&self) -> &Value<'static> {
        &self.value
    }

    /// The object as expressions see a namespace; for a `v1` Namespace only.
    pub fn as_namespace(&self) -> &NamespaceObject {
        self.namespace
            .get_or_init(|| Box::new(NamespaceObject::new(self.release, &self.value)))
    }
}
