//! How entries change when an object is created or updated.

use std::collections::BTreeMap;

use pratique_json::{Progress, Value};
use pratique_merge::structured_merge::{self, Patch};
use pratique_schema::merge::{DEDUCED, MergeSchema, MergeTypeId};
use pratique_types::{GroupVersion, GroupVersionKind};

use super::entry::{ManagerEntry, ManagerIdentity, asks_for_reset, read, remove_entry, write};
use super::set::FieldSet;
use super::walk::{ObjectComparison, compare};
use crate::object::{self, MANAGED_FIELDS};
use crate::scheme::Scheme;

/// A request as field management needs it.
#[derive(Clone, Copy)]
pub(crate) struct UpdateRequest<'r> {
    pub(crate) scheme: &'r dyn Scheme,
    pub(crate) schema: &'r MergeSchema,
    /// The kind of the request's objects, in its version.
    pub(crate) kind: &'r GroupVersionKind,
    pub(crate) subresource: &'r str,
    /// Whether it is about the scale of a custom resource.
    pub(crate) is_scale_of_custom: bool,
    pub(crate) manager: &'r str,
    /// The fields that the request cannot set.
    pub(crate) reset: &'r FieldSet,
    /// The time of the request.
    pub(crate) now: &'r str,
}

/// Kinds that only requests for parts of objects carry. The table of types has no others than those of whole objects.
const OF_PARTS: [&str; 3] = ["Eviction", "Scale", "TokenRequest"];

/// More than so many entries of updates are merged into one.
const MOST_UPDATERS: usize = 10;

/// The manager of entries that were merged.
const ANCIENT_CHANGES: &str = "ancient-changes";

/// Writes the `managedFields` of an object that is created or updated. `live` is the object as it was, or an empty one of the
/// kind.
// Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go, Update
pub(crate) fn update(request: UpdateRequest<'_>, live: &Value<'static>, new: &mut Value<'static>) {
    let sent = object::remove(new, MANAGED_FIELDS);
    let current = live_or_sent(live, sent.as_ref(), request.subresource);
    let entries = current.map(|(_, entries)| entries).unwrap_or_default();
    let exists = !object::text(live, &["metadata", "uid"]).is_empty();
    if entries.is_empty() && exists {
        return;
    }
    let of = match request.schema.kind(request.kind) {
        Ok(of) => of,
        // None of their lists and maps is merged in a way of its own.
        Err(_) if OF_PARTS.contains(&request.kind.kind.as_str()) => DEDUCED,
        Err(_) => {
            // The kind cannot be merged, which the server writes to its log only.
            object::copy(new, live, MANAGED_FIELDS);
            return;
        }
    };
    if check_type(request, of, live)
        .and_then(|()| check_type(request, of, new))
        .is_err()
    {
        // Malformed objects are not managed, which the server writes to its log only.
        return;
    }
    let Some(entries) = after_update(request, of, live, new, entries) else {
        return;
    };
    if let Some(written) = write(entries, request.now) {
        object::set(new, MANAGED_FIELDS, written);
    }
}

/// Takes the sent `managedFields` of an object as a server does that manages its fields, and adds none for the request: instead of
/// those that cannot be read, or come with a request for a `subresource`, the object has those that it had, and nobody is told. `live`
/// is the object as it was, or null.
pub fn take_managed_fields<'v>(live: &Value<'v>, new: &mut Value<'v>, subresource: &str) {
    let Some(sent) = new.at(MANAGED_FIELDS) else {
        return;
    };
    let kept_fields = live_or_sent(live, Some(sent), subresource).map(|(kept_fields, _)| kept_fields);
    if kept_fields.is_some_and(|kept_fields| std::ptr::eq(kept_fields, sent)) {
        return;
    }
    let kept_fields = kept_fields.cloned();
    object::put(new, MANAGED_FIELDS, kept_fields);
}

