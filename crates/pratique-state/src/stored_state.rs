//! The state of a cluster that a snapshot describes.

use pratique::Objects;
use pratique_json::Value;
use pratique_rbac::Completeness;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::snapshot::{Extent, IndexError, SnapshotIndex, count_kinds};
use pratique_request::ResourceResolver;

/// What the index of a snapshot says about its cluster, besides the objects.
#[derive(Clone, Debug)]
pub struct StoredState {
    /// The kinds of which all objects are there.
    pub complete: Vec<GroupVersionKind>,
    /// The resources that the cluster serves besides those of Kubernetes.
    pub served: Vec<ServedResource>,
    permissions: Completeness,
    index: SnapshotIndex,
}

/// Why a snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredStateError {
    /// Its index cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Objects were removed since it was taken.
    #[error("the snapshot is not whole: it has {found} of {objects} objects of {kind} of {version}")]
    Incomplete {
        /// The number of objects that are there.
        found: usize,
        /// The number in its index.
        objects: usize,
        /// Their kind.
        kind: String,
        /// Group and version of the kind.
        version: String,
    },
}

impl StoredState {
    /// What an index says about objects.
    ///
    /// # Errors
    /// The index cannot be read, or the objects are fewer than it says.
    pub fn new<'o>(
        index: &Value<'_>,
        objects: impl IntoIterator<Item = &'o Value<'static>>,
    ) -> Result<Self, StoredStateError> {
        let index = SnapshotIndex::read(index)?;
        let counts = count_kinds(objects);
        for kind in index.kinds.iter().filter(|kind| kind.extent != Extent::Unknown) {
            let named = kind.version_kind().map_err(IndexError::from)?;
            let count = counts.get(&named).copied().unwrap_or_default();
            if count < kind.objects {
                return Err(StoredStateError::Incomplete {
                    found: count,
                    objects: kind.objects,
                    kind: kind.kind.clone(),
                    version: kind.api_version.clone(),
                });
            }
        }
        let complete = index.complete(&counts);
        Ok(StoredState {
            served: index.served().map_err(IndexError::from)?,
            permissions: index.permissions(&complete),
            complete,
            index,
        })
    }

    /// Adds to the resources that are known of a cluster.
    pub fn resolve(&self, resolver: &mut ResourceResolver) {
        self.index.resolve(resolver);
    }

    /// Adds to a cluster which other objects it may have.
    pub fn apply(&self, cluster: &mut Objects) {
        cluster.assume_params();
        self.served.iter().for_each(|served| cluster.serve_found(served));
        let complete = self.complete.iter().cloned();
        complete.for_each(|kind| cluster.complete_params(kind));
    }
}

/// How much the roles and bindings of a suite say: those of snapshots what these say, all others are all there are.
pub fn completeness<'s>(snapshots: impl IntoIterator<Item = &'s StoredState>) -> Completeness {
    let mut snapshots = snapshots.into_iter();
    match (snapshots.next(), snapshots.next()) {
        (None, _) => Completeness::Complete,
        (Some(only), None) => only.permissions.clone(),
        // Of two clusters none is known as a whole.
        (Some(_), Some(_)) => Completeness::Partial,
    }
}
