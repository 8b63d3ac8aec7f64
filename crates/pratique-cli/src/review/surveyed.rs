//! What inputs say of the cluster: namespaces and definitions among them.

use std::sync::Arc;

use memchr::memmem;
use pratique_json::Value;
use pratique_stream::Piece;

use super::etcd;
use super::state::{ClusterState, of_cluster};
use crate::input::piece;

/// Whether a part of an input may change what is known of the cluster: has one of some kinds.
pub(super) fn mentions_cluster(piece: &Piece, kinds: &[&str]) -> bool {
    let mut words = kinds.iter();
    words.any(|word| memmem::find(&piece.text, word.as_bytes()).is_some())
}

/// Adds what the parts of an input say of the cluster; of what cannot be read, nothing is told.
pub(super) fn survey(path: &str, pieces: impl Iterator<Item = Piece>, state: &mut ClusterState) {
    let path: Arc<str> = path.into();
    for piece in pieces {
        let objects = piece::read(&path, &piece).given.into_iter();
        let objects = objects.filter_map(|given| etcd::object(given).ok().flatten());
        state.add(of_cluster(objects, state.surveyed));
    }
}

/// What is known of the cluster while an input is read: a file was surveyed before, and what a pipe says of the cluster counts for
/// what follows it.
pub(super) struct StateOfStream<'s> {
    state: &'s mut Arc<ClusterState>,
    is_file: bool,
    pending: Vec<Value<'static>>,
}

impl<'s> StateOfStream<'s> {
    pub(super) fn new(state: &'s mut Arc<ClusterState>, is_file: bool) -> Self {
        StateOfStream {
            state,
            is_file,
            pending: Vec::new(),
        }
    }

    /// Words whose parts of the input are to be read on their own.
    pub(super) fn words(&self) -> &'static [&'static str] {
        match self.is_file {
            true => &[],
            false => self.state.surveyed,
        }
    }

    /// What is known before a part of the input, which comes next.
    pub(super) fn before(&mut self, path: &Arc<str>, piece: &Piece) -> Arc<ClusterState> {
        let kinds = self.state.surveyed;
        let found = match !self.is_file && mentions_cluster(piece, kinds) {
            true => of_cluster(piece::read(path, piece).given, kinds),
            false => Vec::new(),
        };
        if found.is_empty() {
            self.add_pending();
        }
        self.pending.extend(found);
        Arc::clone(self.state)
    }

    /// What is known now.
    pub(super) fn now(&self) -> Arc<ClusterState> {
        Arc::clone(self.state)
    }

    fn add_pending(&mut self) {
        if !self.pending.is_empty() {
            Arc::make_mut(self.state).add(std::mem::take(&mut self.pending));
        }
    }
}

impl Drop for StateOfStream<'_> {
    fn drop(&mut self) {
        self.add_pending();
    }
}