/// The `managedFields` to which a request adds, as they are written and as they are read: those that it sends, or those of the object
/// as it was. `None` where there are none.
// Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go, decodeLiveOrNew
fn live_or_sent<'r, 'v>(
    live: &'r Value<'v>,
    sent: Option<&'r Value<'v>>,
    subresource: &str,
) -> Option<(&'r Value<'v>, Vec<ManagerEntry>)> {
    let sent = sent.filter(|_| subresource.is_empty());
    if sent.is_some_and(asks_for_reset) {
        return None;
    }
    let readable = |written: &'r Value<'v>| {
        let entries = read(Some(written)).filter(|entries| !entries.is_empty())?;
        Some((written, entries))
    };
    sent.and_then(readable)
        .or_else(|| live.at(MANAGED_FIELDS).and_then(readable))
}

/// Why an object is not of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TypeError {
    /// It is of another kind.
    #[error("no corresponding type for {0}")]
    Kind(String),
    /// It cannot be merged as an object of its kind, with the message of the merge.
    #[error("{0}")]
    Mismatch(String),
    /// It does not fit in the version of an entry.
    #[error("failed to convert {object} object: {error}")]
    Conversion {
        /// Whether it is the `new` or the `old` object.
        object: &'static str,
        error: Box<TypeError>,
    },
}

/// Checks that an object is of its type. Decoded objects of built-in kinds are.
// Upstream: apimachinery/pkg/util/managedfields/internal/{structuredmerge,fieldmanager}.go, Update, UpdateNoErrors
fn check_type(request: UpdateRequest<'_>, of: MergeTypeId, object: &Value<'static>) -> Result<(), TypeError> {
    if request.scheme.custom(request.kind).is_none() {
        return Ok(());
    }
    let kind = object::text(object, &["kind"]);
    if kind != request.kind.kind {
        return Err(TypeError::Kind(kind.to_owned()));
    }
    let nothing = Patch::Map(Vec::new());
    let progress = Progress::unwatched();
    let checked = structured_merge::apply(request.schema, of, &mut object.borrowed(), nothing, &progress);
    checked.map_err(|error| match error {
        structured_merge::Error::Object(message) => TypeError::Mismatch(message),
        other => TypeError::Mismatch(other.to_string()),
    })
}

// Upstream: structured-merge-diff/merge/update.go, Update
fn after_update(
    request: UpdateRequest<'_>,
    of: MergeTypeId,
    live: &Value<'static>,
    new: &Value<'static>,
    mut entries: Vec<ManagerEntry>,
) -> Option<Vec<ManagerEntry>> {
    let version = request.kind.api_version();
    let comparison = compare(request.schema, of, live, new);
    let changes = EntryChanges::new(request, live, new, comparison.without(request.reset));
    if !take_over(changes, &mut entries) {
        return None;
    }
    let set = comparison.modified.union(&comparison.added);
    let set = set.recursive_difference(request.reset).difference(&stripped());
    if !set.is_empty() {
        let manager = ManagerIdentity::new(request.manager, false, &version, request.subresource);
        let old_entry = remove_entry(&mut entries, &manager);
        entries.push(ManagerEntry {
            set: match old_entry {
                Some(old_entry) => set.union(&old_entry.set),
                None => set,
            },
            manager,
            version,
            time: Some(request.now.to_owned()),
        });
    }
    Some(capped(entries))
}

/// The fields that are not managed.
// Upstream: apimachinery/pkg/util/managedfields/internal/stripmeta.go, NewStripMetaManager
pub(super) fn stripped() -> FieldSet {
    FieldSet::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        MANAGED_FIELDS,
        &["metadata", "resourceVersion"],
    ])
}

/// The changes of a request, in the versions of the entries.
pub(super) struct EntryChanges<'r> {
    request: UpdateRequest<'r>,
    live: &'r Value<'static>,
    new: &'r Value<'static>,
    /// By version; `None` for a version that the kind does not have.
    by_version: BTreeMap<String, Option<ObjectComparison>>,
    /// Why the objects are not of their type in one of the versions.
    pub(super) malformed: Option<TypeError>,
}

impl<'r> EntryChanges<'r> {
    /// The changes of a request, with those in its own version.
    pub(super) fn new(
        request: UpdateRequest<'r>,
        live: &'r Value<'static>,
        new: &'r Value<'static>,
        comparison: ObjectComparison,
    ) -> Self {
        EntryChanges {
            by_version: [(request.kind.api_version(), Some(comparison))].into(),
            request,
            live,
            new,
            malformed: None,
        }
    }

