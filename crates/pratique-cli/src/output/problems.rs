//! Formats the problems of manifests and inputs.

use std::collections::BTreeSet;

use pratique_lint::WarningExample;
use pratique_manifest::{Edit, LoadErrors, Location, ObjectName, Problem, Rule};
use serde::Serialize;

use super::excerpt::FileTexts;
use super::finding::{FindingSeverity, OutputFinding};
use super::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// The maximum length of a message, in bytes: a server's messages quote documents.
const LONGEST: usize = 16 << 10;

/// The problems of a load; if a server stops with them, the first one is marked as the error that it reports.
pub(crate) fn findings(errors: &LoadErrors, stops_server: bool) -> Vec<OutputFinding<'_>> {
    let problems = errors.problems().enumerate();
    problems
        .map(|(index, problem)| OutputFinding::of_problem(problem, stops_server && index == 0))
        .collect()
}

/// The maximum number of findings that are listed; the others are counted.
const MOST: usize = 2000;

/// Formats all problems, the server's message first.
pub(crate) fn human(errors: &LoadErrors, texts: &mut FileTexts, style: StreamStyle) -> PrintableText {
    let message = errors.to_string();
    let list = listed(&following(errors, &message), RuleLinks::None, texts, style);
    let message = shortened(&message);
    text!(
        "{} {}\n{}",
        style.paint(TextTone::Bad, "error:"),
        further(&message),
        list
    )
}

/// Formats all problems with which a server would not start, or which its API refuses, and marks its own message.
pub(crate) fn refused(
    errors: &LoadErrors,
    stops_server: bool,
    texts: &mut FileTexts,
    style: StreamStyle,
) -> PrintableText {
    let message = errors.to_string();
    let list = listed(&following(errors, &message), RuleLinks::Each, texts, style);
    let message = shortened(&message);
    let mut out = text!("{} {}\n", style.paint(TextTone::Bad, "error:"), further(&message));
    let note = if stops_server {
        Some("kube-apiserver stops with this")
    } else {
        is_of_api(errors).then_some("kube-apiserver refuses it with this")
    };
    if let Some(note) = note {
        out.push(&text!("{} {}\n", style.paint(TextTone::Faint, "  = note:"), note));
    }
    out.push(&list);
    out
}

/// Whether the first message is one that an API server answers a request with. Others are those of its readers of files, of
/// clients, which send it nothing, or ours.
fn is_of_api(errors: &LoadErrors) -> bool {
    let first = errors
        .failures()
        .first()
        .and_then(|failure| failure.problems.first());
    first.is_some_and(|problem| {
        matches!(
            problem.rule,
            Rule::MissingKind
                | Rule::WrongType
                | Rule::UnknownField
                | Rule::DuplicateField
                | Rule::InvalidField
                | Rule::InvalidExpression
        )
    })
}

/// A message whose continuation lines are indented.
fn further(message: &str) -> IndentedLines<'_> {
    IndentedLines {
        text: message,
        indent: "    ",
    }
}

/// The findings after the server's message: problems that it quotes are shortened.
fn following<'e>(errors: &'e LoadErrors, message: &str) -> Vec<OutputFinding<'e>> {
    let mut findings = findings(errors, true);
    // The findings that are listed: each is searched in the server's message.
    for finding in findings.iter_mut().take(MOST) {
        let summary = finding.summary.filter(|_| message.contains(finding.message));
        finding.message = summary.unwrap_or(finding.message);
    }
    findings
}

/// Whether findings have links to the documentation of their rules, at the first finding of each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleLinks {
    None,
    Each,
}

