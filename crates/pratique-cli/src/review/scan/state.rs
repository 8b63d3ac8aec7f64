//! What the inputs say of the cluster: namespaces and definitions among them.

use pratique_stream::{Limits, Splitter};

use super::etcd::{self, Stored};
use super::source::Sources;
use crate::input::piece;
use crate::review::read::Inputs;
use crate::review::state::{ClusterState, of_cluster};

/// Adds the namespaces and definitions of all files to what is known, before anything is evaluated: also those of other
/// shards.
pub(super) fn survey(inputs: &Inputs, sources: &Sources, limits: Limits, state: &mut ClusterState) {
    inputs.survey(limits, state);
    for source in sources.exports() {
        // What cannot be read is told when it is scanned.
        let Ok(input) = source.open() else { continue };
        for piece in Splitter::new(input, limits).map_while(Result::ok) {
            let mut given = piece::read(&source.shown, &piece).given;
            given.retain_mut(|given| match etcd::stored(&given.object) {
                Some(Stored::Object(object)) => {
                    given.object = object;
                    true
                }
                _ => false,
            });
            state.add(of_cluster(given));
        }
    }
}
