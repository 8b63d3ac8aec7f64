//! Problems and warnings as diagnostics.

use lsp_types::{CodeDescription, Diagnostic, DiagnosticSeverity, NumberOrString};
use pratique_lint::Warning;
use pratique_manifest::{Help, Location, Problem};

use crate::analysis::ManifestAnalysis;
use crate::other_files::Findings;
use crate::text::IndexedText;

const SOURCE: &str = "pratique";
/// The documentation of the lints.
const LINTS: &str = "https://github.com/pratique/pratique/blob/main/docs/warnings.md";

/// The findings in a file: those of manifests, and those of files of other kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileFindings<'a> {
    pub(crate) analysis: Option<&'a ManifestAnalysis>,
    pub(crate) other_findings: Option<&'a Findings>,
    pub(crate) file: &'a str,
}

impl<'a> FileFindings<'a> {
    fn is_here(&self, location: &Location) -> bool {
        *location.file == *self.file
    }

    fn problems(self) -> impl Iterator<Item = (&'a Problem, &'a Location)> {
        let of_manifest = self.analysis.into_iter().flat_map(|analysis| &analysis.problems);
        let of_other_kind = self
            .other_findings
            .into_iter()
            .flat_map(|findings| &findings.problems);
        // A document that is not YAML is already reported if it may be a manifest.
        let of_other_kind = of_other_kind.filter(move |problem| {
            let mut reported = self.analysis.into_iter().flat_map(|analysis| &analysis.problems);
            !reported.any(|other| other.rule == problem.rule && other.location == problem.location)
        });
        let all = of_manifest.chain(of_other_kind);
        all.filter_map(move |problem| {
            let location = problem.location.as_ref();
            Some((problem, location.filter(|location| self.is_here(location))?))
        })
    }

    fn warnings(self) -> impl Iterator<Item = &'a Warning> {
        let of_manifest = self.analysis.into_iter().flat_map(|analysis| &analysis.warnings);
        let of_other_kind = self
            .other_findings
            .into_iter()
            .flat_map(|findings| &findings.warnings);
        let all = of_manifest.chain(of_other_kind);
        all.filter(move |warning| self.is_here(&warning.location))
    }

    /// What a server accepts with a warning, in files of other kinds.
    fn cautions(self) -> impl Iterator<Item = (&'a Problem, &'a Location)> {
        let findings = self.other_findings.into_iter();
        let all = findings.flat_map(|findings| &findings.cautions);
        all.filter_map(move |problem| {
            let location = problem.location.as_ref();
            Some((problem, location.filter(|location| self.is_here(location))?))
        })
    }

    /// Whether there are problems.
    pub(crate) fn has_problems(self) -> bool {
        self.problems().next().is_some()
    }

    /// Whether there are warnings of lints.
    pub(crate) fn has_warnings(self) -> bool {
        self.warnings().next().is_some()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(self) -> bool {
        !self.has_problems() && !self.has_warnings() && self.cautions().next().is_none()
    }

    /// The diagnostics.
    pub(crate) fn diagnostics(self, text: &IndexedText) -> Vec<Diagnostic> {
        let helped = self.with_help(text);
        helped.into_iter().map(|(diagnostic, _)| diagnostic).collect()
    }

    /// The diagnostics, each with how it is fixed.
    pub(crate) fn with_help(self, text: &IndexedText) -> Vec<(Diagnostic, Option<&'a Help>)> {
        let problems = self.problems();
        let problems =
            problems.map(|(problem, location)| (of_problem(problem, location, text), problem.help.as_ref()));
        let cautions = self.cautions().map(|(problem, location)| {
            let severity = Some(DiagnosticSeverity::WARNING);
            let diagnostic = of_problem(problem, location, text);
            let caution = Diagnostic {
                severity,
                ..diagnostic
            };
            (caution, problem.help.as_ref())
        });
        let warnings = self.warnings();
        problems
            .chain(cautions)
            .chain(warnings.map(|warning| (of_warning(warning, text), warning.help.as_ref())))
            .collect()
    }
}

fn of_problem(problem: &Problem, location: &Location, text: &IndexedText) -> Diagnostic {
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

fn of_warning(warning: &Warning, text: &IndexedText) -> Diagnostic {
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
