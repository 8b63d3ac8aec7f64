//! The faults that the rules find, in the server's words and each with its place.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use pratique_cel::quote::quoted;
use serde_json::Value as Json;

use super::{Candidate, SUFFIX, name_of};
use crate::decode::{Decoded, Fault, StrictFault, StrictKind};
use crate::kind::Kind;
use crate::parse::Parsed;
use crate::position::Span;
use crate::problem::{Failure, ObjectName, Problem, Rule};
use crate::set::ObjectSource;
use crate::tree::{NodeId, Step};
use crate::validate::FieldError;
use crate::yaml::Duplicate;

fn at(parsed: &Parsed, rule: Rule, message: &str, span: Span) -> Problem {
    Problem::new(rule, message).at(parsed.document.source.location(span))
}

/// A header with a value of the wrong type.
pub(super) fn wrong_type(parsed: &Parsed, id: NodeId, text: &str) -> Problem {
    at(parsed, Rule::WrongType, text, parsed.tree().get(id).span)
}

/// A value without a kind or a version.
pub(super) fn missing_kind(parsed: &Parsed, id: NodeId, missing: &str) -> Problem {
    let field = if missing == "Kind" { "kind" } else { missing };
    let span = parsed.tree().nearest_span(id, &[Step::Field(field.to_owned())]);
    let mut problem = at(
        parsed,
        Rule::MissingKind,
        &format!("Object '{missing}' is missing"),
        span,
    )
    .with_field(field);
    if parsed
        .document
        .source
        .text()
        .lines()
        .all(|line| line.starts_with('#') || line.trim().is_empty())
    {
        problem.help = Some(
            "a document of comments only is an error: remove the separator before or after it".to_owned(),
        );
    }
    problem
}

/// A value of a kind that the plugin does not take.
pub(super) fn unsupported(parsed: &Parsed, id: NodeId, text: &str) -> Problem {
    let span = parsed.tree().nearest_span(id, &[Step::Field("kind".to_owned())]);
    at(parsed, Rule::UnsupportedKind, text, span).with_field("kind")
}

/// What is wrong with a value that decoded, with the text that the server has for it.
pub(super) fn decoding(
    parsed: &Parsed,
    decoded: &Decoded,
    duplicates: &[Duplicate],
) -> Option<(String, Vec<Problem>)> {
    let text = match decoded.fatal.first().or(decoded.types.first()) {
        Some(fault) => fault.message.clone(),
        None => strict_text(&decoded.strict, duplicates)?,
    };
    let type_problem = |fault: &Fault| {
        let problem = at(parsed, Rule::WrongType, &fault.message, fault.span);
        if fault.field.is_empty() {
            problem
        } else {
            problem.with_field(fault.field.clone())
        }
    };
    let mut problems: Vec<Problem> = decoded
        .fatal
        .iter()
        .chain(&decoded.types)
        .map(type_problem)
        .collect();
    problems.extend(duplicates.iter().map(|duplicate| {
        let mut problem = at(parsed, Rule::DuplicateField, &duplicate.message, duplicate.span);
        problem.help = Some("remove one of the two; the server refuses to choose".to_owned());
        problem
    }));
    problems.extend(decoded.strict.iter().map(|fault| strict_problem(parsed, fault)));
    Some((text, problems))
}

fn strict_text(faults: &[StrictFault], duplicates: &[Duplicate]) -> Option<String> {
    let mut parts = Vec::new();
    if !duplicates.is_empty() {
        let lines: Vec<String> = duplicates
            .iter()
            .map(|duplicate| format!("\n  line {}: {}", duplicate.line, duplicate.message))
            .collect();
        parts.push(format!("yaml: unmarshal errors:{}", lines.concat()));
    }
    parts.extend(faults.iter().map(strict_message));
    (!parts.is_empty()).then(|| format!("strict decoding error: {}", parts.join(", ")))
}

fn strict_message(fault: &StrictFault) -> String {
    let kind = match fault.kind {
        StrictKind::Unknown => "unknown field",
        StrictKind::Duplicate => "duplicate field",
    };
    format!("{kind} {}", quoted(&fault.field))
}

fn strict_problem(parsed: &Parsed, fault: &StrictFault) -> Problem {
    let rule = match fault.kind {
        StrictKind::Unknown => Rule::UnknownField,
        StrictKind::Duplicate => Rule::DuplicateField,
    };
    let mut problem = at(parsed, rule, &strict_message(fault), fault.span).with_field(fault.field.clone());
    problem.help = fault.meant.map(|name| format!("did you mean {name:?}?"));
    problem
}

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
        return vec![problem(&error.text, source.locate(&error.path))];
    }
    let located = error
        .issues
        .iter()
        .map(|issue| source.locate_in(&error.path, issue.offset));
    // The first carries the server's text for the expression as a whole.
    let messages =
        std::iter::once(&error.text).chain(error.issues.iter().skip(1).map(|issue| &issue.message));
    messages
        .zip(located)
        .map(|(message, location)| problem(message, location))
        .collect()
}

/// A name without the suffix, or one that another object has.
pub(super) fn static_name(
    candidate: &Candidate<'_>,
    names: &mut HashMap<(bool, String), Arc<str>>,
) -> Option<(String, Problem)> {
    let name = candidate.name();
    let (shown, file) = (quoted(name), quoted(candidate.file));
    if !name.ends_with(SUFFIX) {
        let text = format!(
            "{shown} in file {file} must have a name ending with {}",
            quoted(SUFFIX)
        );
        let mut problem = object_problem(candidate, Rule::StaticSuffix, &text, &["metadata", "name"]);
        problem.help = Some(format!("name it {}", quoted(&format!("{name}{SUFFIX}"))));
        return Some((text, problem));
    }
    match names.entry((candidate.kind.is_binding(), name.to_owned())) {
        Entry::Vacant(entry) => {
            entry.insert(Arc::clone(candidate.file));
            None
        }
        Entry::Occupied(first) => {
            let first = quoted(first.get());
            let text = format!("duplicate name {shown} found in file {file} (previously seen in {first})");
            let problem = object_problem(candidate, Rule::DuplicateName, &text, &["metadata", "name"]);
            Some((text, problem))
        }
    }
}

/// Something that only objects of the API may have.
pub(super) fn static_rule(candidate: &Candidate<'_>) -> Option<(String, Problem)> {
    let name = quoted(candidate.name());
    match candidate.kind {
        Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy => {
            candidate.pointer("/spec/paramKind")?;
            let text = format!(
                "{} {name}: spec.paramKind is not supported for static manifests",
                candidate.kind
            );
            let problem = object_problem(candidate, Rule::StaticUnsupported, &text, &["spec", "paramKind"]);
            Some((text, problem))
        }
        Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding => {
            binding_rule(candidate, &name)
        }
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => {
            webhook_rule(candidate, &name)
        }
    }
}

fn binding_rule(candidate: &Candidate<'_>, name: &str) -> Option<(String, Problem)> {
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
    Some((text, problem))
}

fn webhook_rule(candidate: &Candidate<'_>, name: &str) -> Option<(String, Problem)> {
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
    Some((
        text.clone(),
        problem_at(candidate, Rule::StaticUnsupported, &text, &path),
    ))
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
pub(super) fn missing_policy(source: &ObjectSource, kind: Kind, value: &Json, policy: &str) -> Failure {
    let name = name_of(value);
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
