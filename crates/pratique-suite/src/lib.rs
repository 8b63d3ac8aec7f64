//! Declarative tests of admission policies: the format, the runner, coverage.

pub mod ask;
mod authorizer;
pub mod convert;
mod files;
mod format;
mod read;
mod shape;
mod substitute;
mod suite;

pub use authorizer::{Rule, Rules};
pub use files::is_manifest;
pub use format::{API_VERSION, KIND};
pub use read::{may_be_suite, read_suites};
pub use suite::{Case, Expected, Suite};