/// Lists findings, up to a maximum, and counts them.
pub(crate) fn listed(
    findings: &[OutputFinding<'_>],
    links: RuleLinks,
    texts: &mut FileTexts,
    style: StreamStyle,
) -> PrintableText {
    if findings.is_empty() {
        return PrintableText::new();
    }
    let mut out = PrintableText::new();
    let mut linked: BTreeSet<&str> = BTreeSet::new();
    for finding in findings.iter().take(MOST) {
        let link = linked.insert(finding.name) && links == RuleLinks::Each;
        out.push(&text!("\n{}", finding_text(finding, link, texts, style)));
    }
    if let Some(more @ 1..) = findings.len().checked_sub(MOST) {
        out.push(&text!("\nand {} more, which --output json has\n", more));
    }
    let count = |what: &str, of: &dyn Fn(FindingSeverity) -> bool| {
        let count = findings.iter().filter(|finding| of(finding.severity)).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    let counts = [
        count("problem", &|severity| severity == FindingSeverity::Error),
        count("denied warning", &|severity| severity == FindingSeverity::Denied),
        count("warning", &|severity| severity == FindingSeverity::Warning),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    out.push(&text!("\n{}\n", counts.join(", ")));
    out
}

/// Reports problems on standard error, with excerpts.
pub(crate) fn report(problems: &[Problem], texts: &mut FileTexts) {
    let style = StreamStyle::of_stderr();
    for problem in problems {
        super::eprint(&one(problem, texts, style));
    }
}

/// Formats a problem, with an excerpt.
pub(crate) fn one(problem: &Problem, texts: &mut FileTexts, style: StreamStyle) -> PrintableText {
    finding_text(&OutputFinding::of_problem(problem, false), false, texts, style)
}

/// Formats a finding, with a link to its documentation if it is the first of its rule.
fn finding_text(
    finding: &OutputFinding<'_>,
    link: bool,
    texts: &mut FileTexts,
    style: StreamStyle,
) -> PrintableText {
    let (label, tone) = match finding.severity {
        FindingSeverity::Error => (None, TextTone::Bad),
        FindingSeverity::Denied => (Some("warning:"), TextTone::Bad),
        FindingSeverity::Warning => (Some("warning:"), TextTone::Warning),
    };
    let rule = style.paint(TextTone::Faint, text!("[{}]", finding.name));
    let label = label.map(|label| text!("{} ", style.paint(tone, label)));
    let label = label.unwrap_or_default();
    let message = shortened(finding.message);
    let message = further(&message);
    let mut out = match finding.location {
        Some(location) => {
            let place = style.paint(TextTone::Place, place(location));
            let excerpt = texts.excerpt(location, tone, style).unwrap_or_default();
            text!("{}: {}{} {}\n{}", place, label, message, rule, excerpt)
        }
        None => text!("{}{} {}\n", label, message, rule),
    };
    let mut note = |what: &str, note: &str| {
        let what = style.paint(TextTone::Faint, text!("  = {}:", what));
        let indent = "    ";
        out.push(&text!("{} {}\n", what, IndentedLines { text: note, indent }));
    };
    if let Some(difference) = finding.example.and_then(|example| example.difference.as_deref()) {
        note("object", difference);
    }
    if let Some(help) = finding.help {
        note("help", &help.text);
    }
    if link {
        note("see", &finding.url());
    }
    out
}

/// `file:line:column`, or what has no lines by itself.
pub(crate) fn place(location: &Location) -> String {
    let Location { file, start, .. } = location;
    match start.line {
        0 => file.to_string(),
        line => format!("{file}:{line}:{}", start.column),
    }
}

/// Removes the middle of a very long message.
fn shortened(message: &str) -> String {
    if message.len() <= LONGEST {
        return message.to_owned();
    }
    let head = message
        .get(..message.floor_char_boundary(LONGEST / 2))
        .unwrap_or_default();
    let tail = message
        .get(message.ceil_char_boundary(message.len() - LONGEST / 2)..)
        .unwrap_or_default();
    let omitted = message.len() - head.len() - tail.len();
    format!("{head}… ({omitted} bytes left out) …{tail}")
}

/// A problem or a warning as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsonProblem<'a> {
    rule: &'static str,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a ObjectName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    /// The change that does what the help says.
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<&'a Edit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<JsonExample<'a>>,
    /// The URL of the rule's documentation.
    url: String,
    /// Whether it is the error that the server reports.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stops_server: bool,
}

/// A request that demonstrates a warning.
#[derive(Debug, Serialize)]
struct JsonExample<'a> {
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    bytes: usize,
    object: &'a serde_json::value::RawValue,
}

impl<'a> From<&'a Problem> for JsonProblem<'a> {
    fn from(problem: &'a Problem) -> Self {
        OutputFinding::of_problem(problem, false).into()
    }
}

impl<'a> From<OutputFinding<'a>> for JsonProblem<'a> {
    fn from(finding: OutputFinding<'a>) -> Self {
        JsonProblem {
            rule: finding.name,
            severity: match finding.severity {
                FindingSeverity::Error | FindingSeverity::Denied => "error",
                FindingSeverity::Warning => "warning",
            },
            message: finding.message,
            field: finding.field,
            object: finding.object,
            location: finding.location,
            help: finding.help.map(|help| help.text.as_str()),
            edit: finding.help.and_then(|help| help.edit.as_ref()),
            example: finding.example.and_then(JsonExample::new),
            url: finding.url(),
            stops_server: finding.stops_server,
        }
    }
}

impl<'a> JsonExample<'a> {
    fn new(example: &'a WarningExample) -> Option<Self> {
        Some(JsonExample {
            operation: example.operation.as_str(),
            cost: example.cost,
            bytes: example.object.len(),
            object: serde_json::from_str(&example.object).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        let short = shortened(&"é".repeat(LONGEST));
        assert!(short.len() < LONGEST + 64 && short.contains("bytes left out"));
        assert_eq!(shortened("all of it"), "all of it");
    }
}
