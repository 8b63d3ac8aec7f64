//! Declarative tests of admission policies: the format, the runner, coverage.

mod actual;
pub mod ask;
mod authorizer;
mod compare;
pub mod convert;
mod coverage;
mod files;
mod format;
mod load;
mod read;
mod run;
mod schema;
mod shape;
mod substitute;
mod suite;
mod update;
pub mod yaml;

pub use actual::Actual;
pub use authorizer::{Rule, Rules};
pub use compare::Difference;
pub use coverage::{Coverage, CoverageReport, Missing, PolicyCoverage, Watch};
pub use files::{is_manifest, read as read_file};
pub use format::{API_VERSION, KIND};
pub use load::Policies;
pub use read::{may_be_suite, read_suites};
pub use run::Tested;
pub use schema::schema;
pub use suite::{Case, Expected, Suite};
pub use update::updated;
