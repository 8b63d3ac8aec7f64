//! Notices: what a command tells besides the decisions on objects, in one form for all outputs.

use serde::{Deserialize, Serialize};

use super::finding::Level;
use super::place::InputPlace;
use super::text::Text;
use crate::exit::CliError;
use crate::output;
use crate::output::counted::counted;

/// How many notices are kept; inputs may lead to any number.
const MAX_NOTICES: usize = 1000;

/// A warning about something of an input that no decision tells: what was passed over, not known or not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// The stable name of what it is about.
    pub(crate) rule: String,
    /// Where it is, as [`problems::place`](super::problems::place) writes it: there is a file always.
    pub(crate) place: String,
    pub(crate) message: String,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    warning: &'a Notice,
}

/// The notices of a command, the first of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    first: Vec<Notice>,
    /// How many more there are.
    more: usize,
}

impl Notice {
    pub(crate) fn new(rule: &str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Notice {
            rule: rule.to_owned(),
            place: place.into(),
            message: message.into(),
        }
    }

    /// It as a warning on standard error.
    pub(crate) fn text(&self) -> Text {
        output::warning_at(&self.place, &self.message)
    }

    /// How grave it is, in outputs that say it.
    pub(crate) fn level(&self) -> Level {
        Level::Warning
    }

    pub(crate) fn input_place(&self) -> InputPlace {
        InputPlace::parse(&self.place)
    }
}

impl Notices {
    /// Adds a notice. That it is told on standard error is the caller's.
    pub(crate) fn add(&mut self, notice: Notice) {
        if self.first.len() < MAX_NOTICES {
            self.first.push(notice);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Tells a notice on standard error, and adds it.
    pub(crate) fn tell(&mut self, notice: Notice) {
        output::eprint(&notice.text());
        self.add(notice);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.first.len().saturating_add(self.more)
    }

    /// All of them that are kept; where others are not, the last says how many.
    pub(crate) fn all(&self) -> Vec<Notice> {
        let mut all = self.first.clone();
        if let (true, Some(last)) = (self.more > 0, self.first.last()) {
            let message = format!(
                "{} not listed",
                counted(self.more, "more warning is", "more warnings are")
            );
            all.push(Notice::new(&last.rule, last.place.clone(), message));
        }
        all
    }

    /// Prints a JSON line for each.
    pub(crate) fn print_lines(&self) -> Result<(), CliError> {
        let all = self.all();
        all.iter()
            .try_for_each(|warning| output::print_json_line(&Line { warning }))
    }
}

impl Extend<Notice> for Notices {
    fn extend<T: IntoIterator<Item = Notice>>(&mut self, notices: T) {
        notices.into_iter().for_each(|notice| self.add(notice));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_not_kept_are_counted() {
        let mut notices = Notices::default();
        notices.extend((0..MAX_NOTICES + 2).map(|index| Notice::new("rule", format!("{index}.yaml"), "it")));
        assert_eq!(
            (notices.count(), notices.all().len()),
            (MAX_NOTICES + 2, MAX_NOTICES + 1)
        );
        assert_eq!(
            notices.all().last().map(|last| last.message.clone()).as_deref(),
            Some("2 more warnings are not listed")
        );
    }
}
