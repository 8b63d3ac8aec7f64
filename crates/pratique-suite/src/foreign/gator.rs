//! Suites of gator, as far as their templates are written as expressions: Gatekeeper makes policies of the API of these.
//!
//! Each constraint is a suite of its own, as gator evaluates each alone.
// Upstream: open-policy-agent/gatekeeper pkg/gator/verify/suite.go, assertion.go

use pratique_json::Value;
use pratique_manifest::{ManifestFile, NodeId, Problem, Value as Node};
use pratique_types::Operation;

use super::template::{Constrained, constrained};
use super::{NotEvaluatedReason, Source, user};
use crate::read::operation_named;
use crate::suite::{Case, Expected, Suite, TestInput, ViolationCount, Violations};
use pratique_json::text_at;
use pratique_request::review::is_review;

pub(super) fn read(reader: &Source<'_>) -> Result<Vec<Suite>, Vec<Problem>> {
    let root = reader.root();
    let name = reader
        .name()
        .unwrap_or_else(|| pratique_manifest::path_text(reader.path));
    let skips = root.bool("skip").unwrap_or_default();
    let mut suites = Vec::new();
    let mut problems = Vec::new();
    for id in root.list("tests") {
        match test(reader, &name, id, skips) {
            Ok(suite) => suites.push(suite),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(suites)
    } else {
        Err(problems)
    }
}

/// A test: a template and a constraint, with cases.
fn test(reader: &Source<'_>, suite: &str, id: NodeId, skips: bool) -> Result<Suite, Vec<Problem>> {
    let fields = reader.fields(id);
    let name = fields.text("name").unwrap_or_default();
    let mut suite = reader.suite(format!("{suite} / {name}"));
    let cases = fields.list("cases");
    let leave_out = |suite: &mut Suite, id: NodeId, reason: &NotEvaluatedReason| {
        let name = reader.fields(id).text("name").unwrap_or_else(|| name.clone());
        suite.not_evaluated.push(reader.not_evaluated(id, name, reason));
    };
    let constrained = if skips || fields.bool("skip").unwrap_or_default() {
        Err(NotEvaluatedReason::SkippedTest)
    } else if fields.node("expansion").is_some() {
        Err(NotEvaluatedReason::Expansion)
    } else {
        let object = |field: &str| fields.node(field).map(|at| reader.only(at)).transpose();
        match (object("template")?, object("constraint")?) {
            (Some(template), Some(constraint)) if !template.is_null() && !constraint.is_null() => {
                constrained(&template, &constraint)
            }
            _ => Err(NotEvaluatedReason::NoConstraint),
        }
    };
    let constrained = match constrained {
        Ok(constrained) => constrained,
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
    let Constrained {
        policy,
        manifest,
        objects,
    } = constrained;
    suite.generated = vec![ManifestFile {
        path: format!("<policy of {}>", fields.text("template").unwrap_or_default()),
        content: manifest.into_bytes(),
    }];
    suite.cluster.objects = objects;
    suite.only = Some(policy);
    suite.is_unstructured = true;
    for id in cases {
        match case(reader, id)? {
            Ok(case) => suite.cases.push(case),
            Err(reason) => leave_out(&mut suite, id, &reason),
        }
    }
    Ok(suite)
}

/// A case; or why it is not evaluated.
fn case(reader: &Source<'_>, id: NodeId) -> Result<Result<Case, NotEvaluatedReason>, Vec<Problem>> {
    let fields = reader.fields(id);
    let name = fields.text("name").unwrap_or_default();
    if fields.bool("skip").unwrap_or_default() {
        return Ok(Err(NotEvaluatedReason::SkippedCase));
    }
    let Some(at) = fields.node("object") else {
        return Err(vec![reader.problem("a case needs an `object`".to_owned(), id)]);
    };
    let object = reader.only(at)?;
    let violations = fields.list("assertions");
    let violations: Option<Vec<Violations>> =
        violations.into_iter().map(|id| assertion(reader, id)).collect();
    let violations = match violations {
        Some(violations) if violations.is_empty() => {
            return Ok(Err(NotEvaluatedReason::NoAssertions));
        }
        Some(violations) => violations,
        None => {
            return Err(vec![
                reader.problem("its violations are no number, yes or no".to_owned(), id),
            ]);
        }
    };
    let mut input = if is_review(&object) {
        reviewed(&object)
    } else {
        TestInput {
            object: Some(object),
            ..TestInput::default()
        }
    };
    for inventory in fields.list("inventory") {
        input.cluster.objects.extend(reader.named(inventory)?);
    }
    let expected = Expected {
        any_decision: true,
        violations,
        ..Expected::default()
    };
    reader.case(id, name, expected, input).map(Ok)
}

/// An assertion; `None` if it is none of gator's.
fn assertion(reader: &Source<'_>, id: NodeId) -> Option<Violations> {
    let fields = reader.fields(id);
    let count = match fields.node("violations").map(|id| &fields.tree.get(id).value) {
        None | Some(Node::Bool(true)) => ViolationCount::Some,
        Some(Node::Bool(false)) => ViolationCount::Exactly(0),
        Some(Node::String(text, _)) => match &**text {
            "yes" => ViolationCount::Some,
            "no" => ViolationCount::Exactly(0),
            _ => return None,
        },
        Some(Node::Number(text)) => ViolationCount::Exactly(text.parse().ok()?),
        Some(_) => return None,
    };
    Some(Violations {
        message: fields.text("message"),
        count,
    })
}

/// The request of a review, of which gator needs no more than the objects.
fn reviewed(review: &Value<'static>) -> TestInput {
    let request = review.get("request").cloned().unwrap_or_default();
    let object = |name: &str| {
        let found = request.get(name).filter(|object| !object.is_null());
        found.cloned()
    };
    let operation = operation_named(text_at(&request, &["operation"]));
    let (new, old) = (object("object"), object("oldObject"));
    // An update may say no more than how the object is afterwards.
    let stored = match operation {
        Some(Operation::Update) => old.or_else(|| new.clone()),
        _ => old,
    };
    TestInput {
        object: new,
        old_object: stored,
        operation,
        user: request.get("userInfo").map(user),
        ..TestInput::default()
    }
}
