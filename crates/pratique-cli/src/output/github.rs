//! Workflow commands of GitHub Actions, which show messages beside the lines of a change.

use std::fmt::Write as _;

use pratique_manifest::Location;

use super::finding::{AnnotationLevel, OutputFinding};
use super::place::{InputPlace, repository_path};
use super::text::{PrintableText, printed, text, without_commands, without_invisible};
use crate::input::standard_input::STDIN_NAME;

/// Lines of workflow commands. Other text is escaped, so that a runner does not interpret it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkflowCommands {
    lines: String,
    counts: AnnotationCounts,
}

/// How many annotations of a level a runner shows of a step; the others are in its log only.
// https://docs.github.com/en/actions/reference/limits: 10 warnings, 10 errors and 10 notices of each step
const MAX_SHOWN: usize = 10;

/// How many annotations there are of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnnotationCounts {
    errors: usize,
    warnings: usize,
    notes: usize,
    /// Those about standard input, which stand beside no file.
    of_stdin: usize,
}

impl AnnotationCounts {
    fn count(&mut self, level: AnnotationLevel) {
        match level {
            AnnotationLevel::Error => self.errors += 1,
            AnnotationLevel::Warning => self.warnings += 1,
            AnnotationLevel::Note => self.notes += 1,
        }
    }

    fn count_stdin(&mut self, file: &str) {
        self.of_stdin += usize::from(file == STDIN_NAME);
    }

    /// Adds other counts.
    pub(crate) fn add(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
        self.of_stdin += other.of_stdin;
    }

    /// What is said of annotations that are not shown beside a change; nothing if all are.
    pub(super) fn describe_more(self) -> PrintableText {
        let mut told = self.describe_many();
        if self.of_stdin > 0 {
            told.push(&text!("{}\n", super::stdin_message("annotations")));
        }
        told
    }

    fn describe_many(self) -> PrintableText {
        let levels = [
            (self.errors, "errors"),
            (self.warnings, "warnings"),
            (self.notes, "notices"),
        ];
        let more = levels.iter().filter(|(count, _)| *count > MAX_SHOWN);
        let more: Vec<String> = more.map(|(count, level)| format!("{count} {level}")).collect();
        if more.is_empty() {
            return PrintableText::new();
        }
        text!(
            "GitHub shows {} annotations of each level beside a change: of {}, all are in the log\n",
            MAX_SHOWN,
            more.join(" and ")
        )
    }
}

impl WorkflowCommands {
    /// Adds a message about a part of a file.
    pub(crate) fn annotate(
        &mut self,
        level: AnnotationLevel,
        location: &Location,
        title: &str,
        message: &str,
    ) {
        let (start, end) = (location.start, location.end);
        self.counts.count_stdin(&location.file);
        if start.line == 0 {
            // An object of a cluster has no lines.
            return self.add(level, &file(&location.file), title, message);
        }
        // An end column is one of the first line.
        let column = if start.line == end.line {
            format!(",endColumn={}", end.column)
        } else {
            String::new()
        };
        let place = format!(
            "{},line={},endLine={},col={}{column}",
            file(&location.file),
            start.line,
            end.line,
            start.column
        );
        self.add(level, &place, title, message);
    }

    /// Adds a message about a place of an input, of which the line may not be known.
    pub(crate) fn annotate_place(
        &mut self,
        level: AnnotationLevel,
        place: &InputPlace,
        title: &str,
        message: &str,
    ) {
        self.counts.count_stdin(&place.file);
        let line = match place.line {
            0 => String::new(),
            line => format!(",line={line},col={}", place.column.max(1)),
        };
        if place.file.is_empty() {
            // It is about the whole run.
            return self.add(level, "", title, message);
        }
        self.add(level, &format!("{}{line}", file(&place.file)), title, message);
    }

    /// Adds a finding.
    pub(crate) fn annotate_finding(&mut self, finding: &OutputFinding<'_>) {
        let level = AnnotationLevel::from(finding.severity);
        let (title, message) = (format!("pratique: {}", finding.name), finding.at_length());
        match finding.location {
            Some(location) => self.annotate(level, location, &title, &message),
            None => self.annotate_place(level, &InputPlace::parse(finding.input), &title, &message),
        }
    }

    fn add(&mut self, level: AnnotationLevel, place: &str, title: &str, message: &str) {
        self.counts.count(level);
        let (level, title) = (level.of_github(), property(title));
        let comma = if place.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.lines,
            "::{level} {place}{comma}title={title}::{}",
            data(message)
        );
    }

    /// Adds lines for the log.
    pub(crate) fn log(&mut self, text: &PrintableText) {
        self.lines.push_str(&printed(text));
    }

    /// How many annotations there are.
    pub(crate) fn counts(&self) -> AnnotationCounts {
        self.counts
    }

    /// Counts annotations that were printed before.
    pub(crate) fn count_printed(&mut self, counts: AnnotationCounts) {
        self.counts.add(counts);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.lines
    }
}

/// The property of a file: without one, a message stands beside no change.
fn file(name: &str) -> String {
    format!("file={}", property(&repository_path(name)))
}

/// Escapes a message as GitHub's toolkit does, with visible characters only.
fn data(text: &str) -> String {
    // Lines may end with both.
    let lines = text.replace("\r\n", "\n");
    let visible = without_commands(&without_invisible(&lines)).into_owned();
    visible.replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_that_are_not_shown_are_told() {
        let mut commands = WorkflowCommands::default();
        let place = InputPlace::parse("a.yaml:1:1");
        for number in 0..11 {
            commands.annotate_place(AnnotationLevel::Error, &place, "a", "b");
            if number > 0 {
                commands.annotate_place(AnnotationLevel::Warning, &place, "a", "b");
            }
        }
        assert_eq!(
            commands.counts().describe_more().as_str(),
            "GitHub shows 10 annotations of each level beside a change: of 11 errors, all are in the log\n"
        );
        commands.count_printed(commands.counts());
        assert!(
            commands
                .counts()
                .describe_more()
                .as_str()
                .contains("of 22 errors and 20 warnings")
        );
        assert_eq!(AnnotationCounts::default().describe_more(), PrintableText::new());
        let mut commands = WorkflowCommands::default();
        commands.annotate_place(
            AnnotationLevel::Error,
            &InputPlace::parse("<stdin>:1:1"),
            "a",
            "b",
        );
        let told = commands.counts().describe_more();
        assert!(
            told.as_str()
                .starts_with("annotations of <stdin> stand beside no file"),
            "{told:?}"
        );
    }

    #[test]
    fn what_is_about_no_file_names_none() {
        let mut commands = WorkflowCommands::default();
        commands.annotate_place(AnnotationLevel::Note, &InputPlace::default(), "a", "b");
        assert_eq!(commands.as_str(), "::notice title=a::b\n");
    }

    #[test]
    fn texts_are_escaped() {
        let mut commands = WorkflowCommands::default();
        commands.annotate_place(
            AnnotationLevel::Error,
            &InputPlace::parse("x,y:2.yaml"),
            "a: b, c\n::x ##[y]",
            "1%\n2: 3\r\n\r\u{1b}\u{202e}",
        );
        commands.log(&text!("{}\n  ::error::x\n", "::stop-commands::y\n::z"));
        assert_eq!(
            commands.as_str(),
            "::error file=x%2Cy%3A2.yaml,title=a%3A b%2C c%0A%3A%3Ax #\\u{23}[y]::1%25%0A2: 3%0A\\r\\u{1b}\\u{202e}\n\
             \\u{3a}:stop-commands::y\\n::z\n  \\u{3a}:error::x\n"
        );
    }
}
