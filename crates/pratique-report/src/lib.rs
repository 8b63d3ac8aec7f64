//! Reports about many admission decisions.
//!
//! A [`Tally`] counts [`Evaluation`]s. Tallies of parts of an input merge to exactly the tally of the whole:
//!
//! ```
//! use pratique_report::{Action, Decision, Evaluation, Finding, Limits, Tally};
//!
//! let denied = Evaluation {
//!     decision: Decision::Denied,
//!     operation: "CREATE",
//!     api_version: "v1",
//!     kind: "Pod",
//!     namespace: "shop",
//!     name: "web",
//!     findings: vec![Finding {
//!         policy: "no-root",
//!         binding: "everywhere",
//!         action: Action::Deny,
//!         is_error: false,
//!         message: "runs as root",
//!     }],
//!     ..Evaluation::default()
//! };
//! let allowed = Evaluation { name: "db", decision: Decision::Allowed, findings: Vec::new(), ..denied.clone() };
//!
//! let (mut first, mut second) = (Tally::new(Limits::default()), Tally::new(Limits::default()));
//! first.count(&denied);
//! second.count(&allowed);
//! second.merge(first);
//! assert_eq!(second.total().requests(), 2);
//! assert_eq!(second.policies().row(["no-root", "everywhere"]).map(|row| row.denied), Some(1));
//! assert_eq!(Tally::from_json(&second.to_json()).unwrap(), second);
//! ```
//!
//! [`NamespaceReports`] are what dashboards read: a `PolicyReport` for each namespace, or the same of OpenReports.
//!
//! A [`Report`] says of a tally what was evaluated, and of which shards it is.
//!
//! Memory is bounded by [`Limits`]: of each table, the rows that come first in the order of their names are kept, and all
//! others are counted together. That choice, and that of examples, does not depend on the order in which decisions came.

mod counts;
mod evaluation;
mod html;
mod input_place;
mod namespace_reports;
mod owner;
mod report;
mod shard_objects;
mod tally;

pub use counts::Counts;
pub use evaluation::{Action, Decision, Evaluation, Finding};
pub use html::{ComparisonPage, Page, PageTable, TablePage};
pub use namespace_reports::{NamespaceLimits, NamespaceReports, ReportApi};
pub use owner::{owner_of, uid_of};
pub use report::{
    DUPLICATE_OBJECT, InputShard, MergeError, Report, ReportError, ReportNotice, ReportProblem, ReportRun,
};
pub use shard_objects::ShardObjects;
pub use tally::{FindingExample, FindingKind, Limits, Tally, TallyError, TallyTable};
