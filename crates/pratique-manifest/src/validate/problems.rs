//! The problems of an object, each with its place and help.

use std::sync::Arc;

use super::errors::{FieldError, parse_path, path_text};
use crate::expression::ExpressionIssue;
use crate::help::Help;
use crate::parse::help;
use crate::parse::source::ObjectSource;
use crate::position::Span;
use crate::problem::{ObjectName, Problem, Rule};
use crate::tree::{PathStep, StringStyle, TreeValue};

/// The object that a problem is about.
pub(crate) struct ProblemSubject<'a> {
    pub(crate) name: &'a ObjectName,
    pub(crate) source: &'a ObjectSource,
    pub(crate) file: &'a Arc<str>,
}

impl ProblemSubject<'_> {
    pub(super) fn problem(&self, rule: Rule, text: &str, fields: &[&str]) -> Problem {
        let path: Vec<PathStep> = fields
            .iter()
            .map(|name| PathStep::Field((*name).to_owned()))
            .collect();
        self.problem_at(rule, text, &path)
    }

    pub(super) fn problem_at(&self, rule: Rule, text: &str, path: &[PathStep]) -> Problem {
        let field = path_text(path);
        let mut problem = Problem::new(rule, text)
            .at(self.source.locate(path))
            .with_field(field);
        problem.object = Some(self.name.clone());
        problem
    }
}

/// The problems of a field's error: one, or one for each error within an expression.
pub(crate) fn of_field(subject: &ProblemSubject<'_>, error: FieldError) -> Vec<Problem> {
    let source = subject.source;
    let (field, remark) = (&error.field, error.remark);
    let path = parse_path(field);
    let problem = |message: &str, location| {
        let mut problem = Problem::new(error.rule, message)
            .at(location)
            .with_field(field.clone());
        problem.object = Some(subject.name.clone());
        problem
    };
    // Other errors follow from reading the text as a tag.
    let tag = tag_instead(source, &path);
    if remark.issues.is_empty() || tag.is_some() {
        let mut whole = problem(&error.text, source.locate(&path));
        let is_of_type = error.text.contains("must evaluate to ");
        let help = remark.help.or_else(|| null_help(source, &path));
        whole.help = help.map(|text| {
            let span = source.tree().nearest_span(source.root(), &path);
            match &remark.meant {
                Some(meant) => Help::new(text).replacing(source.document(), span, meant),
                None => Help::new(text),
            }
        });
        // What is left of an expression has another type than all of it.
        if is_of_type {
            whole.help = lost_text_help(source, &path).or(whole.help.take());
        }
        if let Some(span) = tag {
            whole.location = Some(source.document().location(span));
            whole.help = Some(help::TAG.into());
        }
        return vec![whole];
    }
    let first = remark
        .issues
        .first()
        .map(|issue| format!("{field}: {}", issue.message));
    // The first has the server's message for the whole expression.
    let messages =
        std::iter::once(&error.text).chain(remark.issues.iter().skip(1).map(|issue| &issue.message));
    let problems = messages.zip(&remark.issues).map(|(message, issue)| {
        let range = issue.offset..issue.offset + issue.length;
        let mut problem = problem(message, source.locate_range(&path, range));
        problem.help = issue.help.as_ref().map(|help| {
            let text = Help::new(help.text.as_str());
            match &help.replacement {
                Some((range, word)) => text.replacing_within(source, &path, range.clone(), word),
                None => text,
            }
        });
        problem
    });
    let mut problems: Vec<Problem> = problems.collect();
    if let Some(problem) = problems.first_mut() {
        problem.summary = first;
        // What is not read makes the first error, whatever that looks like.
        let may_be_of_lost_text = |issue: &ExpressionIssue| {
            let starts = ["Syntax error: ", "found no matching overload for '"];
            starts.iter().any(|start| issue.message.starts_with(start))
        };
        if remark.issues.first().is_some_and(may_be_of_lost_text) {
            problem.help = lost_text_help(source, &path).or(problem.help.take());
        }
    }
    problems
}

/// Help for an expression of which YAML, or CEL, reads a part as a comment.
#[cfg(feature = "expressions")]
fn lost_text_help(source: &ObjectSource, path: &[PathStep]) -> Option<Help> {
    crate::comment_swallow::help_for_lost_text(source, path).map(Help::new)
}

#[cfg(not(feature = "expressions"))]
fn lost_text_help(_: &ObjectSource, _: &[PathStep]) -> Option<Help> {
    None
}

/// The tag that YAML reads the start of a value as, in `expression: !has(object.x)`, with the rest of the value.
fn tag_instead(source: &ObjectSource, path: &[PathStep]) -> Option<Span> {
    let tree = source.tree();
    let (PathStep::Field(name), parent) = path.split_last()? else {
        return None;
    };
    let entry = tree.entry(tree.find(source.root(), parent)?, name)?;
    if !matches!(
        &tree.get(entry.value).value,
        TreeValue::String(_, StringStyle::Plain)
    ) {
        return None;
    }
    let text = source.document().as_str();
    let after = entry.key_span.end as usize;
    let line = text.get(after..)?.split('\n').next()?;
    let value = line
        .trim_start_matches(['"', '\''])
        .trim_start()
        .strip_prefix(':')?
        .trim();
    // Tags of YAML itself are intended.
    let is_tag = value.starts_with('!') && !value.starts_with("!!");
    let start = after + line.find('!')?;
    is_tag.then(|| Span::new(start, start + value.len()))
}

/// Help for a value that is null, where one is required.
fn null_help(source: &ObjectSource, path: &[PathStep]) -> Option<String> {
    let tree = source.tree();
    let node = tree.get(tree.find(source.root(), path)?);
    let is_null = matches!(&node.value, TreeValue::Null);
    is_null.then(|| "null, ~ and nothing behind the colon are all the same to YAML: no value".to_owned())
}
