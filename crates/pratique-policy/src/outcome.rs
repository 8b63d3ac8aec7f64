//! The outcome of validating a request.

pub(crate) use pratique_core::Unfinished;
pub use pratique_core::ValidationOutcome as Verdict;
