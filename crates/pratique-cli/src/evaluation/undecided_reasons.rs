//! Why objects are undecided: what is missing for many of them is counted, and told once.

use std::borrow::Cow;
use std::collections::btree_map::{BTreeMap, Entry};

use pratique_manifest::Location;
use serde::Serialize;

use crate::evaluation::missing_input::UndecidedReason;
use crate::evaluation::record::DecisionRecord;
use crate::output::counted_nouns::counted;
use crate::output::finding::AnnotationLevel;
use crate::output::github::WorkflowCommands;
use crate::output::text::{PrintableText, text};

/// How many reasons are told apart; policies and names may be anything.
const MAX_REASONS: usize = 1000;
/// How many reasons are shown at the end.
const MAX_SHOWN: usize = 20;

/// The reasons, and how many objects each has.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndecidedReasons {
    reasons: BTreeMap<UndecidedReason, CountedReason>,
    /// How often another reason was met, as there were too many.
    others: usize,
}

/// A reason of some objects.
#[derive(Clone, Debug)]
struct CountedReason {
    objects: usize,
    /// Where the first object is, and the request for it.
    location: Location,
    subject: String,
    /// That of the first object.
    message: String,
    /// Whether others differ in a name.
    is_varied: bool,
    help: Cow<'static, str>,
}

/// A reason in JSON.
#[derive(Serialize)]
struct JsonReason<'a> {
    source: &'a str,
    missing: &'static str,
    message: &'a str,
    help: &'a str,
    objects: usize,
}

impl Serialize for UndecidedReasons {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.reasons.iter().map(|(reason, counted)| JsonReason {
            source: &reason.source,
            missing: reason.missing,
            message: &counted.message,
            help: &counted.help,
            objects: counted.objects,
        }))
    }
}

impl UndecidedReasons {
    /// Counts an undecided object: each of its reasons once.
    pub(crate) fn count(&mut self, record: &DecisionRecord) {
        let mut counted: Vec<UndecidedReason> = Vec::new();
        for missing in &record.undecided {
            let reason = missing.reason();
            if counted.contains(&reason) {
                continue;
            }
            counted.push(reason.clone());
            self.add_reason(
                reason,
                CountedReason {
                    objects: 1,
                    location: record.location.clone(),
                    subject: record.subject(),
                    message: missing.message.clone(),
                    is_varied: false,
                    help: missing.help.clone(),
                },
            );
        }
    }

    /// Adds those of a later part.
    pub(crate) fn add(&mut self, other: UndecidedReasons) {
        for (reason, counted) in other.reasons {
            self.add_reason(reason, counted);
        }
        self.others = self.others.saturating_add(other.others);
    }

    fn add_reason(&mut self, reason: UndecidedReason, counted: CountedReason) {
        let is_full = self.reasons.len() >= MAX_REASONS;
        match self.reasons.entry(reason) {
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.is_varied |= counted.is_varied || known.message != counted.message;
                known.objects = known.objects.saturating_add(counted.objects);
            }
            Entry::Vacant(_) if is_full => self.others = self.others.saturating_add(counted.objects),
            Entry::Vacant(entry) => {
                entry.insert(counted);
            }
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Adds a message for each reason, where the first of its objects is: a runner shows only some messages of a step.
    pub(crate) fn annotate(&self, commands: &mut WorkflowCommands) {
        for (reason, counted_reason) in &self.reasons {
            let CountedReason {
                objects,
                location,
                subject,
                message,
                help,
                ..
            } = counted_reason;
            let more = match objects.saturating_sub(1) {
                0 => String::new(),
                more => format!(" (and {})", counted(more, "more object", "more objects")),
            };
            let message = format!("{subject}: undecided: {message}: {help}{more}");
            commands.annotate(AnnotationLevel::Error, location, &reason.source, &message);
        }
        commands.log(&self.human());
    }

    /// The reasons with their counts, those of most objects first; none where no reason is that of several objects.
    pub(crate) fn human(&self) -> PrintableText {
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        if reasons.iter().all(|(_, counted)| counted.objects < 2) {
            return PrintableText::new();
        }
        // Reasons of as many objects stay in their order.
        reasons.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.objects));
        let mut out = text!("undecided:\n");
        for (reason, counted_reason) in reasons.iter().take(MAX_SHOWN) {
            let more = if counted_reason.is_varied {
                ", and others alike"
            } else {
                ""
            };
            out.push(&text!(
                "  {}: {}: {}{}\n    = help: {}\n",
                counted(counted_reason.objects, "object", "objects"),
                reason.source,
                counted_reason.message,
                more,
                counted_reason.help
            ));
        }
        let rest = reasons.len().saturating_sub(MAX_SHOWN);
        if rest > 0 || self.others > 0 {
            let more = if self.others > 0 { "more than " } else { "" };
            out.push(&text!("  and {}{} other reasons\n", more, rest));
        }
        out
    }
}
