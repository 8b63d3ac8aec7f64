//! Declarative tests of admission policies: format, runner and coverage.
//!
//! A test of a Rust program that runs them is one line, which fails over all that `pratique test` fails over: tests with other
//! results, invalid suites, suites without tests or policies, and directories without suites.
//!
//! ```no_run
//! #[test]
//! fn policies() {
//!     pratique_suite::assert_passes("tests/");
//! }
//! ```
//!
//! [`run_suites`] does the same and returns what it found. Tests of other programs are read by a [`SuiteReader`] that has their
//! [formats](SuiteFormat), such as that of the crate `pratique-foreign`. For programs that report on their own, [`read_suites`] decodes the
//! suites of a file strictly and reports all problems with their locations. A [`Suite`] loads its
//! [policies](Suite::policies) and [runs](Suite::test) its cases; a [`Coverage`] can record what they cover. Such programs ask
//! [`Suite::evaluates_nothing`] whether a suite would pass whatever the policies are.
//! [`updated`] writes the actual results into a suite. Without the feature `webhooks`, which needs threads and a clock, what goes
//! through the server's chain is an error.
//!
//! ```
//! use pratique_manifest::ManifestFile;
//! use pratique_suite::read_suites;
//!
//! let text = b"
//! apiVersion: pratique/v1alpha1
//! kind: Suite
//! tests:
//! - name: without policies
//!   object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
//!   each:
//!   - {name: anything goes, expect: allowed}
//!   - {name: nothing is denied, set: {object.data.a: b}, expect: denied}
//! ";
//! let file = ManifestFile { path: "suite.yaml".into(), content: text.to_vec() };
//! let suite = &read_suites(&file)?[0];
//! let policies = suite.policies()?;
//! let passed: Vec<bool> = suite.cases.iter().map(|case| suite.test(case, &policies, None).passed()).collect();
//! assert_eq!(passed, [true, false]);
//! // `pratique test` and `run_suites` refuse it: it names no policies.
//! assert!(suite.evaluates_nothing().is_some());
//! # Ok::<(), pratique_manifest::ProblemList>(())
//! ```

mod actual;
mod assert_passes;
mod case_error;
mod case_request;
mod compare;
mod completion;
mod coverage;
mod decision;
mod evaluated_request;
mod files;
mod first;
mod format;
mod known_cluster;
mod load;
mod plugin_outcome;
mod policy_outcome;
mod read;
mod reader;
mod roots;
mod run;
mod runner;
mod schema;
#[cfg(feature = "webhooks")]
mod scripted_caller;
mod scripted_webhooks;
mod select;
mod servers;
mod substitute;
mod suite;
mod unbound_matches;
mod update;
mod whole_chain;

pub use actual::ActualResult;
pub use assert_passes::{PassedSuites, SuiteFailure, SuiteFailures, assert_passes, run_suites};
pub use case_error::CaseError;
pub use case_request::CaseRequest;
pub use compare::Difference;
pub use coverage::{Coverage, CoverageRecorder, CoverageReport, MissingPoint, PolicyCoverage};
pub use files::read as read_file;
pub use first::{FirstSuite, first_suite};
pub use format::{CaseInput, SuiteDocument, SuiteFormat};
pub use load::Policies;
pub use plugin_outcome::PluginOutcome;
pub use policy_outcome::{PolicyOutcome, PolicyOutcomes};
pub use reader::{SuiteReader, read_suites};
pub use roots::Roots;
pub use run::CaseResult;
pub use runner::Runner;
pub use schema::{KIND, schema};
pub use select::object_label;
pub use servers::SuiteGates;
pub use suite::{
    Case, ExpectedResult, ExpectedViolations, FileReference, NotEvaluated, Suite, ViolationCount,
};
pub use update::{UpdateError, updated};
