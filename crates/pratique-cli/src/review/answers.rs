//! Which answers are printed whole: what is the same for many objects is told once, and counted.

use std::collections::BTreeSet;

use crate::evaluation::missing_input::UndecidedReason;
use crate::evaluation::report::{AnswerWeight, HumanReview};
use crate::output::counted_nouns::counted;
use crate::output::text::{PrintableText, text};

/// How many objects are named of those that are allowed, and of those that are undecided for reasons that were told.
const MAX_NAMED: usize = 10;
/// How many reasons are kept to be told once.
const MAX_TOLD: usize = 1000;

/// What was printed of answers, and what was left out.
#[derive(Debug, Default)]
pub(super) struct PrintedAnswers {
    /// Whether nothing is left out.
    prints_all: bool,
    /// Whether each object is named, as an output does not have it.
    names_all: bool,
    told: BTreeSet<UndecidedReason>,
    /// How many allowed objects were named, and how many were not.
    allowed: usize,
    unnamed: usize,
    /// The same of undecided objects, all of whose reasons were told.
    undecided: usize,
    unnamed_undecided: usize,
}

impl PrintedAnswers {
    /// Nothing was printed yet; with `prints_all`, nothing is left out.
    pub(super) fn new(prints_all: bool) -> Self {
        PrintedAnswers {
            prints_all,
            ..PrintedAnswers::default()
        }
    }

    /// The same, with each object named: only reasons are told once.
    pub(super) fn naming_all(prints_all: bool) -> Self {
        PrintedAnswers {
            names_all: true,
            ..PrintedAnswers::new(prints_all)
        }
    }

    /// What is printed of an answer.
    pub(super) fn print(&mut self, answer: &HumanReview) -> PrintableText {
        if self.prints_all {
            return answer.whole();
        }
        let is_new = answer.reasons().any(|reason| !self.told.contains(reason));
        match answer.weight {
            AnswerWeight::Allowed | AnswerWeight::Undecided if self.names_all => {}
            AnswerWeight::Allowed if self.allowed >= MAX_NAMED => {
                self.unnamed += 1;
                return PrintableText::new();
            }
            AnswerWeight::Allowed => self.allowed += 1,
            AnswerWeight::Undecided if !is_new && self.undecided >= MAX_NAMED => {
                self.unnamed_undecided += 1;
                return PrintableText::new();
            }
            AnswerWeight::Undecided if !is_new => self.undecided += 1,
            AnswerWeight::Undecided | AnswerWeight::Own => {}
        }
        let printed = answer.without(|reason| self.told.contains(reason));
        let mut reasons = answer.reasons().cloned();
        // Those that are not kept are told again.
        while self.told.len() < MAX_TOLD
            && let Some(reason) = reasons.next()
        {
            self.told.insert(reason);
        }
        printed
    }

    /// How many objects were not named; nothing if all were.
    pub(super) fn left_out(&self) -> PrintableText {
        let mut left_out = Vec::new();
        if self.unnamed > 0 {
            left_out.push(format!("{} more allowed", self.unnamed));
        }
        if self.unnamed_undecided > 0 {
            left_out.push(format!("{} more undecided", self.unnamed_undecided));
        }
        if left_out.is_empty() {
            return PrintableText::new();
        }
        let objects = counted(self.unnamed + self.unnamed_undecided, "object is", "objects are");
        text!(
            "{} not listed ({}): --all lists them\n",
            objects,
            left_out.join(", ")
        )
    }
}
