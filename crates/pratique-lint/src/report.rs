//! Collects findings.

use std::fmt::Write as _;
use std::ops::Range;

use pratique_manifest::{Help, ObjectName, ObjectSource, PathStep};

use crate::lint_meta::LintMeta;
use crate::subject::ObjectOrigin;
use crate::warning::{Warning, WarningExample};

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct LintReport {
    warnings: Vec<Warning>,
}

/// A finding, without its location.
pub(crate) struct LintFinding {
    pub(crate) lint: &'static LintMeta,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) replacement: Option<SuggestedChange>,
    pub(crate) example: Option<Box<WarningExample>>,
}

/// The change that the help suggests.
pub(crate) enum SuggestedChange {
    /// The field's value is another one.
    Value(String),
    /// A range of bytes of the field's text is.
    Within(Range<usize>, String),
    /// Another document follows that of the object.
    Document(String),
}

impl LintFinding {
    pub(crate) fn new(lint: &'static LintMeta, message: impl Into<String>) -> Self {
        LintFinding {
            lint,
            message: message.into(),
            help: None,
            replacement: None,
            example: None,
        }
    }

    /// Attaches an object that demonstrates the finding.
    pub(crate) fn example(mut self, example: impl Into<WarningExample>) -> Self {
        self.example = Some(Box::new(example.into()));
        self
    }

    /// Adds the change that the help suggests.
    pub(crate) fn replacement(mut self, replacement: SuggestedChange) -> Self {
        self.replacement = Some(replacement);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl LintReport {
    /// Adds a finding about a field.
    pub(crate) fn add(&mut self, origin: &ObjectOrigin<'_>, path: &[PathStep], finding: LintFinding) {
        self.add_at(origin, path, None, finding);
    }

    /// Adds a finding about a range of bytes of a text field.
    pub(crate) fn add_in(
        &mut self,
        origin: &ObjectOrigin<'_>,
        path: &[PathStep],
        range: Range<usize>,
        finding: LintFinding,
    ) {
        self.add_at(origin, path, Some(range), finding);
    }

    /// Adds a finding about a field of a definition, or about a range of bytes of it.
    pub(crate) fn add_to_definition(
        &mut self,
        source: &ObjectSource,
        path: &[PathStep],
        range: Option<Range<usize>>,
        finding: LintFinding,
    ) {
        self.add_to((source, None), path, range, finding);
    }

    fn add_at(
        &mut self,
        origin: &ObjectOrigin<'_>,
        path: &[PathStep],
        range: Option<Range<usize>>,
        finding: LintFinding,
    ) {
        self.add_to((origin.source, Some(&origin.name)), path, range, finding);
    }

    fn add_to(
        &mut self,
        (source, name): (&ObjectSource, Option<&ObjectName>),
        path: &[PathStep],
        range: Option<Range<usize>>,
        finding: LintFinding,
    ) {
        let location = match range {
            Some(range) => source.locate_range(path, range),
            None => source.locate(path),
        };
        let help = finding.help.map(|text| match finding.replacement {
            None => Help::new(text),
            Some(SuggestedChange::Within(range, word)) => {
                Help::new(text).replacing_within(source, path, range, &word)
            }
            Some(SuggestedChange::Value(value)) => {
                let span = source.tree().nearest_span(source.root(), path);
                Help::new(text).replacing(source.document(), span, &value)
            }
            Some(SuggestedChange::Document(document)) => Help::new(text).adding_document(source, &document),
        });
        self.warnings.push(Warning {
            lint: finding.lint,
            message: finding.message,
            object: name.cloned(),
            field: path_text(path),
            location,
            help,
            example: finding.example,
        });
    }

    /// Adds a warning that has its location.
    pub(crate) fn push(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Adds warnings that have their locations.
    pub(crate) fn extend(&mut self, warnings: impl Iterator<Item = Warning>) {
        self.warnings.extend(warnings);
    }

    /// The findings, sorted by file and position.
    pub(crate) fn finish(mut self) -> Vec<Warning> {
        self.warnings.sort_by(|a, b| {
            let key = |warning: &Warning| {
                (
                    warning.location.file.clone(),
                    warning.location.start,
                    warning.lint.name,
                )
            };
            key(a).cmp(&key(b))
        });
        self.warnings
    }
}

/// A path as messages write it: `spec.validations[0].expression`.
pub(crate) fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        // Writing to a string does not fail.
        let _ = match step {
            PathStep::Field(name) if text.is_empty() => write!(text, "{name}"),
            PathStep::Field(name) => write!(text, ".{name}"),
            PathStep::Index(index) => write!(text, "[{index}]"),
        };
    }
    text
}

/// Joins names: `a`, `a and b`, `a, b and c`; long lists are cut.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    const MOST: usize = 4;
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        several if several.len() > MOST => {
            let first = several.get(..MOST - 1).unwrap_or_default().join(", ");
            format!("{first} and {} more", several.len() + 1 - MOST)
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn lists() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
