//! The mutated object in the version of the request.

use pratique_json as json;
use pratique_schema::merge::NoMergeType;
use pratique_types::status::internal_error;
use pratique_types::{GroupVersion, GroupVersionKind, Status};

use super::run::{MutatingEnd, MutationRun};
use super::same::seen_the_same;
use super::version::VersionedObjects;

impl<'s> MutationRun<'_, 's> {
    /// The object that mutations were applied to last.
    pub(super) fn changed(&self) -> Option<&VersionedObjects<'s>> {
        let last = self.last.and_then(|at| self.versions.get(at));
        last.filter(|version| version.changed)
    }

    /// Checks that an object of a custom kind can be converted back into the version of the request; its group has to
    /// be the same.
    pub(super) fn check_convertible(&self, changed: &VersionedObjects<'s>) -> Result<(), MutatingEnd> {
        let requested = &self.session.request.kind;
        if self.session.context.release.has_type(changed.kind) {
            return Ok(());
        }
        let text = |field| {
            changed
                .object
                .get(field)
                .and_then(json::Value::as_str)
                .unwrap_or_default()
        };
        let version = GroupVersion::parse(text("apiVersion")).unwrap_or_default();
        let of = version.clone().with_kind(text("kind"));
        let is_defined = |kind: &GroupVersionKind| {
            let schema = self.session.context.merge_schema(kind);
            schema.kind(kind) != Err(NoMergeType::Version)
        };
        if of.group != requested.group {
            let (of, to) = (show_kind(&of), requested.api_version());
            return Err(internal_error(&format!(
                "failed to convert object: {of} is unstructured and is not suitable for converting to \"{to}\""
            )).into());
        }
        if of.version != requested.version && !is_defined(&of) {
            return Err(internal_error(&format!(
                "failed to convert object: request to convert CR from an invalid group/version: {}",
                of.api_version()
            ))
            .into());
        }
        Ok(())
    }

    /// The mutated object as other plugins see it; `None` where it did not change.
    // Upstream: plugin/policy/mutating/dispatcher.go, Dispatch
    pub(super) fn converted(&self) -> Result<Option<json::Value<'static>>, Box<Status>> {
        let mut object = self.result();
        if let (Some(object), Some(model)) = (&mut object, self.session.context.object_model) {
            let converted = model.convert(&self.session.request.kind, object);
            converted.map_err(|error| internal_error(&format!("failed to convert object: {error}")))?;
        }
        Ok(object)
    }

    /// The mutated object; `None` where it did not change.
    fn result(&self) -> Option<json::Value<'static>> {
        let changed = self.changed()?;
        let kind = &self.session.request.kind;
        // A version of this very kind has the form of it.
        let of_kind = changed.kind == kind;
        let object = if !self.session.context.release.has_type(kind) {
            self.session.versioned(kind, changed.object)
        } else if of_kind {
            changed.object
        } else {
            self.session.typed(kind, changed.object).unwrap_or(changed.object)
        };
        let original = if of_kind {
            changed.original
        } else {
            self.session.typed(kind, self.object).unwrap_or(self.object)
        };
        if seen_the_same(object, original) {
            return None;
        }
        // An interrupted result is void.
        if self.session.context.release.has_type(kind) {
            object
                .try_rewritten(
                    self.session.context.release.tables().types,
                    &self.session.progress,
                )
                .ok()
        } else {
            // Validating admission sees the object as policies left it, before it is written as JSON.
            object.try_owned(&self.session.progress).ok()
        }
    }
}

/// A kind as Go shows it, even one without a version.
fn show_kind(kind: &GroupVersionKind) -> String {
    match kind.version.as_str() {
        "" => format!("{}/, Kind={}", kind.group, kind.kind),
        _ => kind.to_string(),
    }
}
