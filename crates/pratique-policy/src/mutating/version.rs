//! The objects of a request in one kind, while they are mutated.

use std::cell::Cell;

use pratique_cel::Value;
use pratique_json::{self as json, Progress};
use pratique_types::GroupVersionKind;

use crate::inputs::{Objects, Unconverted};
use crate::session::Session;
use crate::typed::{self, GoValue, Part};
use crate::typed_roots::TypedRoots;

/// The objects of a request in one kind.
pub(super) struct Version<'s> {
    pub(super) kind: &'s GroupVersionKind,
    pub(super) object: &'s json::Value<'s>,
    /// The object as it was before any mutation.
    pub(super) given: &'s json::Value<'s>,
    old_object: &'s json::Value<'s>,
    /// Whether a mutation was applied, whatever it changed.
    pub(super) changed: bool,
    builtin: bool,
    roots: &'s TypedRoots<'s>,
    /// Whether expressions see built-in objects through types of their own from now on.
    sees_types: Cell<bool>,
    seen: Cell<Option<Value<'s>>>,
    seen_old: Cell<Option<Value<'s>>>,
}

/// Which expressions look at the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewer {
    Condition,
    Mutation,
}

impl<'s> Version<'s> {
    pub(super) fn new(
        kind: &'s GroupVersionKind,
        object: &'s json::Value<'s>,
        session: &Session<'s>,
    ) -> Result<Self, Unconverted> {
        let old_object = session.typed(kind, &session.request.old_object)?;
        let object = session.typed(kind, object)?;
        Ok(Version {
            kind,
            object,
            given: object,
            old_object,
            changed: false,
            builtin: typed::is_builtin(kind),
            roots: session.typed_roots(),
            sees_types: Cell::new(false),
            seen: Cell::new(None),
            seen_old: Cell::new(session.unknown_old_object()),
        })
    }

    /// Replaces the object, perhaps by the same.
    pub(super) fn set(&mut self, object: &'s json::Value<'s>) {
        self.object = object;
        self.changed = true;
        self.seen.set(None);
    }

    /// The Go value of a part of the objects, the request or its namespace, where expressions see it through a type of
    /// its own.
    pub(super) fn go_value(&self, part: Part<'_>, progress: &Progress<'_>) -> Option<GoValue> {
        let found = |object: &json::Value<'_>| typed::go_value(self.kind, object, part, progress);
        found(self.object)
            .or_else(|| found(self.old_object))
            .or_else(|| self.roots.go_value(part, progress))
    }

    /// The objects as expressions see them.
    ///
    /// Match conditions see built-in objects through their types, mutations do not. But an object that was read in one
    /// way is read in that way until it changes, and once a match condition read an object, mutations read new ones as
    /// it does.
    pub(super) fn objects(&self, viewer: Viewer) -> Objects<'s> {
        if viewer == Viewer::Condition {
            self.sees_types.set(true);
        }
        Objects {
            object: self.see(self.object, &self.seen),
            old_object: self.see(self.old_object, &self.seen_old),
        }
    }

    fn see(&self, object: &'s json::Value<'s>, seen: &Cell<Option<Value<'s>>>) -> Value<'s> {
        if let Some(seen) = seen.get() {
            return seen;
        }
        let value = match self.builtin && self.sees_types.get() {
            true => {
                self.roots.add(self.kind, [object, object]);
                Value::from_typed_json(object)
            }
            false => Value::from_json(object),
        };
        seen.set(Some(value));
        value
    }
}
