//! The faults that the rules of static manifests find, in the server's words and each with its place.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use pratique_cel::quote::quoted;
use serde_json::Value as Json;

use super::{Candidate, Names, SUFFIX};
use crate::help;
use crate::kind::Kind;
use crate::problem::{Failure, ObjectName, Problem, Rule};
use crate::report::Report;
use crate::set::ObjectSource;
use crate::tree::Step;
use crate::validate::FieldError;

/// The problems of a field's error: one, or one for each fault of an expression.
pub(super) fn field(source: &ObjectSource, object: &ObjectName, error: FieldError) -> Vec<Problem> {
    let field = crate::validate::path_text(&error.path);
    let problem = |message: &str, location| {
        let mut problem = Problem::new(error.rule, message)
            .at(location)
            .with_field(field.clone());
        problem.object = Some(object.clone());
        problem
    };
    if error.issues.is_empty() {
        let mut whole = problem(&error.text, source.locate(&error.path));
        whole.help = error.help;
        if let Some(span) = help::tag_instead(source, &error.path) {
            whole.location = Some(source.document().location(span));
            whole.help = Some(help::TAG.to_owned());
        }
        return vec![whole];
    }
    // The first carries the server's text for the expression as a whole.
    let messages =
        std::iter::once(&error.text).chain(error.issues.iter().skip(1).map(|issue| &issue.message));
    let problems = messages.zip(&error.issues).map(|(message, issue)| {
        let range = issue.offset..issue.offset + issue.length;
        let mut problem = problem(message, source.locate_range(&error.path, range));
        problem.help.clone_from(&issue.help);
        problem
    });
    problems.collect()
}

/// A name without the suffix, or one that another object has.
pub(super) fn static_name(candidate: &Candidate<'_>, names: &mut Names) -> Option<Report> {
    let name = candidate.name();
    let (shown, file) = (quoted(name), quoted(candidate.file));
    if !name.ends_with(SUFFIX) {
        let text = format!(
            "{shown} in file {file} must have a name ending with {}",
            quoted(SUFFIX)
        );
        let mut problem = object_problem(candidate, Rule::StaticSuffix, &text, &["metadata", "name"]);
        problem.help = Some(format!("name it {}", quoted(&format!("{name}{SUFFIX}"))));
        return Some(Report::single(text, problem));
    }
    repeated_name(candidate, names)
}

/// A name that another object of the kind has.
pub(super) fn repeated_name(candidate: &Candidate<'_>, names: &mut Names) -> Option<Report> {
    let (shown, file) = (quoted(candidate.name()), quoted(candidate.file));
    match names.entry((candidate.kind, candidate.name().into())) {
        Entry::Vacant(entry) => {
            entry.insert(Arc::clone(candidate.file));
            None
        }
        Entry::Occupied(first) => {
            let first = quoted(first.get());
            let text = format!("duplicate name {shown} found in file {file} (previously seen in {first})");
            let problem = object_problem(candidate, Rule::DuplicateName, &text, &["metadata", "name"]);
            Some(Report::single(text, problem))
        }
    }
}

/// Something that only objects of the API may have.
pub(super) fn static_rule(candidate: &Candidate<'_>) -> Option<Report> {
    let name = quoted(candidate.name());
    match candidate.kind {
        Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy => {
            candidate.pointer("/spec/paramKind")?;
            let text = format!(
                "{} {name}: spec.paramKind is not supported for static manifests",
                candidate.kind
            );
            let problem = object_problem(candidate, Rule::StaticUnsupported, &text, &["spec", "paramKind"]);
            Some(Report::single(text, problem))
        }
        Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding => {
            binding_rule(candidate, &name)
        }
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => {
            webhook_rule(candidate, &name)
        }
    }
}

fn binding_rule(candidate: &Candidate<'_>, name: &str) -> Option<Report> {
    let policy = candidate
        .pointer("/spec/policyName")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let (text, rule, field) = if policy.is_empty() {
        // Validation has said so.
        return None;
    } else if !policy.ends_with(SUFFIX) {
        let text = format!(
            "binding {name}: spec.policyName {} must end with {}",
            quoted(policy),
            quoted(SUFFIX)
        );
        (text, Rule::StaticSuffix, "policyName")
    } else {
        candidate.pointer("/spec/paramRef")?;
        let text = format!("binding {name}: spec.paramRef is not supported for static manifests");
        (text, Rule::StaticUnsupported, "paramRef")
    };
    let problem = object_problem(candidate, rule, &text, &["spec", field]);
    Some(Report::single(text, problem))
}

fn webhook_rule(candidate: &Candidate<'_>, name: &str) -> Option<Report> {
    let hooks = candidate.pointer("/webhooks").and_then(Json::as_array)?;
    let (index, hook) = hooks
        .iter()
        .enumerate()
        .find(|(_, hook)| hook.pointer("/clientConfig/service").is_some())?;
    let hook = quoted(hook.get("name").and_then(Json::as_str).unwrap_or_default());
    let text = format!(
        "webhook {hook} in {name} (file {}): clientConfig.service is not supported for static manifests; use clientConfig.url instead",
        quoted(candidate.file)
    );
    let field = |name: &str| Step::Field(name.to_owned());
    let path = [
        field("webhooks"),
        Step::Index(index),
        field("clientConfig"),
        field("service"),
    ];
    let problem = problem_at(candidate, Rule::StaticUnsupported, &text, &path);
    Some(Report::single(text, problem))
}

fn object_problem(candidate: &Candidate<'_>, rule: Rule, text: &str, fields: &[&str]) -> Problem {
    let path: Vec<Step> = fields
        .iter()
        .map(|name| Step::Field((*name).to_owned()))
        .collect();
    problem_at(candidate, rule, text, &path)
}

fn problem_at(candidate: &Candidate<'_>, rule: Rule, text: &str, path: &[Step]) -> Problem {
    let field = crate::validate::path_text(path);
    let mut problem = Problem::new(rule, text)
        .at(candidate.source.locate(path))
        .with_field(field);
    problem.object = Some(candidate.object_name());
    problem
}

/// A binding of a policy that is not there.
pub(super) fn missing_policy(kind: Kind, name: &str, policy: &str, source: &ObjectSource) -> Failure {
    let text = format!(
        "binding {} references policy {} which does not exist in the manifest directory",
        quoted(name),
        quoted(policy)
    );
    let path = [
        Step::Field("spec".to_owned()),
        Step::Field("policyName".to_owned()),
    ];
    let mut problem = Problem::new(Rule::MissingPolicy, text.clone()).at(source.locate(&path));
    problem.field = Some("spec.policyName".to_owned());
    problem.object = Some(ObjectName {
        kind,
        name: name.to_owned(),
    });
    Failure::single(text, problem)
}
