//! Stored namespaces.

use std::sync::{LazyLock, OnceLock};

use pratique_json::Value;
use pratique_policy::NamespaceObject;
use pratique_types::GroupVersionKind;

/// The kind of namespaces.
pub(crate) static NAMESPACE: LazyLock<GroupVersionKind> =
    LazyLock::new(|| GroupVersionKind::new("", "v1", "Namespace"));

/// An object, and if it is a namespace what expressions see of it: made once, and by the first request that wants it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) value: Value<'static>,
    seen: OnceLock<Box<NamespaceObject>>,
}

impl Stored {
    pub(crate) fn new(value: Value<'static>) -> Self {
        Stored {
            value,
            seen: OnceLock::new(),
        }
    }

    /// A namespace as expressions see it.
    pub(crate) fn as_namespace(&self) -> &NamespaceObject {
        self.seen
            .get_or_init(|| Box::new(NamespaceObject::new(&self.value)))
    }
}
