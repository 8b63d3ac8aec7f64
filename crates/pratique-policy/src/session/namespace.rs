//! The namespace of a request.

use pratique_cel::Value;
use pratique_core::{NamespaceObject, typed_value};
use pratique_expression::{UNKNOWN_NAMESPACE, named_namespace};
use pratique_match::Namespace;

use super::RequestSession;
use crate::inputs::NamespaceForm;

/// The namespace of a request does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoNamespace;

impl<'s> RequestSession<'s> {
    /// Looks up the stored namespace: none for namespaces themselves, though their requests carry a namespace. The
    /// error is for a namespace that does not exist.
    pub(crate) fn find_namespace(&self) -> Result<(), NoNamespace> {
        if self.stored_namespace.get().is_some() {
            return Ok(());
        }
        let kind = &self.request.kind;
        let of_namespace = kind.is_core("Namespace") && kind.version == "v1";
        let stored = if self.request.namespace.is_empty() || of_namespace {
            None
        } else {
            let namespace = self.context.cluster.namespace(&self.request.namespace);
            self.is_in_cluster.set(true);
            if !namespace.exists() {
                return Err(NoNamespace);
            }
            Some(namespace)
        };
        self.set_namespace(stored);
        Ok(())
    }

    /// Takes a stored namespace for that of the request.
    pub(crate) fn set_namespace(&self, stored: Option<Namespace<'s>>) {
        // The first one stays.
        let _ = self.stored_namespace.set(stored);
    }

    /// `namespaceObject` in a form.
    pub(super) fn namespace(&self, form: NamespaceForm) -> Value<'s> {
        let stored = self.stored_namespace.get().copied().flatten();
        let stored = match stored {
            _ if form == NamespaceForm::Absent => return Value::Null,
            None | Some(Namespace::Absent)
                if self.request.assumes_resource && self.request.namespace.is_empty() =>
            {
                return Value::Struct(&UNKNOWN_NAMESPACE);
            }
            None | Some(Namespace::Absent) => return Value::Null,
            Some(Namespace::Named) => {
                let named = || named_namespace(&self.request.namespace);
                return Value::Struct(self.arena.named_namespace.get_or_init(named));
            }
            Some(Namespace::Stored(stored)) => stored,
        };
        let seen = self.namespace.get_or_init(|| {
            let cluster = self.context.cluster;
            let kept = self.is_in_cluster.get();
            let kept = kept.then(|| cluster.namespace_object(&self.request.namespace));
            let make = || NamespaceObject::new(self.context.release, stored);
            kept.flatten()
                .unwrap_or_else(|| self.arena.namespace.get_or_init(make))
        });
        self.typed_roots().set_namespace(seen);
        let seen = match form {
            NamespaceForm::Full => &seen.full,
            _ => &seen.reduced,
        };
        typed_value(self.context.release, seen)
    }
}
