//! Times as Go's `time` package treats them.

mod quote;

pub use quote::quote;
