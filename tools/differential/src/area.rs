//! The loop that all areas share: random cases go to both sides, differences between their outcomes are shrunk, and one of
//! those with the same fingerprint is printed.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use pratique_harness::{RandomDice, ToolError};
use serde_json::{Value, json};

use super::RunSpan;
use super::policy::outcome as admission;
use super::reference::ReferenceProgram;
use super::shrink::{CaseDifference, shrunk};

/// A part of the behaviour that is compared with the reference.
pub(super) trait ComparedArea {
    /// A case for both sides: one question or several, with the inputs that they share.
    type Case: Clone;

    /// Its name in files.
    const NAME: &'static str;

    /// How many differences with the same fingerprint are shrunk.
    const ENOUGH: usize = 3;

    /// Starts the reference.
    fn start(&self) -> Result<ReferenceProgram, ToolError>;

    /// Generates a random case.
    fn random(&self, dice: &mut RandomDice) -> Self::Case;

    /// A case in the form that the reference reads; it answers `times` times.
    fn question(&self, case: &Self::Case, times: usize) -> Value;

    /// Our outcomes, one for each question; an error if the case does not load.
    fn ours(&self, case: &Self::Case) -> Result<Vec<Value>, ToolError>;

    /// The case with only one of its questions.
    fn with_question(&self, case: &Self::Case, index: usize) -> Self::Case;

    /// The kind of difference between two outcomes; by default, they are outcomes of admission.
    fn differs(&self, ours: &Value, theirs: &Value) -> Option<&'static str> {
        admission::differs(ours, theirs)
    }

    /// Whether a difference is intended.
    fn is_known(&self, case: &Self::Case, ours: &Value, theirs: &Value) -> bool;

    /// Whether the reference may fail with this error.
    fn may_fail(&self, _error: &str) -> bool {
        false
    }

    /// Smaller variants of a case of one question, each without one of its parts; large parts are removed first.
    fn smaller(&self, case: &Self::Case) -> Vec<Self::Case>;

    /// The texts of an outcome.
    fn texts(&self, outcome: &Value) -> String {
        admission::texts(outcome)
    }

    /// The fingerprint of a shrunk difference: differences with the same one are reported once.
    fn fingerprint(&self, difference: &CaseDifference<Self::Case>) -> String {
        fingerprint(self, difference.kind, &difference.ours, &difference.theirs)
    }

    /// The properties of outcomes that are counted, and whether these outcomes have them.
    fn counts(&self, ours: &Value, theirs: &Value) -> Vec<(&'static str, bool)>;

    /// How often our side took too long; each time was printed.
    fn slow(&self) -> usize {
        0
    }

    /// Describes a difference, in several lines.
    fn describe(&self, difference: &CaseDifference<Self::Case>) -> String;

    /// The last lines of a run.
    fn summary(&self, report: &RunReport) -> String;
}

/// The results of a run.
#[derive(Default)]
pub(super) struct RunReport {
    pub(super) cases: usize,
    pub(super) questions: usize,
    /// How many outcomes have each counted property.
    counts: BTreeMap<&'static str, usize>,
    /// Cases that our side does not load.
    pub(super) refused: usize,
    /// Intended differences.
    pub(super) known: usize,
    /// Questions to which the reference gives varying answers.
    pub(super) varies: usize,
    /// Cases that the reference did not answer.
    pub(super) unanswered: usize,
    /// How many differences were found, by fingerprint before shrinking.
    encountered: BTreeMap<String, usize>,
    /// How many differences were found, by fingerprint after shrinking.
    found: BTreeMap<String, usize>,
}

impl RunReport {
    /// How many outcomes have a property.
    pub(super) fn count(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or_default()
    }

    /// How many differences there are.
    pub(super) fn differences(&self) -> usize {
        self.found.len()
    }

    /// Reports a case that the reference did not answer.
    fn report_unanswered<A: ComparedArea>(&mut self, area: &A, case: &A::Case, error: &str) {
        self.unanswered += 1;
        let path =
            std::env::temp_dir().join(format!("differential-{}-lost-{}.json", A::NAME, self.unanswered));
        let kept = std::fs::write(&path, area.question(case, 1).to_string());
        println!("no answer: {error}\n  see {} ({kept:?})\n", path.display());
    }

