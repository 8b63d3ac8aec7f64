//! What the inputs say of the cluster: namespaces and definitions among them.

use pratique_stream::{Limits, Splitter};

use super::source::Files;
use crate::input::piece;
use crate::review::etcd;
use crate::review::read::Inputs;
use crate::review::state::ClusterState;
use crate::review::surveyed;

/// Adds the namespaces and definitions of all files to what is known, before anything is evaluated: also those of other
/// shards.
pub(super) fn survey(inputs: &Inputs, files: &Files, limits: Limits, state: &mut ClusterState) {
    inputs.survey(limits, state);
    for source in files.exports() {
        // What cannot be read is told when it is scanned.
        let Ok(input) = source.open() else { continue };
        let pieces = Splitter::new(input, limits).map_while(Result::ok);
        surveyed::survey(
            pieces,
            |piece| etcd::objects(piece::read(&source.shown, piece).given),
            state,
        );
    }
}
