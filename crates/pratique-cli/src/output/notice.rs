//! Notices: what a command tells besides the decisions on objects, in one form for all outputs.

pub(crate) use pratique_report::DUPLICATE_OBJECT;
use pratique_report::ReportNotice;
use serde::{Deserialize, Serialize};

use super::finding::AnnotationLevel;
use super::github::WorkflowCommands;
use super::junit::{CaseOutcome, JunitCase};
use super::place::InputPlace;
use super::text::{PrintableText, text};
use crate::exit::CliError;
use crate::output;
use crate::output::counted_nouns::counted;

/// How many notices are kept; inputs may lead to any number.
const MAX_NOTICES: usize = 1000;

/// The rule of settings of the project file that may turn a refusal into an approval.
pub(crate) const WEAKENED_SETTING: &str = "weakened-setting";

/// The rule of objects in files that are told as no objects of the API.
pub(crate) const OBJECT_IN_SOURCE: &str = "object-in-source";

/// The rule of inputs that change a namespace of the cluster.
pub(crate) const NAMESPACE_CHANGE: &str = "namespace-change";

/// The rule of files among policies that are no objects.
pub(crate) const SKIPPED_FILE: &str = "skipped-file";

/// The rule of definitions of custom resources that a server refuses.
pub(crate) const UNUSABLE_DEFINITION: &str = "unusable-definition";

/// The rule of servers that are followed by another release than their own.
pub(crate) const SERVER_VERSION: &str = "server-version";

/// The rule of releases that may differ from what is known of them.
pub(crate) const KUBERNETES_VERSION: &str = "kubernetes-version";

/// The rule of feature gates that a server heeds, and nothing here does.
pub(crate) const FEATURE_GATE: &str = "feature-gate";

/// The rule of exceptions that hold no more.
pub(crate) const EXPIRED_EXCEPTION: &str = "expired-exception";

/// The rule of exceptions that accepted nothing.
pub(crate) const UNUSED_EXCEPTION: &str = "unused-exception";

/// The rule of findings that a baseline has, and a run has not.
pub(crate) const BASELINE_GONE: &str = "baseline-gone";

/// The rule of findings of which a run has more than the baseline.
pub(crate) const BASELINE_EXCEEDED: &str = "baseline-exceeded";

/// The rule of objects whose source is named and is not there.
pub(crate) const MISSING_SOURCE: &str = "missing-source";

/// The rule of what was said to be all that there is of a kind.
pub(crate) const NO_OTHERS: &str = "no-others";

/// The rule of what was given and is not evaluated.
pub(crate) const NOT_EVALUATED: &str = "not-evaluated";

/// A warning about something of an input that no decision tells: what was passed over, not known or not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputNotice {
    /// The stable name of what it is about.
    pub(crate) rule: String,
    /// Where it is, as [`problems::place`](super::problems::place) writes it; empty where it is about all inputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) place: String,
    pub(crate) message: String,
}

/// A line of JSON.
#[derive(Serialize)]
struct NoticeLine<'a> {
    warning: &'a InputNotice,
}

/// The notices of a command, the first of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputNotices {
    first: Vec<InputNotice>,
    /// How many more there are.
    more: usize,
    /// How many of all count as warnings.
    counted: usize,
    /// Whether a report on standard output has them as text: from then on they are not told beside it.
    #[serde(skip)]
    are_reported: bool,
}

impl InputNotice {
    pub(crate) fn new(rule: &str, place: impl Into<String>, message: impl Into<String>) -> Self {
        InputNotice {
            rule: rule.to_owned(),
            place: place.into(),
            message: message.into(),
        }
    }

    /// It as a warning or note on standard error.
    pub(crate) fn to_text(&self) -> PrintableText {
        let line = text!("{}", self.line());
        match self.level() {
            AnnotationLevel::Error | AnnotationLevel::Warning => output::warning(&line),
            AnnotationLevel::Note => output::note(&line),
        }
    }

    /// The place and the message.
    pub(crate) fn line(&self) -> String {
        match self.place.as_str() {
            "" => self.message.clone(),
            place => format!("{place}: {}", self.message),
        }
    }

    /// Tells it on standard error, unless `is_listed`: the output on standard output is a report of text that has it.
    pub(crate) fn tell_beside(&self, is_listed: bool) {
        if !is_listed {
            output::eprint(&self.to_text());
        }
    }

