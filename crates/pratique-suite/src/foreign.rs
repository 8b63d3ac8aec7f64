//! Tests of other programs, as far as they are about policies of the API: of the Kyverno CLI, and of gator.
//!
//! What else they test is listed as [not evaluated](crate::NotEvaluated): it neither passes nor fails.

mod gator;
mod kyverno;
mod template;

use std::cell::RefCell;
use std::path::Path;

use pratique_json::Value;
use pratique_manifest::{Location, NodeId, ObjectSource, Problem, Rule};
use pratique_types::UserInfo;

use crate::read::Fields;
use crate::read::budget::{self, Budget};
use crate::roots::{OpenError, SuiteRoots};
use crate::suite::{Case, CaseNodes, Expected, NotEvaluated, Suite, TestInput};
use pratique_json::text_at;

/// Parts of API groups, one of which every file with such tests has.
pub(crate) const GROUPS: [&str; 2] = ["kyverno.io/", "test.gatekeeper.sh/"];

/// Whose tests a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Kyverno,
    Gator,
}

impl Program {
    /// The program whose tests a document has, by its version and kind.
    pub(crate) fn of(version: &str, kind: &str) -> Option<Self> {
        let group = version.split('/').next().unwrap_or_default();
        match (group, kind) {
            ("cli.kyverno.io" | "kyverno.io", "Test") => Some(Program::Kyverno),
            ("test.gatekeeper.sh", "Suite") => Some(Program::Gator),
            _ => None,
        }
    }

    /// The suites that a document's tests are, one for each policy or constraint.
    pub(crate) fn read(
        self,
        source: &ObjectSource,
        path: &Path,
        roots: &SuiteRoots,
    ) -> Result<Vec<Suite>, Vec<Problem>> {
        let source = Source {
            source,
            path,
            roots,
            budget: RefCell::new(Budget::new()),
        };
        match self {
            Program::Kyverno => kyverno::read(&source),
            Program::Gator => gator::read(&source),
        }
    }
}

/// Why a test of another program is not evaluated.
#[derive(Debug, thiserror::Error)]
enum NotEvaluatedReason {
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

/// The document of another program's tests.
pub(crate) struct Source<'a> {
    source: &'a ObjectSource,
    path: &'a Path,
    roots: &'a SuiteRoots,
    budget: RefCell<Budget>,
}

impl<'a> Source<'a> {
    /// A case at a node, if it fits into the memory that the tests of a suite may take.
    fn case(
        &self,
        at: NodeId,
        name: String,
        expected: Expected,
        input: TestInput,
    ) -> Result<Case, Vec<Problem>> {
        if !self.budget.borrow_mut().take(&input) {
            return Err(vec![self.problem(budget::SPENT.to_owned(), at)]);
        }
        Ok(Case {
            name,
            location: self.location(at),
            expected: Some(expected),
            input,
            nodes: CaseNodes {
                node: at,
                expect: None,
                shared: true,
            },
        })
    }

    /// The case of a policy or constraint that is not evaluated.
    fn not_evaluated(&self, at: NodeId, name: String, reason: &NotEvaluatedReason) -> NotEvaluated {
        NotEvaluated {
            name,
            why: reason.to_string(),
            skipped: matches!(
                reason,
                NotEvaluatedReason::SkippedTest | NotEvaluatedReason::SkippedCase
            ),
            location: self.location(at),
        }
    }

    /// The name in the metadata of the tests.
    fn name(&self) -> Option<String> {
        self.fields(self.root().node("metadata")?).text("name")
    }

    fn fields(&self, id: NodeId) -> Fields<'a> {
        Fields {
            tree: self.source.tree(),
            id,
        }
    }

    fn root(&self) -> Fields<'a> {
        self.fields(self.source.root())
    }

    fn location(&self, id: NodeId) -> Location {
        let span = self.source.tree().nearest_span(id, &[]);
        self.source.document().location(span)
    }

    fn problem(&self, message: String, at: NodeId) -> Problem {
        Problem::new(Rule::InvalidField, message).at(self.location(at))
    }

    /// The objects of the file that a node names, or of all files below the directory.
    fn named(&self, at: NodeId) -> Result<Vec<Value<'static>>, Vec<Problem>> {
        self.objects(&self.fields(at).as_text().unwrap_or_default(), at)
    }

    /// The only object of the file that a node names.
    fn only(&self, at: NodeId) -> Result<Value<'static>, Vec<Problem>> {
        let mut found = self.named(at)?;
        match (found.pop(), found.is_empty()) {
            (Some(object), true) => Ok(object),
            _ => {
                let file = self.fields(at).as_text().unwrap_or_default();
                Err(vec![self.problem(format!("{file} is not one object"), at)])
            }
        }
    }

    /// The objects of a file that the tests name, or of all files below a directory.
    fn objects(&self, file: &str, at: NodeId) -> Result<Vec<Value<'static>>, Vec<Problem>> {
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let full = directory.join(file);
        let failed = |message: String| vec![self.problem(message, at)];
        let unopened = |error: OpenError| failed(format!("{file}: {error}"));
        let listed = self.roots.files(&full, crate::files::below).map_err(unopened)?;
        let mut objects = Vec::new();
        for path in listed {
            let content = self.roots.open(&path).map_err(unopened)?;
            let found = pratique_manifest::convert::objects(&content)?;
            if !self.budget.borrow_mut().take_objects(&found) {
                return Err(failed(budget::SPENT.to_owned()));
            }
            objects.extend(found);
        }
        Ok(objects)
    }

    /// A suite without policies and cases.
    fn suite(&self, name: String) -> Suite {
        Suite {
            bind: true,
            // The other programs evaluate objects as they are written.
            defaults: false,
            is_foreign: true,
            ..Suite::new(name, self.path, self.source.clone(), self.roots)
        }
    }
}

/// A user of an AdmissionReview, as far as other programs read it.
fn user(info: &Value<'_>) -> UserInfo {
    let groups = info.get("groups").and_then(Value::as_array).unwrap_or_default();
    let groups = groups.iter().filter_map(Value::as_str);
    UserInfo {
        username: text_at(info, &["username"]).to_owned(),
        groups: groups.map(str::to_owned).collect(),
        ..UserInfo::default()
    }
}
