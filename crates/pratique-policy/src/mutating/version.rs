//! The objects of a request in one kind, while they are mutated.

use std::cell::Cell;

use pratique_cel::Value;
use pratique_json::{self as json, Progress};
use pratique_types::GroupVersionKind;

use crate::inputs::{RequestObjects, UnconvertedObject};
use crate::session::RequestSession;
use crate::typed::{self, GoValue, ObjectPart};
use crate::typed_roots::TypedRoots;

/// The objects of a request in one kind.
pub(super) struct VersionedObjects<'s> {
    pub(super) kind: &'s GroupVersionKind,
    pub(super) object: &'s json::Value<'s>,
    /// The object as it was before any mutation.
    pub(super) original: &'s json::Value<'s>,
    old_object: &'s json::Value<'s>,
    /// Whether a mutation was applied, whatever it changed.
    pub(super) changed: bool,
    builtin: bool,
    roots: &'s TypedRoots<'s>,
    /// Whether expressions see built-in objects through their types from now on.
    uses_types: Cell<bool>,
    value: Cell<Option<Value<'s>>>,
    old_value: Cell<Option<Value<'s>>>,
}

/// Which expressions look at the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectViewer {
    Condition,
    Mutation,
}

impl<'s> VersionedObjects<'s> {
    pub(super) fn new(
        kind: &'s GroupVersionKind,
        object: &'s json::Value<'s>,
        session: &RequestSession<'s>,
    ) -> Result<Self, UnconvertedObject> {
        let release = session.context.release;
        let old_object = session.typed(kind, &session.request.old_object)?;
        let object = session.typed(kind, object)?;
        Ok(VersionedObjects {
            kind,
            object,
            original: object,
            old_object,
            changed: false,
            // Before 1.37, expressions saw no types.
            builtin: release.has_type(kind) && release.at_least(1, 37),
            roots: session.typed_roots(),
            uses_types: Cell::new(false),
            value: Cell::new(None),
            old_value: Cell::new(session.unknown_old_object()),
        })
    }

    /// Replaces the object, perhaps by the same.
    pub(super) fn set(&mut self, object: &'s json::Value<'s>) {
        self.object = object;
        self.changed = true;
        self.value.set(None);
    }

    /// The Go value of a part of the objects, the request or its namespace, where expressions see it through a type of
    /// its own.
    pub(super) fn go_value(&self, part: ObjectPart<'_>, progress: &Progress<'_>) -> Option<GoValue> {
        let release = self.roots.release;
        let value_in = |object: &json::Value<'_>| typed::go_value(release, self.kind, object, part, progress);
        value_in(self.object)
            .or_else(|| value_in(self.old_object))
            .or_else(|| self.roots.go_value(part, progress))
    }

    /// The objects as expressions see them.
    ///
    /// Match conditions see built-in objects through their types, mutations do not. But an object that was read in one
    /// way is read in that way until it changes, and once a match condition read an object, mutations read new ones as
    /// it does.
    pub(super) fn objects(&self, viewer: ObjectViewer) -> RequestObjects<'s> {
        if viewer == ObjectViewer::Condition {
            self.uses_types.set(true);
        }
        RequestObjects {
            object: self.value(self.object, &self.value),
            old_object: self.value(self.old_object, &self.old_value),
        }
    }

    fn value(&self, object: &'s json::Value<'s>, cached: &Cell<Option<Value<'s>>>) -> Value<'s> {
        if let Some(value) = cached.get() {
            return value;
        }
        let value = if self.builtin && self.uses_types.get() {
            self.roots.add(self.kind, [object, object]);
            Value::from_typed_json(object)
        } else {
            Value::from_json(object)
        };
        cached.set(Some(value));
        value
    }
}
