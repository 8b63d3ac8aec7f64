//! Observations that are kept from one edit of a policy to the next.

use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_sample::BoundedMemory;

use super::{OperationMap, OperationObservations};

/// Observations of runs that were made before, by all that they depend on, for programs that lint again and again: most edits change
/// one expression of a policy, and the runs of the others are as they were.
#[derive(Debug)]
pub(crate) struct ObservationMemory {
    kept: BoundedMemory<OperationMap>,
    /// How many runs were observed, as nothing was known of them.
    #[cfg(test)]
    pub(crate) observed: AtomicUsize,
}

/// The most bytes of observations that are kept. Those of a policy of three validations for seven kinds take less than 1 MiB.
const MOST_BYTES: usize = 32 << 20;

impl Default for ObservationMemory {
    fn default() -> Self {
        ObservationMemory {
            kept: BoundedMemory::new(MOST_BYTES),
            #[cfg(test)]
            observed: AtomicUsize::default(),
        }
    }
}

impl ObservationMemory {
    /// The observations of a key; those that are made, unless they are known. `None` are not complete, and not kept.
    pub(super) fn recall_or(
        &self,
        key: String,
        observe: impl FnOnce() -> Option<OperationMap>,
    ) -> Arc<OperationMap> {
        if let Some(known) = self.kept.recall(&key) {
            return known;
        }
        #[cfg(test)]
        self.observed.fetch_add(1, Ordering::Relaxed);
        let Some(observations) = observe() else {
            return Arc::default();
        };
        let observations = Arc::new(observations);
        let bytes = observations
            .values()
            .map(OperationObservations::owned_bytes)
            .sum();
        self.kept.keep(key, Arc::clone(&observations), bytes);
        observations
    }
}
