//! Reading many inputs: files, streams, stores and clusters, in order, with progress and where to go on.

pub(crate) mod checkpoint;
pub(crate) mod cluster_objects;
pub(crate) mod digest;
pub(crate) mod etcd;
pub(crate) mod excerpt;
pub(crate) mod input_errors;
pub(crate) mod object_source;
pub(crate) mod ordered_work;
pub(crate) mod progress;
pub(crate) mod read;
pub(crate) mod repeated_objects;
pub(crate) mod stable_hash;
pub(crate) mod stored_objects;
pub(crate) mod survey;

use pratique_stream::Limits;

/// What of an input is read, of which a document may have so many mebibytes.
pub(crate) fn input_limits(mebibytes: u32) -> Limits {
    let document = u64::from(mebibytes) << 20;
    Limits {
        document: usize::try_from(document).unwrap_or(usize::MAX),
        ..Limits::default()
    }
}
