//! Failures of decoding: kind, types and fields, with the server's messages and each with its place.

use std::collections::HashSet;

use pratique_schema::Release;
use pratique_typed::decode::type_meta;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind};

use super::{DecodedField, FieldFault, StrictFault, StrictKind, TreeNode};
use super::{help, registry};
use crate::help::Help;
use crate::parse::{DocumentFormat, ParsedContent};
use crate::position::{DocumentSource, Span};
use crate::problem::{Failure, Problem, Rule};
use crate::tree::{NodeId, PathStep};
use crate::yaml::Duplicate;

/// Reads the kind and version of a value, which must have both.
pub(crate) fn kind_of(
    parsed: &ParsedContent,
    id: NodeId,
    release: &Release,
) -> Result<GroupVersionKind, Failure> {
    let read = match parsed.reread_item(id) {
        None => type_meta(TreeNode::new(parsed.tree(), id), release)
            .map_err(|error| (error.to_string(), error.node())),
        Some(Err(error)) => Err((error.message, id)),
        // Values within the item have no place in the document.
        Some(Ok((tree, root))) => {
            type_meta(TreeNode::new(&tree, root), release).map_err(|error| (error.to_string(), id))
        }
    };
    let kind = read.map_err(|(text, at)| {
        // A kind or version of the wrong type.
        let mut problem = problem_at(parsed, Rule::WrongType, &text, parsed.tree().get(at).span);
        problem.help = Some(help::TYPE_META.into());
        Failure::from(problem)
    })?;
    let missing = match (kind.kind.is_empty(), kind.version.is_empty()) {
        (true, _) => "Kind",
        (false, true) => "apiVersion",
        (false, false) => return Ok(kind),
    };
    let text = format!("Object '{missing}' is missing in '{}'", parsed.raw_text(id));
    Err(Failure::single(text, missing_kind(parsed, id, missing)))
}

fn problem_at(parsed: &ParsedContent, rule: Rule, message: &str, span: Span) -> Problem {
    Problem::new(rule, message).at(parsed.document.source.location(span))
}

/// The problem of a value without a kind or a version.
fn missing_kind(parsed: &ParsedContent, id: NodeId, missing: &str) -> Problem {
    let field = if missing == "Kind" { "kind" } else { missing };
    let span = parsed
        .tree()
        .nearest_span(id, &[PathStep::Field(field.to_owned())]);
    let mut problem = problem_at(
        parsed,
        Rule::MissingKind,
        &format!("Object '{missing}' is missing"),
        span,
    )
    .with_field(field);
    let mut lines = parsed.document.source.as_str().lines();
    let is_comment = lines.all(|line| line.starts_with('#') || line.trim().is_empty());
    problem.help = Some(Help::from(if is_comment {
        "a document of comments only is an error: remove the separator before or after it"
    } else {
        help::TYPE_META
    }));
    problem
}

/// The failure of a value whose kind is not accepted here.
pub(crate) fn unsupported(parsed: &ParsedContent, id: NodeId, text: String, release: &Release) -> Failure {
    let span = parsed
        .tree()
        .nearest_span(id, &[PathStep::Field("kind".to_owned())]);
    let mut problem = problem_at(parsed, Rule::UnsupportedKind, &text, span).with_field("kind");
    let kind = type_meta(TreeNode::new(parsed.tree(), id), release);
    let help = kind.ok().and_then(|kind| help::for_kind(&kind));
    problem.help = help.map(|(text, meant)| match meant {
        Some(meant) => Help::new(text).replacing(&parsed.document.source, span, meant),
        None => Help::new(text),
    });
    problem.into()
}

/// The failure of a value whose kind the loaders of a release do not know.
pub(crate) fn not_registered(
    parsed: &ParsedContent,
    id: NodeId,
    kind: &GroupVersionKind,
    release: &Release,
) -> Failure {
    let mut failure = unsupported(parsed, id, registry::not_registered(kind, release), release);
    let later = help::for_later_kind(kind, release).filter(|_| kind.group == ADMISSION_GROUP);
    if let (Some(problem), Some(help)) = (failure.problems.first_mut(), later) {
        problem.help = Some(Help::new(help));
    }
    failure
}

