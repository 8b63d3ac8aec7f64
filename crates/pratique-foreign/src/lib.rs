//! Tests of other programs, as far as they are about policies of the API: of the Kyverno CLI, and of gator.
//!
//! [`READER`] reads them besides suites of our format. What else they test is listed as
//! [not evaluated](pratique_suite::NotEvaluated), with the reason: it neither passes nor fails.
//!
//! ```
//! use std::path::Path;
//!
//! use pratique_manifest::ManifestFile;
//! use pratique_suite::Roots;
//!
//! let text = b"
//! apiVersion: test.gatekeeper.sh/v1alpha1
//! kind: Suite
//! metadata: {name: limits}
//! tests:
//! - {name: replicas, skip: true, template: template.yaml, constraint: constraint.yaml}
//! ";
//! let file = ManifestFile { path: "suite.yaml".into(), content: text.to_vec() };
//! let suites = pratique_foreign::READER.read(Path::new("suite.yaml"), &file, &Roots::default()).unwrap();
//! assert_eq!(suites[0].name, "limits / replicas");
//! assert_eq!(suites[0].not_evaluated[0].why, "the test is skipped");
//!
//! // The formats are no part of the suites themselves.
//! assert_eq!(pratique_suite::read_suites(&file).unwrap().len(), 0);
//! ```
//!
//! A single format is given to a [`SuiteReader`] of one's own, beside formats that another crate has.

mod gator;
mod kyverno;
mod reason;
mod template;
mod user;

use pratique_suite::{SuiteFormat, SuiteReader};

pub use gator::GatorFormat;
pub use kyverno::KyvernoFormat;

/// The formats of all programs.
const FORMATS: &[&dyn SuiteFormat] = &[&KyvernoFormat, &GatorFormat];

/// Reads suites of our format and of all others.
pub const READER: SuiteReader = SuiteReader::new(FORMATS);