    /// Compares the outcomes of a case, and shrinks differences.
    fn compare_outcomes<A: ComparedArea>(
        &mut self,
        area: &A,
        reference: &mut ReferenceProgram,
        (case, ours): (&A::Case, &[Value]),
        theirs: &[Vec<Value>],
        end: Instant,
    ) -> Result<(), ToolError> {
        for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let Some(theirs) = theirs.first() else { continue };
            self.questions += 1;
            for (what, is_so) in area.counts(ours, theirs) {
                *self.counts.entry(what).or_default() += usize::from(is_so);
            }
            let Some(kind) = area.differs(ours, theirs) else {
                continue;
            };
            if area.is_known(case, ours, theirs) {
                self.known += 1;
            } else if self.is_worth_shrinking(area, kind, ours, theirs) {
                let Some(difference) = shrunk(area, reference, area.with_question(case, index), end)? else {
                    self.varies += 1;
                    continue;
                };
                let count = self.found.entry(area.fingerprint(&difference)).or_default();
                *count += 1;
                if *count == 1 {
                    println!("{}", area.describe(&difference));
                }
            }
        }
        Ok(())
    }

    /// Whether a difference is worth shrinking. Differences without texts can have the same fingerprint and be unrelated.
    fn is_worth_shrinking<A: ComparedArea>(
        &mut self,
        area: &A,
        kind: &str,
        ours: &Value,
        theirs: &Value,
    ) -> bool {
        let encountered = self
            .encountered
            .entry(fingerprint(area, kind, ours, theirs))
            .or_default();
        *encountered += 1;
        let has_texts = [ours, theirs]
            .iter()
            .any(|outcome| !area.texts(outcome).is_empty());
        let enough = if has_texts { A::ENOUGH } else { 20 * A::ENOUGH };
        *encountered <= enough && self.found.len() < 40
    }
}

/// The kind of a difference and the shapes of both texts.
fn fingerprint<A: ComparedArea + ?Sized>(area: &A, kind: &str, ours: &Value, theirs: &Value) -> String {
    let [ours, theirs] = [ours, theirs].map(|outcome| shape(&area.texts(outcome)));
    format!("{kind} {ours} {theirs}")
}

/// A text without numbers and quoted names, in which texts with the same meaning differ.
pub(super) fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => {
                quote = None;
                shape.push(character);
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => {
                quote = Some(character);
                shape.push(character);
            }
            (None, digit) if digit.is_ascii_digit() => {
                if !shape.ends_with('0') {
                    shape.push('0');
                }
            }
            (None, other) => shape.push(other),
        }
    }
    shape
}

/// How many cases the reference has at once: most of the time to set one up is waiting.
const AHEAD: usize = 16;

/// How long shrinking may go on after the end of a run.
const AFTER_THE_END: Duration = Duration::from_secs(60);

/// Runs until the time is over; returns whether anything has to be fixed.
pub(super) fn compare<A: ComparedArea>(area: &A, span: &RunSpan) -> Result<bool, ToolError> {
    let mut reference = area.start()?;
    let mut second = area.start()?;
    let (mut dice, end) = span.begin();
    let mut report = RunReport::default();
    let mut open = VecDeque::new();
    loop {
        let more = Instant::now() < end;
        if more {
            let case = area.random(&mut dice);
            reference.ask(&area.question(&case, 1))?;
            let ours = area.ours(&case);
            open.push_back((case, ours));
        }
        if more && open.len() < AHEAD {
            continue;
        }
        let Some((case, ours)) = open.pop_front() else {
            break;
        };
        report.cases += 1;
        match (ours, reference.answer()) {
            (Err(_), Ok(_)) => report.refused += 1,
            (Ok(ours), Ok(Ok(theirs))) => {
                report.compare_outcomes(area, &mut second, (&case, &ours), &theirs, end + AFTER_THE_END)?;
            }
            (Ok(ours), Ok(Err(error))) if ours.len() == 1 && error.starts_with("crash: ") => {
                let theirs = [vec![json!({"crash": error})]];
                report.compare_outcomes(area, &mut second, (&case, &ours), &theirs, end + AFTER_THE_END)?;
            }
            (Ok(_), Ok(Err(error))) if area.may_fail(&error) => report.known += 1,
            (Ok(_), Ok(Err(error))) => report.report_unanswered(area, &case, &error),
            (_, Err(error)) => {
                // The other questions to this process are lost with it.
                report.report_unanswered(area, &case, &error.to_string());
                reference = area.start()?;
                open.clear();
            }
        }
    }
    println!("{}", area.summary(&report));
    Ok(report.differences() + report.unanswered + area.slow() > 0)
}