    /// It as a line of a report of text.
    pub(crate) fn report_line(&self) -> PrintableText {
        match self.level() {
            // A baseline's rest was told as a warning ever since.
            AnnotationLevel::Note if self.rule == KUBERNETES_VERSION => text!("note: {}\n", self.line()),
            _ => text!("warning: {}\n", self.line()),
        }
    }

    /// How grave it is, in outputs that say it.
    pub(crate) fn level(&self) -> AnnotationLevel {
        match self.rule.as_str() {
            BASELINE_EXCEEDED | EXPIRED_EXCEPTION => AnnotationLevel::Error,
            BASELINE_GONE | NO_OTHERS | MISSING_SOURCE | KUBERNETES_VERSION => AnnotationLevel::Note,
            _ => AnnotationLevel::Warning,
        }
    }

    pub(crate) fn input_place(&self) -> InputPlace {
        InputPlace::parse(&self.place)
    }

    /// Whether it counts as a warning for `--fail-on`. What somebody said, or mended, is told, and is no fault of an input.
    pub(crate) fn is_counted(&self) -> bool {
        const UNCOUNTED: [&str; 6] = [
            WEAKENED_SETTING,
            BASELINE_GONE,
            NO_OTHERS,
            MISSING_SOURCE,
            KUBERNETES_VERSION,
            FEATURE_GATE,
        ];
        !UNCOUNTED.contains(&self.rule.as_str())
    }

    /// Whether it is about the server, its release and its gates, rather than about inputs.
    fn is_of_server(&self) -> bool {
        [SERVER_VERSION, KUBERNETES_VERSION, FEATURE_GATE].contains(&self.rule.as_str())
    }

    /// Whether it fails a command as a denial does: who accepted something until a day, wanted to be asked again after it.
    pub(crate) fn is_finding(&self) -> bool {
        self.rule == EXPIRED_EXCEPTION
    }

    /// It as a workflow command of GitHub Actions.
    pub(crate) fn annotate(&self, commands: &mut WorkflowCommands) {
        commands.annotate_place(self.level(), &self.input_place(), &self.rule, &self.message);
    }

    /// It as a case, which passes in no run: what it is about was not evaluated, or not wholly. `fails` is whether the command
    /// fails for warnings.
    pub(crate) fn case(&self, fails: bool) -> JunitCase {
        let place = self.input_place();
        JunitCase {
            name: format!("{} {}", self.rule, self.place),
            line: place.known_line(),
            file: place.file,
            seconds: 0.0,
            output: String::new(),
            outcome: if self.level() == AnnotationLevel::Error || (fails && self.is_counted()) {
                CaseOutcome::failed(&self.message)
            } else {
                CaseOutcome::Skipped {
                    message: self.message.clone(),
                }
            },
        }
    }
}

/// What a rule of notices is about.
pub(crate) fn description(rule: &str) -> Option<&'static str> {
    Some(match rule {
        WEAKENED_SETTING => "A setting of the project file may turn a refusal into an approval",
        OBJECT_IN_SOURCE => {
            "An object is in a file that is no object of the API beside a kustomization or a chart"
        }
        NAMESPACE_CHANGE => "An input changes a namespace that the cluster has",
        SKIPPED_FILE => "A file among policies is no object, and was skipped",
        UNUSABLE_DEFINITION => "A CustomResourceDefinition defines nothing: a server refuses it",
        SERVER_VERSION => "A server is followed by another release of Kubernetes than its own",
        KUBERNETES_VERSION => "The release of Kubernetes is known as of a preview, from which it may differ",
        FEATURE_GATE => "A feature gate is set that a server heeds, and nothing here does",
        EXPIRED_EXCEPTION => "The last day of an exception is over: what it accepted is accepted no more",
        UNUSED_EXCEPTION => "An exception accepted nothing: it may be misspelt, or be needed no more",
        BASELINE_GONE => "Something that the baseline knows is found no more",
        BASELINE_EXCEEDED => "Something that the baseline knows is found more often",
        DUPLICATE_OBJECT => "An object is among the inputs more than once: the last one that is sent counts",
        MISSING_SOURCE => "An object names a source that is not below the working directory",
        NO_OTHERS => "Objects of a kind were said to be all that the cluster has",
        "duplicate-key" => "A key is written twice: clients send the last value only",
        "unusual-list" => "An object with items is a list, whatever its kind is",
        NOT_EVALUATED => "Something was given that is not evaluated",
        "no-object" => "There is no object in an input",
        // Warnings of `check` that other commands tell as well.
        _ => return pratique_lint::find_lint(rule).map(|lint| lint.summary),
    })
}

