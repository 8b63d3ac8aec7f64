//! Server-side apply.

use std::collections::BTreeMap;

use pratique_gotext::strconv::quote;
use pratique_json::{Progress, Value};
use pratique_merge::structured_merge;
use pratique_schema::merge::MergeTypeId;
use pratique_types::{GroupVersion, GroupVersionKind};

use super::entry::{ManagerEntry, ManagerIdentity, read, remove_entry, write};
use super::set::FieldSet;
use super::updater::{EntryChanges, TypeError, UpdateRequest, conflicts, stripped, take_over};
use super::walk::{compare, fields, remove};
use crate::object::{self, MANAGED_FIELDS};

/// Why nothing is applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApplyError {
    /// The kind is not known to be mergeable, or the configuration is not of its type.
    #[error("failed to create typed patch object ({0}): {1}")]
    Typed(String, String),
    /// The configuration has `managedFields`.
    #[error("metadata.managedFields must be nil")]
    ManagedFields,
    /// The configuration is of another version than the request.
    #[error("invalid object type: {0}")]
    Version(GroupVersionKind),
    /// The scale of a custom resource, which the server cannot convert.
    #[error(
        "failed to convert new object ({0}) to proper version: request to convert CR to an invalid group/version: {1}"
    )]
    Unconvertible(String, String),
    /// The object is not of its type in the version of another manager.
    #[error(transparent)]
    Malformed(TypeError),
    /// Fields belong to others.
    #[error("{}", conflict_message(.0))]
    Conflicts(Vec<FieldConflict>),
}

/// A field that belongs to another manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldConflict {
    /// The manager as the message shows it: `"kubectl" using apps/v1`.
    pub(crate) manager: String,
    /// The path of the field.
    pub(crate) field: String,
}

/// A configuration that is applied.
pub(crate) struct AppliedConfiguration<'r> {
    pub(crate) request: UpdateRequest<'r>,
    /// The configuration, as it was sent.
    pub(crate) configuration: &'r Value<'static>,
    /// Whether fields of others are taken over.
    pub(crate) force: bool,
}

