//! Problems of manifests, and the failures of a load.

use std::fmt::{self, Display, Formatter, Write as _};
use std::ops::Deref;

use serde::Serialize;

use crate::help::Help;
use crate::kind::Kind;
use crate::position::Location;

/// The rule that a problem breaks. Its [`name`](Rule::name) is stable, for output and suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// The directory or a file cannot be read.
    Unreadable,
    /// A file does not split into documents.
    DocumentSeparator,
    /// A document is not valid YAML or JSON.
    Syntax,
    /// A document has no `kind` or no `apiVersion`.
    MissingKind,
    /// The document's kind is unknown, or not one of the plugin.
    UnsupportedKind,
    /// A value has the wrong type.
    WrongType,
    /// A field does not exist.
    UnknownField,
    /// A key is given twice.
    DuplicateField,
    /// A server drops a field of an object without a word, as its feature gate is off.
    DroppedField,
    /// A field breaks a rule of the API's validation.
    InvalidField,
    /// A CEL expression does not compile, or has the wrong type.
    InvalidExpression,
    /// A static manifest's name lacks the reserved suffix.
    StaticSuffix,
    /// Two objects of the set have the same name.
    DuplicateName,
    /// A static manifest uses something that only API objects may use.
    StaticUnsupported,
    /// A binding refers to a policy that is not in the set.
    MissingPolicy,
    /// The admission configuration names something that cannot be used.
    Configuration,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 16] = [
        Self::Unreadable,
        Self::DocumentSeparator,
        Self::Syntax,
        Self::MissingKind,
        Self::UnsupportedKind,
        Self::WrongType,
        Self::UnknownField,
        Self::DuplicateField,
        Self::DroppedField,
        Self::InvalidField,
        Self::InvalidExpression,
        Self::StaticSuffix,
        Self::DuplicateName,
        Self::StaticUnsupported,
        Self::MissingPolicy,
        Self::Configuration,
    ];

    /// The rule's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::DocumentSeparator => "document-separator",
            Self::Syntax => "syntax",
            Self::MissingKind => "missing-kind",
            Self::UnsupportedKind => "unsupported-kind",
            Self::WrongType => "wrong-type",
            Self::UnknownField => "unknown-field",
            Self::DuplicateField => "duplicate-field",
            Self::DroppedField => "dropped-field",
            Self::InvalidField => "invalid-field",
            Self::InvalidExpression => "invalid-expression",
            Self::StaticSuffix => "static-suffix",
            Self::DuplicateName => "duplicate-name",
            Self::StaticUnsupported => "static-unsupported",
            Self::MissingPolicy => "missing-policy",
            Self::Configuration => "configuration",
        }
    }
}

/// A problem and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule it breaks.
    pub rule: Rule,
    /// The server's message.
    pub message: String,
    /// The field it is about (`spec.validations[0].expression`), if it is about one.
    pub field: Option<String>,
    /// The object it is about, if that much could be read.
    pub object: Option<ObjectName>,
    /// Its place. None for a directory as a whole.
    pub location: Option<Location>,
    /// How to fix it, if known.
    pub help: Option<Help>,
    /// A shorter message, without the expression, which the place shows; if there is one.
    pub summary: Option<String>,
}

/// Its place, its message, and how to fix it.
impl Display for Problem {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            let start = &location.start;
            write!(formatter, "{}:{}:{}: ", location.file, start.line, start.column)?;
        }
        formatter.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(formatter, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// A problem of which nothing else is known.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            field: None,
            object: None,
            location: None,
            help: None,
            summary: None,
        }
    }

    /// Gives it a place.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    pub(crate) fn with_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

/// Everything that is wrong with a file: an error that displays all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemList(Vec<Problem>);

impl Display for ProblemList {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write_lines(formatter, &self.0)
    }
}

impl std::error::Error for ProblemList {}

impl Deref for ProblemList {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.0
    }
}

impl From<Vec<Problem>> for ProblemList {
    fn from(problems: Vec<Problem>) -> Self {
        Self(problems)
    }
}

impl From<ProblemList> for Vec<Problem> {
    fn from(problems: ProblemList) -> Self {
        problems.0
    }
}

impl From<LoadErrors> for ProblemList {
    fn from(errors: LoadErrors) -> Self {
        let failures = errors.failures.into_iter();
        Self(failures.flat_map(|failure| failure.problems).collect())
    }
}

impl IntoIterator for ProblemList {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Writes each problem in a line of its own.
fn write_lines<'p>(
    formatter: &mut Formatter<'_>,
    problems: impl IntoIterator<Item = &'p Problem>,
) -> fmt::Result {
    for (index, problem) in problems.into_iter().enumerate() {
        if index > 0 {
            formatter.write_char('\n')?;
        }
        write!(formatter, "{problem}")?;
    }
    Ok(())
}

/// The kind and name of a manifest's object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ObjectName {
    /// Its kind.
    pub kind: Kind,
    /// Its `metadata.name`.
    pub name: String,
}

/// Problems that the server reports with one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The server's message, whole.
    pub text: String,
    /// The problems that it is about, and others of the same kind that the server does not reach. Never empty.
    pub problems: Vec<Problem>,
}

impl Failure {
    pub(crate) fn single(text: impl Into<String>, problem: Problem) -> Self {
        Self {
            text: text.into(),
            problems: vec![problem],
        }
    }

    /// The failure with a text before the server's message.
    pub(crate) fn prefixed(self, prefix: &str) -> Self {
        Self {
            text: format!("{prefix}{}", self.text),
            ..self
        }
    }

    /// The failure to load a file because of one thing in it.
    pub(crate) fn in_file(self, file: &str) -> Self {
        self.prefixed(&format!("error loading {file}: "))
    }
}

/// The failure whose message is that of its one problem.
impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::single(problem.message.clone(), problem)
    }
}

/// Why manifests do not load: every failure, in the order in which the server would find them.
///
/// Displays as the first one, which is the message that the server stops with; `{:#}` has all problems, each in a line with its
/// place and its help:
///
/// ```
/// use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};
///
/// let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n";
/// let text = format!("{webhook}metadata: {{name: a}}\n---\n{webhook}metadata: {{name: b}}\n");
/// let file = ManifestFile { path: "webhooks.yaml".into(), content: text.into_bytes() };
/// let loader = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionWebhook, &LoadOptions::checked());
/// let errors = loader.load_files(&[file]).unwrap_err();
/// assert!(!errors.to_string().contains('\n'));
/// let all = format!("{errors:#}");
/// assert!(all.contains("webhooks.yaml:3:") && all.contains("webhooks.yaml:7:"), "{all}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct LoadErrors {
    failures: Vec<Failure>,
}

impl LoadErrors {
    /// These failures, of which the first is the server's.
    #[must_use]
    pub fn new(failures: Vec<Failure>) -> Self {
        Self { failures }
    }

    /// All failures; the first is the server's.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The failures.
    #[must_use]
    pub fn into_failures(self) -> Vec<Failure> {
        self.failures
    }

    /// All problems of all failures.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.failures.iter().flat_map(|failure| &failure.problems)
    }
}

impl fmt::Display for LoadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write_lines(f, self.problems());
        }
        f.write_str(self.failures.first().map_or("", |failure| failure.text.as_str()))
    }
}
