//! Why tests of other programs are not evaluated.

use pratique_manifest::NodeId;
use pratique_suite::{NotEvaluated, SuiteDocument};

/// Why a test of another program is not evaluated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotEvaluatedReason {
    #[error("the test is skipped")]
    SkippedTest,
    #[error("the case is skipped")]
    SkippedCase,
    #[error("expansion templates are not read")]
    Expansion,
    #[error("it has no template or no constraint")]
    NoConstraint,
    #[error("it asserts nothing")]
    NoAssertions,
    #[error("its template is written in Rego: there are no expressions in it")]
    Rego,
    #[error("the constraint is a {constraint}, the template is of {template}")]
    ConstraintKind { constraint: String, template: String },
    /// Policies of the API cannot match by this field.
    #[error("its constraint matches by {field}: {value}")]
    Match { field: &'static str, value: String },
    #[error("its values are for variables of Kyverno")]
    Variables,
    #[error("exceptions are for policies of Kyverno's own kinds")]
    Exceptions,
    /// A file of policies cannot be read, with its first problem.
    #[error("no ValidatingAdmissionPolicy or MutatingAdmissionPolicy of that name is read; {0}")]
    Unread(String),
    #[error("it is of Kyverno's own kinds, no ValidatingAdmissionPolicy or MutatingAdmissionPolicy")]
    OtherKind,
}

impl NotEvaluatedReason {
    /// The test at a node of a document, which is not evaluated for this reason.
    pub(crate) fn of_test(&self, document: &SuiteDocument<'_>, at: NodeId, name: String) -> NotEvaluated {
        NotEvaluated {
            name,
            why: self.to_string(),
            skipped: matches!(
                self,
                NotEvaluatedReason::SkippedTest | NotEvaluatedReason::SkippedCase
            ),
            location: document.location(at),
        }
    }
}
