//! What the objects among the inputs say of the cluster: namespaces and definitions among them.

use std::sync::Arc;

use pratique_stream::{Limits, Splitter};

use super::work::is_log;
use crate::input::open::open;
use crate::input::{self, piece};
use crate::review::checkpoint::FileState;
use crate::review::etcd;
use crate::review::read::Inputs;
use crate::review::state::ClusterState;
use crate::review::surveyed::{self, mentions_cluster};

/// Adds the namespaces and definitions of all files with objects to what is known, before anything is evaluated. Of standard input
/// and other pipes, which are read only once, and of logs, whose objects came and went, nothing is known.
pub(super) fn survey(inputs: &Inputs, limits: Limits, state: &mut ClusterState) {
    for file in inputs.files() {
        // What cannot be read is told when it is evaluated.
        let is_file = FileState::of(file).is_ok();
        let opened = is_file.then(|| open(file).and_then(etcd::items).ok()).flatten();
        let Some((input, is_export)) = opened else {
            continue;
        };
        let path: Arc<str> = input::shown(file).into();
        let mut pieces = Splitter::new(input, limits).map_while(Result::ok).peekable();
        if pieces.peek().is_some_and(is_log) {
            continue;
        }
        let kinds = state.surveyed;
        let pieces = pieces.filter(|piece| is_export || mentions_cluster(piece, kinds));
        match is_export {
            true => {
                surveyed::survey(
                    pieces,
                    |piece| etcd::objects(piece::read(&path, piece).given),
                    state,
                );
            }
            false => surveyed::survey(pieces, |piece| piece::read(&path, piece).given, state),
        }
    }
}
