//! A suite of golden cases as a program with the code of a release is asked them.

use pratique_harness::{ToolError, with};
use serde_json::Value;

use super::reference::ReferenceProgram;
use super::release::ComparedRelease;

/// A suite of golden cases.
pub(super) trait GoldenSuite {
    /// Its name, that of its directory.
    fn name(&self) -> &'static str;

    /// Starts the program.
    fn start(&self, compared: &ComparedRelease) -> Result<ReferenceProgram, ToolError>;

    /// A case of the release as both sides are asked it; none where it cannot be asked.
    fn prepare(&self, compared: &ComparedRelease, case: Value) -> Option<Value>;

    /// A prepared case in the form that the program reads; it answers `times` times.
    fn question(&self, case: &Value, times: usize) -> Result<Value, ToolError>;

    /// What Pratique says of a prepared case, beside what the program says.
    fn compare(&self, case: &Value, theirs: &Value) -> Result<CaseComparison, ToolError>;
}

/// Two answers to a case.
pub(super) enum CaseComparison {
    /// They are the same, which is this in the form of the suite's expectations.
    Same(Value),
    /// They differ on purpose, or in what the program cannot know.
    Known,
    /// They differ.
    Differs {
        /// In what.
        kind: &'static str,
        /// What Pratique says.
        ours: Value,
    },
}

/// Compares a case with what is expected of it, as `cargo xtask conformance` does.
pub(super) fn compare_expectation(suite: &str, case: &Value, expectation: Value) -> CaseComparison {
    let case = with(case.clone(), [("expect", expectation.clone())]);
    let outcome = pratique_conformance::run_case(suite, &case);
    if outcome.is_exact() {
        return CaseComparison::Same(expectation);
    }
    let kind = if outcome.decision { "Text" } else { "Decision" };
    CaseComparison::Differs {
        kind,
        ours: outcome.actual,
    }
}
