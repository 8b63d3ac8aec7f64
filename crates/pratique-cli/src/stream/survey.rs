//! The state of the cluster in the inputs: namespaces and definitions among them.

use std::sync::Arc;

use memchr::memmem;
use pratique_state::cluster::is_namespace;
use pratique_stream::Piece;

use crate::evaluation::state::{ClusterState, StateObject, inputs_of_cluster};
use crate::input::{InputObject, piece};
use crate::output::notice::InputNotice;
use crate::stream::etcd;

/// Whether a part of an input may change the state of the cluster: it mentions one of some kinds.
pub(crate) fn mentions_cluster(piece: &Piece, kinds: &[&str]) -> bool {
    let mut kinds = kinds.iter();
    kinds.any(|kind| memmem::find(&piece.text, kind.as_bytes()).is_some())
}

/// Adds namespaces and definitions of parts of an input to the state; unreadable objects are skipped silently.
/// Gives notices of what they change.
pub(crate) fn survey(
    path: &str,
    pieces: impl Iterator<Item = Piece>,
    state: &mut ClusterState,
) -> Vec<InputNotice> {
    let path: Arc<str> = path.into();
    let mut notices = Vec::new();
    for piece in pieces {
        let objects = piece::read(&path, &piece, state.release()).objects.into_iter();
        let objects = objects.filter_map(|input| etcd::object(input).ok().flatten());
        notices.extend(state.add_inputs(inputs_of_cluster(objects, state.surveyed)));
    }
    notices
}

/// The state of the cluster while an input is read: a file was surveyed before, and namespaces and definitions of a pipe count
/// for what follows them.
pub(crate) struct StateOfStream<'s> {
    state: &'s mut Arc<ClusterState>,
    is_file: bool,
    pending: Vec<InputObject<'static>>,
}

impl<'s> StateOfStream<'s> {
    pub(crate) fn new(state: &'s mut Arc<ClusterState>, is_file: bool) -> Self {
        StateOfStream {
            state,
            is_file,
            pending: Vec::new(),
        }
    }

    /// Kinds whose documents are to be read on their own.
    pub(crate) fn kinds(&self) -> &'static [&'static str] {
        if self.is_file { &[] } else { self.state.surveyed }
    }

    /// The state before a part of the input, which comes next, and notices of what that changes.
    pub(crate) fn before(&mut self, path: &Arc<str>, piece: &Piece) -> (Arc<ClusterState>, Vec<InputNotice>) {
        let kinds = self.state.surveyed;
        let cluster_inputs = if !self.is_file && mentions_cluster(piece, kinds) {
            inputs_of_cluster(piece::read(path, piece, self.state.release()).objects, kinds)
        } else {
            Vec::new()
        };
        let changes = &self.state.changes;
        let (known, changing_inputs): (Vec<_>, Vec<_>) = cluster_inputs
            .into_iter()
            .partition(|input| is_namespace(&input.object) && changes.is_known(&input.object));
        if changing_inputs.is_empty() {
            self.add_pending();
        }
        self.pending.extend(changing_inputs);
        let notices = if known.is_empty() {
            Vec::new()
        } else {
            Arc::make_mut(self.state).add_inputs(known)
        };
        (Arc::clone(self.state), notices)
    }

    /// The state now.
    pub(crate) fn now(&self) -> Arc<ClusterState> {
        Arc::clone(self.state)
    }

    fn add_pending(&mut self) {
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending).into_iter();
            Arc::make_mut(self.state).add(pending.map(StateObject::given));
        }
    }
}

impl Drop for StateOfStream<'_> {
    fn drop(&mut self) {
        self.add_pending();
    }
}
