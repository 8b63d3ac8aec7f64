//! The inputs of a scan, or of a shard of it, part by part: files, or the objects of a cluster.

mod files;

use std::sync::Arc;

#[cfg(feature = "kube")]
use pratique_kube::Page;
use pratique_report::Shard;
use pratique_stream::{Limits, Piece};

use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::input::InputError;
use crate::output::notice::Notice;
use crate::stream::checkpoint::{FileState, Mark};
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{ClusterObjects, ListedContent};
use crate::stream::ordered::WorkSender;
pub(super) use files::Files;

/// The inputs of a scan.
#[derive(Clone)]
pub(super) enum Sources {
    Files(Files),
    #[cfg(feature = "kube")]
    Cluster {
        objects: Box<ClusterObjects>,
        shard: Shard,
    },
}

/// A part of the inputs.
pub(super) struct Unit {
    /// The file, or the path of the collection.
    pub(super) file: Arc<str>,
    /// Where it begins; `None` if that is not where the rest of the inputs begins.
    pub(super) start: Option<Mark>,
    pub(super) content: Content,
    /// Whether some of it belongs to other shards.
    pub(super) is_shared: bool,
    pub(super) state: Arc<ClusterState>,
}

/// The content of a part of the inputs.
pub(super) enum Content {
    Piece(Piece),
    #[cfg(feature = "kube")]
    Page(Page),
    /// What the next part changes.
    Notices(Vec<Notice>),
    /// The rest of a file or collection cannot be read.
    Fault {
        fault: InputError,
        /// The API version and kind of what cannot be read, if these are known.
        kind: Option<(String, String)>,
    },
}

impl Sources {
    /// The part that is scanned.
    pub(super) fn shard(&self) -> Shard {
        match self {
            Sources::Files(files) => files.shard,
            #[cfg(feature = "kube")]
            Sources::Cluster { shard, .. } => *shard,
        }
    }

    /// How much there is of them, if that is known: bytes of files, or objects of a cluster, which is asked only if `asks`.
    pub(super) fn total(&self, asks: bool) -> Option<u64> {
        #[cfg(not(feature = "kube"))]
        let _ = asks;
        match self {
            Sources::Files(files) => files.bytes(),
            #[cfg(feature = "kube")]
            Sources::Cluster { objects, .. } => asks.then(|| objects.count()).flatten(),
        }
    }

    /// The files as they are now, or the collections.
    ///
    /// # Errors
    /// One of them can be read only once.
    pub(super) fn states(&self) -> Result<Vec<FileState>, CliError> {
        match self {
            Sources::Files(files) => files.states(),
            #[cfg(feature = "kube")]
            Sources::Cluster { objects, .. } => Ok(objects.states()),
        }
    }

    /// Sends all parts in order: all, or those from a mark.
    pub(super) fn send<R>(
        self,
        limits: Limits,
        state: Arc<ClusterState>,
        from: Option<Mark>,
        sender: &WorkSender<Unit, R>,
    ) {
        match self {
            Sources::Files(files) => files.send(limits, state, from, sender),
            #[cfg(feature = "kube")]
            Sources::Cluster { objects, shard } => objects.send(from.as_ref(), sender, |part| Unit {
                file: part.collection,
                start: part.start,
                content: part.content.into(),
                is_shared: shard.of > 1,
                state: Arc::clone(&state),
            }),
        }
    }
}

impl Content {
    fn fault(fault: InputError) -> Self {
        Content::Fault { fault, kind: None }
    }
}

#[cfg(feature = "kube")]
impl From<ListedContent> for Content {
    fn from(listed: ListedContent) -> Self {
        match listed {
            ListedContent::Page(page) => Content::Page(page),
            ListedContent::Fault { fault, kind } => Content::Fault { fault, kind },
        }
    }
}