impl InputNotices {
    /// Adds a notice. That it is told on standard error is the caller's.
    pub(crate) fn add(&mut self, notice: InputNotice) {
        self.counted = self.counted.saturating_add(usize::from(notice.is_counted()));
        if self.first.len() < MAX_NOTICES {
            self.first.push(notice);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Leaves what is added from now on to a report on standard output, if that has them as text.
    pub(crate) fn leave_to_report(&mut self, has_notices: bool) {
        self.are_reported = has_notices;
    }

    /// Tells a notice on standard error, unless too many were told or a report has them, and adds it.
    pub(crate) fn tell(&mut self, notice: InputNotice) {
        if self.first.len() < MAX_NOTICES && !self.are_reported {
            output::eprint(&notice.to_text());
        }
        self.add(notice);
    }

    /// Whether a notice is among those that are kept, by whichever path its file was read.
    pub(crate) fn has(&self, notice: &InputNotice) -> bool {
        let place = notice.input_place();
        self.first.iter().any(|known| {
            known.rule == notice.rule
                && known.message == notice.message
                && (known.place == notice.place || known.input_place().is_same(&place))
        })
    }

    /// How many there are that count as warnings.
    pub(crate) fn count(&self) -> usize {
        self.counted
    }

    /// All of them that are kept; where others are not, the last says how many.
    pub(crate) fn list(&self) -> Vec<InputNotice> {
        let mut all = self.first.clone();
        if let (true, Some(last)) = (self.more > 0, self.first.last()) {
            let message = format!(
                "{} not listed",
                counted(self.more, "more warning is", "more warnings are")
            );
            all.push(InputNotice::new(&last.rule, last.place.clone(), message));
        }
        all
    }

    /// A line for each, in a report of text.
    pub(crate) fn lines(&self) -> PrintableText {
        let mut lines = PrintableText::new();
        for notice in self.list() {
            lines.push(&notice.report_line());
        }
        lines
    }

    /// A line for each that is about the server, which is told on standard error where no report of text has it.
    pub(crate) fn lines_of_server(&self) -> PrintableText {
        let mut lines = PrintableText::new();
        let of_server = self.first.iter().filter(|notice| notice.is_of_server());
        of_server.for_each(|notice| lines.push(&notice.report_line()));
        lines
    }

    /// Prints a JSON line for each.
    pub(crate) fn print_lines(&self) -> Result<(), CliError> {
        let all = self.list();
        all.iter()
            .try_for_each(|warning| output::print_json_line(&NoticeLine { warning }))
    }
}

impl From<&ReportNotice> for InputNotice {
    fn from(notice: &ReportNotice) -> Self {
        InputNotice::new(&notice.rule, notice.place.clone(), notice.message.clone())
    }
}

impl Extend<InputNotice> for InputNotices {
    fn extend<T: IntoIterator<Item = InputNotice>>(&mut self, notices: T) {
        notices.into_iter().for_each(|notice| self.add(notice));
    }
}

impl FromIterator<InputNotice> for InputNotices {
    fn from_iter<T: IntoIterator<Item = InputNotice>>(all: T) -> Self {
        let mut notices = InputNotices::default();
        notices.extend(all);
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_not_kept_are_counted() {
        let mut notices = InputNotices::default();
        notices.extend(
            (0..MAX_NOTICES + 2).map(|index| InputNotice::new("rule", format!("{index}.yaml"), "it")),
        );
        notices.add(InputNotice::new(WEAKENED_SETTING, "pratique.yaml:1:1", "it"));
        assert_eq!(
            (notices.count(), notices.list().len()),
            (MAX_NOTICES + 2, MAX_NOTICES + 1)
        );
        assert_eq!(
            notices.list().last().map(|last| last.message.clone()).as_deref(),
            Some("3 more warnings are not listed")
        );
    }
}
