//! The inputs of a scan, or of a shard of it, part by part: files, or the objects of a cluster.

mod files;

use std::sync::Arc;

#[cfg(feature = "kube")]
use pratique_kube::ListPage;
use pratique_report::InputShard;
use pratique_stream::{Limits, Piece};

use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::input::InputError;
use crate::output::notice::InputNotice;
use crate::stream::checkpoint::{FileState, InputMark};
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{ClusterObjects, ListedContent};
use crate::stream::ordered_work::WorkSender;
pub(super) use files::ScanFiles;

/// The inputs of a scan.
#[derive(Clone)]
pub(super) enum ScanSources {
    Files(ScanFiles),
    #[cfg(feature = "kube")]
    Cluster {
        objects: Box<ClusterObjects>,
        shard: InputShard,
    },
}

/// A part of the inputs.
pub(super) struct ScanUnit {
    /// The file, or the path of the collection.
    pub(super) file: Arc<str>,
    /// Where it begins; `None` if that is not where the rest of the inputs begins.
    pub(super) start: Option<InputMark>,
    pub(super) content: UnitContent,
    /// Whether some of it belongs to other shards.
    pub(super) is_shared: bool,
    pub(super) state: Arc<ClusterState>,
}

/// The content of a part of the inputs.
pub(super) enum UnitContent {
    Piece(Piece),
    #[cfg(feature = "kube")]
    Page(ListPage),
    /// What the next part changes.
    Notices(Vec<InputNotice>),
    /// The rest of a file or collection cannot be read.
    Fault {
        fault: InputError,
        /// The API version and kind of what cannot be read, if these are known.
        kind: Option<(String, String)>,
    },
}

impl ScanSources {
    /// The part that is scanned.
    pub(super) fn shard(&self) -> InputShard {
        match self {
            ScanSources::Files(files) => files.shard,
            #[cfg(feature = "kube")]
            ScanSources::Cluster { shard, .. } => *shard,
        }
    }

    /// How much there is of them, if that is known: bytes of files, or objects of a cluster, which is asked only if `asks`.
    pub(super) fn total(&self, asks: bool) -> Option<u64> {
        #[cfg(not(feature = "kube"))]
        let _ = asks;
        match self {
            ScanSources::Files(files) => files.bytes(),
            #[cfg(feature = "kube")]
            ScanSources::Cluster { objects, .. } => asks.then(|| objects.count()).flatten(),
        }
    }

    /// The files as they are now, or the collections.
    ///
    /// # Errors
    /// One of them can be read only once.
    pub(super) fn states(&self) -> Result<Vec<FileState>, CliError> {
        match self {
            ScanSources::Files(files) => files.states(),
            #[cfg(feature = "kube")]
            ScanSources::Cluster { objects, .. } => Ok(objects.states()),
        }
    }

    /// Sends all parts in order: all, or those from a mark.
    pub(super) fn send<R>(
        self,
        limits: Limits,
        state: Arc<ClusterState>,
        from: Option<InputMark>,
        sender: &WorkSender<ScanUnit, R>,
    ) {
        match self {
            ScanSources::Files(files) => files.send(limits, state, from, sender),
            #[cfg(feature = "kube")]
            ScanSources::Cluster { objects, shard } => objects.send(from.as_ref(), sender, |part| ScanUnit {
                file: part.collection,
                start: part.start,
                content: part.content.into(),
                is_shared: shard.of > 1,
                state: Arc::clone(&state),
            }),
        }
    }
}

impl UnitContent {
    fn fault(fault: InputError) -> Self {
        UnitContent::Fault { fault, kind: None }
    }
}

#[cfg(feature = "kube")]
impl From<ListedContent> for UnitContent {
    fn from(listed: ListedContent) -> Self {
        match listed {
            ListedContent::Page(page) => UnitContent::Page(page),
            ListedContent::Fault { fault, kind } => UnitContent::Fault { fault, kind },
        }
    }
}
