//! The times that expressions took to compile.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pratique_expression::Cache;

use crate::clock::timed_cache;

/// Times of compilations. A copy is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompilationTimes(Arc<Mutex<Vec<Duration>>>);

/// How many are kept until they are taken.
const KEPT: usize = 65_536;

impl CompilationTimes {
    /// A cache whose compilations are measured.
    pub(crate) fn cache(&self) -> Cache {
        let compilations = self.clone();
        timed_cache(move |took| compilations.add(took))
    }

    /// Takes the times since the last call.
    pub(crate) fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT {
            all.push(took);
        }
    }
}
