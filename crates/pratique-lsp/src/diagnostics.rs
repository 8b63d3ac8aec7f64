//! Problems and warnings as diagnostics.

use lsp_types::{CodeDescription, Diagnostic, DiagnosticSeverity, NumberOrString};
use pratique_lint::Warning;
use pratique_manifest::{Help, Location, Problem};

use crate::analysis::Analysis;
use crate::text::Text;

const SOURCE: &str = "pratique";
/// What each lint finds.
const LINTS: &str = "https://github.com/pratique/pratique/blob/main/docs/warnings.md";

/// Whether there are diagnostics of a file.
pub(crate) fn has_any(analysis: &Analysis, file: &str) -> bool {
    let problems = analysis
        .problems
        .iter()
        .filter_map(|problem| problem.location.as_ref());
    let warnings = analysis.warnings.iter().map(|warning| &warning.location);
    problems.chain(warnings).any(|location| *location.file == *file)
}

/// The diagnostics of a file.
pub(crate) fn of_file(analysis: &Analysis, file: &str, text: &Text) -> Vec<Diagnostic> {
    let found = with_help_of(analysis, file, text);
    found.into_iter().map(|(diagnostic, _)| diagnostic).collect()
}

/// The diagnostics of a file, each with how it is fixed.
pub(crate) fn with_help_of<'a>(
    analysis: &'a Analysis,
    file: &str,
    text: &Text,
) -> Vec<(Diagnostic, Option<&'a Help>)> {
    let is_here = |location: &Location| *location.file == *file;
    let problems = analysis.problems.iter().filter_map(|problem| {
        let location = problem.location.as_ref().filter(|location| is_here(location))?;
        Some((of_problem(problem, location, text), problem.help.as_ref()))
    });
    let warnings = analysis.warnings.iter();
    let warnings = warnings.filter(|warning| is_here(&warning.location));
    problems
        .chain(warnings.map(|warning| (of_warning(warning, text), warning.help.as_ref())))
        .collect()
}

fn of_problem(problem: &Problem, location: &Location, text: &Text) -> Diagnostic {
    let message = problem.summary.as_ref().unwrap_or(&problem.message);
    Diagnostic {
        range: text.range(location),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(problem.rule.name().to_owned())),
        source: Some(SOURCE.to_owned()),
        message: with_help(message, problem.help.as_ref()),
        ..Diagnostic::default()
    }
}

fn of_warning(warning: &Warning, text: &Text) -> Diagnostic {
    let name = warning.lint.name;
    let description = format!("{LINTS}#{name}").parse();
    Diagnostic {
        range: text.range(&warning.location),
        severity: Some(DiagnosticSeverity::WARNING),
        code: Some(NumberOrString::String(name.to_owned())),
        code_description: description.ok().map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: with_help(&warning.message, warning.help.as_ref()),
        ..Diagnostic::default()
    }
}

fn with_help(message: &str, help: Option<&Help>) -> String {
    match help {
        Some(help) => format!("{message}\nhelp: {}", help.text),
        None => message.to_owned(),
    }
}
