//! What the inputs say of the cluster: namespaces and definitions among them.

use pratique_stream::{Limits, Splitter};

use super::etcd::{self, Stored};
use super::source::Files;
use crate::input::{GivenObject, piece};
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
            |piece| stored(piece::read(&source.shown, piece).given),
            state,
        );
    }
}

/// The objects that items of an export have.
fn stored(items: Vec<GivenObject<'_>>) -> Vec<GivenObject<'_>> {
    let stored = items.into_iter().filter_map(|item| {
        let Some(Stored::Object(object)) = etcd::stored(&item.object) else {
            return None;
        };
        Some(GivenObject { object, ..item })
    });
    stored.collect()
}
