//! Findings: errors and warnings in a form for all outputs.

use pratique_lint::{Warning, WarningExample};
use pratique_manifest::{Help, Location, ObjectName, Problem};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingSeverity {
    /// An error with which the server does not start.
    Error,
    /// A warning that fails the check.
    Denied,
    /// A warning.
    Warning,
}

/// How grave something is, in outputs of CI servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnnotationLevel {
    Error,
    Warning,
    Note,
}

impl AnnotationLevel {
    /// The level of a result in SARIF.
    pub(crate) fn of_sarif(self) -> &'static str {
        match self {
            AnnotationLevel::Error => "error",
            AnnotationLevel::Warning => "warning",
            AnnotationLevel::Note => "note",
        }
    }

    /// The workflow command of GitHub Actions.
    pub(crate) fn of_github(self) -> &'static str {
        match self {
            AnnotationLevel::Note => "notice",
            AnnotationLevel::Error | AnnotationLevel::Warning => self.of_sarif(),
        }
    }
}

impl From<FindingSeverity> for AnnotationLevel {
    fn from(severity: FindingSeverity) -> Self {
        match severity {
            FindingSeverity::Error | FindingSeverity::Denied => AnnotationLevel::Error,
            FindingSeverity::Warning => AnnotationLevel::Warning,
        }
    }
}

/// An error or a warning.
#[derive(Clone, Debug)]
pub(crate) struct OutputFinding<'a> {
    pub(crate) severity: FindingSeverity,
    /// The stable name of the rule or warning.
    pub(crate) name: &'static str,
    pub(crate) message: &'a str,
    /// A short message, for where the text is shown already.
    pub(crate) summary: Option<&'a str>,
    pub(crate) field: Option<&'a str>,
    pub(crate) object: Option<&'a ObjectName>,
    pub(crate) location: Option<&'a Location>,
    /// The input that it is about, where it has no location; empty if that is not known.
    pub(crate) input: &'a str,
    pub(crate) help: Option<&'a Help>,
    /// An object that demonstrates it.
    pub(crate) example: Option<&'a WarningExample>,
    /// Whether it is the error that the server reports.
    pub(crate) stops_server: bool,
}

impl<'a> OutputFinding<'a> {
    pub(crate) fn of_problem(problem: &'a Problem, stops_server: bool) -> Self {
        OutputFinding {
            severity: FindingSeverity::Error,
            name: problem.rule.name(),
            message: &problem.message,
            summary: problem.summary.as_deref(),
            field: problem.field.as_deref(),
            object: problem.object.as_ref(),
            location: problem.location.as_ref(),
            input: "",
            help: problem.help.as_ref(),
            example: None,
            stops_server,
        }
    }

    pub(crate) fn of_warning(warning: &'a Warning, severity: FindingSeverity) -> Self {
        OutputFinding {
            severity,
            name: warning.lint.name,
            message: &warning.message,
            summary: None,
            field: Some(&warning.field),
            object: warning.object.as_ref(),
            location: Some(&warning.location),
            input: "",
            help: warning.help.as_ref(),
            example: warning.example.as_deref(),
            stops_server: false,
        }
    }

    /// The finding as one about an input, which outputs name where there is no location.
    pub(crate) fn about(self, input: &'a str) -> Self {
        OutputFinding { input, ..self }
    }

    /// The file that it is about.
    pub(crate) fn file(&self) -> &str {
        self.location.map_or(self.input, |location| &location.file)
    }

    /// The message with its help and the link to its documentation.
    pub(crate) fn at_length(&self) -> String {
        let help = self
            .help
            .map(|help| format!("\nhelp: {}", help.text))
            .unwrap_or_default();
        let server = if self.stops_server {
            "\nkube-apiserver stops with this"
        } else {
            ""
        };
        format!("{}{help}{server}\nsee {}", self.message, self.url())
    }

    /// The URL of its documentation.
    pub(crate) fn url(&self) -> String {
        super::catalog::url(self.name)
    }
}