impl AppliedConfiguration<'_> {
    /// The object after the configuration was merged into it, with `managedFields`, not yet defaulted. `live` is the object
    /// as it was, or an empty one of the kind, which `empty` is in any case.
    // Upstream: structured-merge-diff/merge/update.go, Apply
    pub(crate) fn apply(
        &self,
        live: &Value<'static>,
        empty: &Value<'static>,
    ) -> Result<Value<'static>, ApplyError> {
        let request = self.request;
        let version = request.kind.api_version();
        let kind = GroupVersion::parse(object::text(self.configuration, &["apiVersion"]))
            .unwrap_or_default()
            .with_kind(object::text(self.configuration, &["kind"]));
        if kind != *request.kind {
            return Err(ApplyError::Version(kind));
        }
        if object::has(self.configuration, MANAGED_FIELDS) {
            return Err(ApplyError::ManagedFields);
        }
        if request.is_scale_of_custom {
            return Err(ApplyError::Unconvertible(self.named(), version));
        }
        let typed_error = |text: String| ApplyError::Typed(self.named(), text);
        let of = request
            .schema
            .kind(request.kind)
            .map_err(|_| typed_error(format!("no corresponding type for {}", request.kind)))?;
        let mut entries = read(live.at(MANAGED_FIELDS)).unwrap_or_default();
        let mut current = live.clone();
        object::remove(&mut current, MANAGED_FIELDS);
        if entries.is_empty() {
            entries = self.before_first_apply(of, &current, empty);
        }
        let manager = ManagerIdentity::new(request.manager, true, &version, request.subresource);
        let last = remove_entry(&mut entries, &manager);
        let mut merged = current.clone();
        let merging = structured_merge::merge(
            request.schema,
            of,
            &mut merged,
            self.configuration.clone(),
            &Progress::unwatched(),
        );
        merging.map_err(|error| match error {
            structured_merge::Error::Patch(text) => typed_error(text),
            other => typed_error(other.to_string()),
        })?;
        let set = fields(request.schema, of, self.configuration).recursive_difference(request.reset);
        entries.push(ManagerEntry {
            manager: manager.clone(),
            version,
            time: Some(request.now.to_owned()),
            set,
        });
        let mut result = self.pruned(merged, &entries, last.as_ref()).unwrap_or_default();
        self.settle(of, &current, &result, &manager, &mut entries)?;
        if let Some(written) = write(entries, request.now) {
            object::set(&mut result, MANAGED_FIELDS, written);
        }
        Ok(result)
    }

    /// The configuration as errors show it: its namespace, name and kind.
    // Upstream: apimachinery/pkg/util/managedfields/internal/structuredmerge.go, objectGVKNN
    fn named(&self) -> String {
        let text = |name| object::text(self.configuration, &["metadata", name]);
        format!("{}/{}; {}", text("namespace"), text("name"), self.request.kind)
    }

    /// The entry of the fields that were set before the first apply.
    // Upstream: apimachinery/pkg/util/managedfields/internal/skipnonapplied.go, Apply
    fn before_first_apply(
        &self,
        of: MergeTypeId,
        live: &Value<'static>,
        empty: &Value<'static>,
    ) -> Vec<ManagerEntry> {
        let request = self.request;
        let version = request.kind.api_version();
        let changes = compare(request.schema, of, empty, live).without(request.reset);
        let set = changes.modified.union(&changes.added).difference(&stripped());
        if set.is_empty() {
            return Vec::new();
        }
        vec![ManagerEntry {
            manager: ManagerIdentity::new("before-first-apply", false, &version, request.subresource),
            version,
            time: Some(request.now.to_owned()),
            set,
        }]
    }

    /// Refuses to change fields of other managers, or takes them over.
    fn settle(
        &self,
        of: MergeTypeId,
        old: &Value<'static>,
        new: &Value<'static>,
        manager: &ManagerIdentity,
        entries: &mut Vec<ManagerEntry>,
    ) -> Result<(), ApplyError> {
        let request = self.request;
        let comparison = compare(request.schema, of, old, new).without(request.reset);
        let mut changes = EntryChanges::new(request, old, new, comparison);
        let conflicting = conflicts(&mut changes, entries, Some(manager));
        if let Some(malformed) = changes.malformed {
            return Err(ApplyError::Malformed(malformed));
        }
        if !self.force && !conflicting.is_empty() {
            let conflicts = conflicting.iter().flat_map(|(at, fields)| {
                let manager = entries.get(*at).map(shown_manager).unwrap_or_default();
                fields.paths().into_iter().map(move |field| FieldConflict {
                    manager: manager.clone(),
                    field,
                })
            });
            return Err(ApplyError::Conflicts(conflicts.collect()));
        }
        let applied = remove_entry(entries, manager);
        take_over(changes, entries);
        if let Some(mut applied) = applied {
            applied.set = applied.set.difference(&stripped());
            if !applied.set.is_empty() {
                entries.push(applied);
            }
        }
        Ok(())
    }

    /// The merged object without the fields that the manager applied last time and applies no more, unless
    /// another manager has set them.
    // Upstream: structured-merge-diff/merge/update.go, prune
    fn pruned(
        &self,
        merged: Value<'static>,
        entries: &[ManagerEntry],
        last: Option<&ManagerEntry>,
    ) -> Option<Value<'static>> {
        let Some(last) = last.filter(|last| !last.set.is_empty()) else {
            return Some(merged);
        };
        let schema = self.request.schema;
        let kind = GroupVersion::parse(&last.version)
            .ok()?
            .with_kind(&self.request.kind.kind);
        let (Ok(of), Some(merged_then)) = (schema.kind(&kind), self.request.scheme.convert(&kind, &merged))
        else {
            return Some(merged);
        };
        let declared = |set: &FieldSet| set.with_declared_fields(schema, Some(of));
        let last_set = declared(&last.set);
        let pruned = remove(schema, Some(of), &merged_then, &last_set)?;
        let mut owned = FieldSet::default();
        for entry in entries.iter().filter(|entry| entry.version == last.version) {
            owned = owned.union(&entry.set);
        }
        let all = declared(&fields(schema, of, &merged_then));
        let left = declared(&fields(schema, of, &pruned));
        let unowned = all.difference(&left.union(&declared(&owned)));
        let with_owned = remove(schema, Some(of), &merged_then, &unowned)?;
        let left = declared(&fields(schema, of, &with_owned));
        let dangling = all.difference(&left).intersection(&last_set);
        let result = remove(schema, Some(of), &merged_then, &dangling)?;
        self.request.scheme.convert(self.request.kind, &result)
    }
}

/// The manager of an entry as messages show it.
// Upstream: apimachinery/pkg/util/managedfields/internal/conflict.go, printManager
fn shown_manager(entry: &ManagerEntry) -> String {
    let mut text = quote(&entry.manager.name);
    if !entry.manager.subresource.is_empty() {
        text.push_str(&format!(
            " with subresource {}",
            quote(&entry.manager.subresource)
        ));
    }
    if !entry.manager.applied {
        text.push_str(&format!(" using {}", entry.version));
    }
    text
}

// Upstream: apimachinery/pkg/util/managedfields/internal/conflict.go, getConflictMessage
fn conflict_message(conflicts: &[FieldConflict]) -> String {
    if let [conflict] = conflicts {
        let FieldConflict { manager, field } = conflict;
        return format!("Apply failed with 1 conflict: conflict with {manager}: {field}");
    }
    let mut by_manager: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for conflict in conflicts {
        let fields = by_manager.entry(&conflict.manager).or_default();
        fields.push(format!("- {}", conflict.field));
    }
    let by_manager: Vec<String> = by_manager
        .into_iter()
        .map(|(manager, fields)| format!("conflicts with {manager}:\n{}", fields.join("\n")))
        .collect();
    format!(
        "Apply failed with {} conflicts: {}",
        conflicts.len(),
        by_manager.join("\n")
    )
}
