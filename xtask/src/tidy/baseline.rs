//! How often each crate has each habit, and how often it had it when that was last written down.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::words::{HabitOccurrence, SourceHabit};

/// A crate, by its directory, and a habit.
type HabitKey = (String, SourceHabit);

/// The numbers of all crates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TidyBaseline {
    words: BTreeMap<HabitKey, BTreeMap<String, usize>>,
}

/// How the sources compare with a baseline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BaselineComparison {
    /// Numbers that rose, with the places.
    pub(crate) rises: Vec<String>,
    /// Numbers that fell.
    pub(crate) falls: Vec<String>,
}

/// What is found in the sources: each occurrence with the directory of its crate.
pub(crate) type HabitOccurrences = Vec<(String, HabitOccurrence)>;

const HEADING: &str = "\
# What each crate has of what is given up: `cargo xtask tidy` says what is counted. The numbers may only fall;
# `BLESS=1 cargo xtask tidy` writes them.
";

impl TidyBaseline {
    /// The numbers of the sources.
    pub(crate) fn count(occurrences: &HabitOccurrences) -> Self {
        let mut baseline = TidyBaseline::default();
        for (directory, occurrence) in occurrences {
            let words = baseline.words.entry((directory.clone(), occurrence.habit));
            let count = words.or_default().entry(occurrence.word.clone());
            *count.or_default() += 1;
        }
        baseline
    }

    /// Reads the file of a baseline: on each line a directory, a habit, a number, and the words that it is made of.
    ///
    /// # Errors
    ///
    /// The line that cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut baseline = TidyBaseline::default();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (key, words) =
                parse_line(line).ok_or_else(|| format!("the baseline has the line {line:?}"))?;
            baseline.words.insert(key, words);
        }
        Ok(baseline)
    }

    /// The text of its file.
    pub(crate) fn to_text(&self) -> String {
        let mut text = HEADING.to_owned();
        for ((directory, habit), words) in &self.words {
            let total: usize = words.values().sum();
            let _ = write!(text, "{directory} {habit} {total}:");
            for (word, count) in words {
                let _ = match count {
                    1 => write!(text, " {word}"),
                    count => write!(text, " {word}*{count}"),
                };
            }
            text.push('\n');
        }
        text
    }

    /// The number of a habit, in all crates.
    pub(crate) fn total(&self, habit: SourceHabit) -> usize {
        let of_habit = self.words.iter().filter(|((_, known), _)| *known == habit);
        of_habit.map(|(_, words)| words.values().sum::<usize>()).sum()
    }

    fn count_of(&self, key: &HabitKey) -> usize {
        self.words.get(key).map_or(0, |words| words.values().sum())
    }

    fn count_of_word(&self, key: &HabitKey, word: &str) -> usize {
        let words = self.words.get(key);
        words
            .and_then(|words| words.get(word))
            .copied()
            .unwrap_or_default()
    }

    /// Compares the sources with these numbers. Words may be exchanged for others, the sum counts.
    pub(crate) fn compare(&self, occurrences: &HabitOccurrences) -> BaselineComparison {
        let now = TidyBaseline::count(occurrences);
        let mut comparison = BaselineComparison::default();
        let mut keys: Vec<&HabitKey> = self.words.keys().chain(now.words.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (directory, habit) = key;
            let (old, new) = (self.count_of(key), now.count_of(key));
            if new < old {
                comparison
                    .falls
                    .push(format!("{directory}: {habit} fell from {old} to {new}"));
            }
            if new > old {
                let is_more = |occurrence: &HabitOccurrence| {
                    let word = &occurrence.word;
                    now.count_of_word(key, word) > self.count_of_word(key, word)
                };
                let places = occurrences.iter().filter(|(of, occurrence)| {
                    of == directory && occurrence.habit == *habit && is_more(occurrence)
                });
                let places: String = places
                    .map(|(_, occurrence)| format!("\n  {occurrence}"))
                    .collect();
                comparison
                    .rises
                    .push(format!("{directory}: {habit} rose from {old} to {new}:{places}"));
            }
        }
        comparison
    }
}

fn parse_line(line: &str) -> Option<(HabitKey, BTreeMap<String, usize>)> {
    let (head, words) = line.split_once(':')?;
    let mut head = head.split(' ');
    let (directory, name) = (head.next()?, head.next()?);
    let habit = SourceHabit::ALL.into_iter().find(|habit| habit.name() == name)?;
    let parse_word = |word: &str| match word.split_once('*') {
        Some((word, count)) => Some((word.to_owned(), count.parse().ok()?)),
        None => Some((word.to_owned(), 1)),
    };
    let words: Option<BTreeMap<String, usize>> = words.split_whitespace().map(parse_word).collect();
    Some(((directory.to_owned(), habit), words?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occurrences(words: &[(&str, &str)]) -> HabitOccurrences {
        let words = words.iter().enumerate();
        let occurrence = |(index, (directory, word)): (usize, &(&str, &str))| {
            let occurrence = HabitOccurrence {
                habit: SourceHabit::BareFunctions,
                word: (*word).to_owned(),
                path: "a.rs".into(),
                line: index + 1,
            };
            ((*directory).to_owned(), occurrence)
        };
        words.map(occurrence).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let baseline = TidyBaseline::count(&occurrences(&[
            ("crates/b", "of"),
            ("crates/a", "of"),
            ("crates/a", "of"),
        ]));
        let text = baseline.to_text();
        assert!(
            text.ends_with("crates/a bare-functions 2: of*2\ncrates/b bare-functions 1: of\n"),
            "{text}"
        );
        assert_eq!(TidyBaseline::parse(&text).unwrap(), baseline);
        TidyBaseline::parse("crates/a other 1: of\n").unwrap_err();
    }

    #[test]
    fn numbers_only_fall() {
        let baseline = TidyBaseline::parse("crates/a bare-functions 2: of text\n").unwrap();
        let compare = |words: &[(&str, &str)]| baseline.compare(&occurrences(words));
        assert_eq!(
            compare(&[("crates/a", "of"), ("crates/a", "check")]),
            BaselineComparison::default()
        );
        let rise = compare(&[("crates/a", "text"), ("crates/a", "of"), ("crates/a", "of")]);
        assert_eq!(
            rise.rises,
            ["crates/a: bare-functions rose from 2 to 3:\n  a.rs:2: of\n  a.rs:3: of"]
        );
        let other = compare(&[("crates/b", "of")]);
        assert_eq!(
            other.rises,
            ["crates/b: bare-functions rose from 0 to 1:\n  a.rs:1: of"]
        );
        assert_eq!(other.falls, ["crates/a: bare-functions fell from 2 to 0"]);
    }
}