    fn find_comparison(&mut self, version: &str) -> Option<&ObjectComparison> {
        if !self.by_version.contains_key(version) {
            let compared = compare_in(self.request, version, self.live, self.new);
            let compared = compared.unwrap_or_else(|malformed| {
                self.malformed.get_or_insert(malformed);
                None
            });
            self.by_version.insert(version.to_owned(), compared);
        }
        self.by_version.get(version)?.as_ref()
    }
}

fn compare_in(
    request: UpdateRequest<'_>,
    version: &str,
    live: &Value<'static>,
    new: &Value<'static>,
) -> Result<Option<ObjectComparison>, TypeError> {
    let convert = || {
        let kind = GroupVersion::parse(version).ok()?.with_kind(&request.kind.kind);
        if kind.group != request.kind.group {
            return None;
        }
        let of = request.schema.kind(&kind).ok()?;
        let convert = |object| request.scheme.convert(&kind, object);
        Some((of, convert(live)?, convert(new)?))
    };
    let Some((of, live, new)) = convert() else {
        return Ok(None);
    };
    for (value, object) in [(&new, "new"), (&live, "old")] {
        check_type(request, of, value).map_err(|error| TypeError::Conversion {
            object,
            error: Box::new(error),
        })?;
    }
    let comparison = compare(request.schema, of, &live, &new);
    Ok(Some(comparison.without(request.reset)))
}

/// The fields of other managers that a request changes, by the index of their entries.
pub(super) fn conflicts(
    changes: &mut EntryChanges<'_>,
    entries: &[ManagerEntry],
    own: Option<&ManagerIdentity>,
) -> Vec<(usize, FieldSet)> {
    let others = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| Some(&entry.manager) != own);
    let conflicting = others.filter_map(|(at, entry)| {
        let changed = changes.find_comparison(&entry.version)?;
        let both = entry.set.intersection(&changed.modified.union(&changed.added));
        (!both.is_empty()).then_some((at, both))
    });
    conflicting.collect()
}

/// Removes the fields that a request changes or removes from all entries. Entries in versions that the kind
/// does not have are dropped, and so are those without fields. Returns whether the objects are of their type
/// in all of the versions.
// Upstream: structured-merge-diff/merge/update.go, update
pub(super) fn take_over(mut changes: EntryChanges<'_>, entries: &mut Vec<ManagerEntry>) -> bool {
    entries.retain_mut(|entry| {
        let Some(changed) = changes.find_comparison(&entry.version) else {
            return false;
        };
        let changed_fields = entry.set.intersection(&changed.modified.union(&changed.added));
        entry.set = entry.set.difference(&changed_fields).difference(&changed.removed);
        !entry.set.is_empty()
    });
    changes.malformed.is_none()
}

/// Merges the oldest updates where there are many.
// Upstream: apimachinery/pkg/util/managedfields/internal/capmanagers.go, capUpdateManagers
fn capped(mut entries: Vec<ManagerEntry>) -> Vec<ManagerEntry> {
    let updaters = |entries: &[ManagerEntry]| entries.iter().filter(|entry| !entry.manager.applied).count();
    let mut oldest_of_version: BTreeMap<String, ManagerIdentity> = BTreeMap::new();
    let mut visited: Vec<ManagerIdentity> = Vec::new();
    while updaters(&entries) > MOST_UPDATERS {
        let oldest = entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| !entry.manager.applied && !visited.contains(&entry.manager))
            .min_by_key(|(_, entry)| (entry.time.clone(), entry.manager.name.clone()))
            .map(|(at, _)| at);
        let Some(at) = oldest else {
            break;
        };
        let Some(entry) = entries.get(at).cloned() else {
            break;
        };
        visited.push(entry.manager.clone());
        let Some(first) = oldest_of_version.get(&entry.version).cloned() else {
            oldest_of_version.insert(entry.version, entry.manager);
            continue;
        };
        entries.remove(at);
        let bucket = ManagerIdentity::new(ANCIENT_CHANGES, false, &entry.version, "");
        if let Some(merged) = entries
            .iter_mut()
            .find(|other| other.manager == bucket || other.manager == first)
        {
            merged.set = merged.set.union(&entry.set);
            merged.time = entry.time;
            merged.manager = bucket.clone();
        }
        visited.push(bucket);
    }
    entries
}
