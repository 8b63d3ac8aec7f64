//! Suites of gator, as far as their templates are written as expressions: Gatekeeper makes policies of the API of these.
//!
//! Each constraint is a suite of its own, as gator evaluates each alone.
// Upstream: open-policy-agent/gatekeeper pkg/gator/verify/suite.go, assertion.go

use pratique_json::{Value, text_at};
use pratique_manifest::{ManifestFile, NodeId, Problem, TreeValue, path_text};
use pratique_request::review::is_review;
use pratique_suite::{
    Case, CaseInput, ExpectedResult, ExpectedViolations, Suite, SuiteDocument, SuiteFormat, ViolationCount,
};
use pratique_types::Operation;

use crate::reason::NotEvaluatedReason;
use crate::template::{ConstraintPolicy, policy_of};
use crate::user::read_user;

/// Suites of gator.
#[derive(Clone, Copy, Debug)]
pub struct GatorFormat;

impl SuiteFormat for GatorFormat {
    fn marker(&self) -> &'static str {
        "test.gatekeeper.sh/"
    }

    fn has_kind(&self, api_version: &str, kind: &str) -> bool {
        kind == "Suite" && api_version.split('/').next() == Some("test.gatekeeper.sh")
    }

    fn read(&self, document: &SuiteDocument<'_>) -> Result<Vec<Suite>, Vec<Problem>> {
        let root = document.root();
        let name = document.name().unwrap_or_else(|| path_text(document.path()));
        let skips = root.bool("skip").unwrap_or_default();
        let mut suites = Vec::new();
        let mut problems = Vec::new();
        for id in root.list("tests") {
            match read_test(document, &name, id, skips) {
                Ok(suite) => suites.push(suite),
                Err(refused) => problems.extend(refused),
            }
        }
        if problems.is_empty() {
            Ok(suites)
        } else {
            Err(problems)
        }
    }
}

/// A test: a template and a constraint, with cases.
fn read_test(
    document: &SuiteDocument<'_>,
    suite: &str,
    id: NodeId,
    skips: bool,
) -> Result<Suite, Vec<Problem>> {
    let fields = document.fields(id);
    let name = fields.read_text("name").unwrap_or_default();
    let mut suite = document.suite(format!("{suite} / {name}"));
    let cases = fields.list("cases");
    let leave_out = |suite: &mut Suite, id: NodeId, reason: &NotEvaluatedReason| {
        let name = document
            .fields(id)
            .read_text("name")
            .unwrap_or_else(|| name.clone());
        suite.not_evaluated.push(reason.of_test(document, id, name));
    };
    let policy = if skips || fields.bool("skip").unwrap_or_default() {
        Err(NotEvaluatedReason::SkippedTest)
    } else if fields.node("expansion").is_some() {
        Err(NotEvaluatedReason::Expansion)
    } else {
        let object = |field: &str| fields.node(field).map(|at| document.object_at(at)).transpose();
        match (object("template")?, object("constraint")?) {
            (Some(template), Some(constraint)) if !template.is_null() && !constraint.is_null() => {
                policy_of(&template, &constraint)
            }
            _ => Err(NotEvaluatedReason::NoConstraint),
        }
    };
    let policy = match policy {
        Ok(policy) => policy,
        Err(reason) => {
            for case in &cases {
                leave_out(&mut suite, *case, &reason);
            }
            if cases.is_empty() {
                leave_out(&mut suite, id, &reason);
            }
            return Ok(suite);
        }
    };
    let ConstraintPolicy {
        policy,
        manifest,
        objects,
    } = policy;
    suite.add_policies(vec![ManifestFile {
        path: format!("<policy of {}>", fields.read_text("template").unwrap_or_default()),
        content: manifest.into_bytes(),
    }]);
    suite.add_cluster_objects(objects);
    suite.only = Some(policy);
    suite.is_unstructured = true;
    for id in cases {
        match read_case(document, id)? {
            Ok(case) => suite.cases.push(case),
            Err(reason) => leave_out(&mut suite, id, &reason),
        }
    }
    Ok(suite)
}

/// A case; or why it is not evaluated.
fn read_case(
    document: &SuiteDocument<'_>,
    id: NodeId,
) -> Result<Result<Case, NotEvaluatedReason>, Vec<Problem>> {
    let fields = document.fields(id);
    let name = fields.read_text("name").unwrap_or_default();
    if fields.bool("skip").unwrap_or_default() {
        return Ok(Err(NotEvaluatedReason::SkippedCase));
    }
    let Some(at) = fields.node("object") else {
        return Err(vec![document.problem("a case needs an `object`".to_owned(), id)]);
    };
    let object = document.object_at(at)?;
    let violations = fields.list("assertions");
    let violations: Option<Vec<ExpectedViolations>> = violations
        .into_iter()
        .map(|id| read_assertion(document, id))
        .collect();
    let violations = match violations {
        Some(violations) if violations.is_empty() => {
            return Ok(Err(NotEvaluatedReason::NoAssertions));
        }
        Some(violations) => violations,
        None => {
            return Err(vec![
                document.problem("its violations are no number, yes or no".to_owned(), id),
            ]);
        }
    };
    let mut input = if is_review(&object) {
        read_review(&object)
    } else {
        CaseInput {
            object: Some(object),
            ..CaseInput::default()
        }
    };
    for inventory in fields.list("inventory") {
        input.cluster_objects.extend(document.objects_at(inventory)?);
    }
    let mut expected = ExpectedResult::anything();
    expected.violations = violations;
    document.case(id, name, expected, input).map(Ok)
}

/// An assertion; `None` if it is none of gator's.
fn read_assertion(document: &SuiteDocument<'_>, id: NodeId) -> Option<ExpectedViolations> {
    let fields = document.fields(id);
    let count = match fields.node("violations").map(|id| &fields.tree.get(id).value) {
        None | Some(TreeValue::Bool(true)) => ViolationCount::Some,
        Some(TreeValue::Bool(false)) => ViolationCount::Exactly(0),
        Some(TreeValue::String(text, _)) => match &**text {
            "yes" => ViolationCount::Some,
            "no" => ViolationCount::Exactly(0),
            _ => return None,
        },
        Some(TreeValue::Number(text)) => ViolationCount::Exactly(text.parse().ok()?),
        Some(_) => return None,
    };
    Some(ExpectedViolations {
        message: fields.read_text("message"),
        count,
    })
}

/// The request of a review, of which gator needs no more than the objects.
fn read_review(review: &Value<'static>) -> CaseInput {
    let request = review.get("request").cloned().unwrap_or_default();
    let object = |name: &str| request.get(name).filter(|object| !object.is_null()).cloned();
    let operation = Operation::from_name(text_at(&request, &["operation"]));
    let (new, old) = (object("object"), object("oldObject"));
    // An update may say no more than how the object is afterwards.
    let stored = match operation {
        Some(Operation::Update) => old.or_else(|| new.clone()),
        _ => old,
    };
    CaseInput {
        object: new,
        old_object: stored,
        operation,
        user: request.get("userInfo").map(read_user),
        cluster_objects: Vec::new(),
    }
}