/// The failure of an object of the API whose kind a release does not serve.
pub(crate) fn not_served(parsed: &ParsedContent, id: NodeId, text: String, release: &Release) -> Failure {
    let mut failure = unsupported(parsed, id, text, release);
    let kind = type_meta(TreeNode::new(parsed.tree(), id), release);
    let help = kind.ok().and_then(|kind| help::for_version(&kind, release));
    if let (Some(problem), Some(help)) = (failure.problems.first_mut(), help) {
        problem.help = Some(Help::new(help));
    }
    failure
}

/// The failure of decoding a value, if there are errors.
pub(crate) fn decoding(parsed: &ParsedContent, id: NodeId, decoded: &DecodedField) -> Option<Failure> {
    let duplicates = match &parsed.format {
        // They are reported for the document, not again for each item of a list in it.
        DocumentFormat::Yaml(duplicates) if id == parsed.root => duplicates.as_slice(),
        _ => &[],
    };
    let text = match decoded.fatal.first().or(decoded.types.first()) {
        Some(fault) => fault.message.clone(),
        None => strict_text(&decoded.strict, duplicates)?,
    };
    let document = &parsed.document.source;
    let mut problems: Vec<Problem> = type_problems(document, decoded).collect();
    // The server reports an aliased mapping at each alias; it has one place.
    let mut places = HashSet::new();
    let duplicates = duplicates
        .iter()
        .filter(|duplicate| places.insert(duplicate.span));
    problems.extend(duplicates.map(|duplicate| {
        let mut problem = problem_at(parsed, Rule::DuplicateField, &duplicate.message, duplicate.span);
        problem.help = Some("remove one of the two; the server refuses to choose".into());
        problem
    }));
    problems.extend(strict_problems(document, decoded));
    Some(Failure { text, problems })
}

/// The problems of a value that was decoded.
pub(super) fn decode_problems(document: &DocumentSource, decoded: &DecodedField) -> Vec<Problem> {
    type_problems(document, decoded)
        .chain(strict_problems(document, decoded))
        .collect()
}

fn type_problems<'d>(
    document: &'d DocumentSource,
    decoded: &'d DecodedField,
) -> impl Iterator<Item = Problem> + use<'d> {
    let faults = decoded.fatal.iter().chain(&decoded.types);
    faults.map(|fault| type_problem(document, fault))
}

fn type_problem(document: &DocumentSource, fault: &FieldFault) -> Problem {
    let mut problem = Problem::new(Rule::WrongType, &fault.message).at(document.location(fault.span));
    let written = document.slice(fault.span);
    problem.help = fault
        .mismatch
        .as_ref()
        .and_then(|mismatch| help::for_value(mismatch, written))
        .map(Help::from);
    if fault.field.is_empty() {
        problem
    } else {
        problem.with_field(fault.field.clone())
    }
}

fn strict_problems<'d>(
    document: &'d DocumentSource,
    decoded: &'d DecodedField,
) -> impl Iterator<Item = Problem> + use<'d> {
    let faults = decoded.strict.iter();
    faults.map(|fault| strict_problem(document, fault))
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
    fault.kind.message(&fault.field)
}

fn strict_problem(document: &DocumentSource, fault: &StrictFault) -> Problem {
    let rule = match fault.kind {
        StrictKind::Unknown => Rule::UnknownField,
        StrictKind::Duplicate => Rule::DuplicateField,
    };
    let mut problem = Problem::new(rule, strict_message(fault))
        .at(document.location(fault.span))
        .with_field(fault.field.clone());
    problem.help = fault
        .meant
        .map(|meant| Help::did_you_mean(meant, document, fault.span));
    problem
}
