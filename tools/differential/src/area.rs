//! What all areas have in common: random cases go to both sides, differences between their outcomes are made small, and of
//! those that look the same one is printed.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use pratique_harness::{Dice, Error};
use serde_json::{Value, json};

use super::Span;
use super::reference::Reference;
use super::shrink::{Difference, shrunk};

/// What is compared.
pub(super) trait Area {
    /// What both sides are asked about at once: one question or several, and what these have in common.
    type Case: Clone;

    /// Its name in files.
    const NAME: &'static str;

    /// How many differences that look the same are made small.
    const ENOUGH: usize = 3;

    /// Starts the reference.
    fn start(&self) -> Result<Reference, Error>;

    /// Any case.
    fn random(&self, dice: &mut Dice) -> Self::Case;

    /// A case as the reference reads it, which is to answer so many times.
    fn question(&self, case: &Self::Case, times: usize) -> Value;

    /// Our outcomes, one for each question; an error for a case that does not load.
    fn ours(&self, case: &Self::Case) -> Result<Vec<Value>, Error>;

    /// The same case with one of its questions.
    fn only(&self, case: &Self::Case, index: usize) -> Self::Case;

    /// In what an outcome differs from what is expected.
    fn differs(&self, ours: &Value, theirs: &Value) -> Option<&'static str>;

    /// Whether a difference is one of those that are meant to be.
    fn is_known(&self, case: &Self::Case, ours: &Value, theirs: &Value) -> bool;

    /// Whether the reference may fail so.
    fn may_fail(&self, _error: &str) -> bool {
        false
    }

    /// The same case, of one question, without one of the things in it; large things come first.
    fn smaller(&self, case: &Self::Case) -> Vec<Self::Case>;

    /// The texts of an outcome.
    fn texts(&self, outcome: &Value) -> String;

    /// What a difference that was made small looks like.
    fn look(&self, difference: &Difference<Self::Case>) -> String {
        look(self, difference.kind, &difference.ours, &difference.theirs)
    }

    /// What is counted of an outcome, and whether it is so.
    fn counted(&self, ours: &Value, theirs: &Value) -> Vec<(&'static str, bool)>;

    /// How often we took too long, of which each time was printed.
    fn slow(&self) -> usize {
        0
    }

    /// A difference in lines.
    fn shown(&self, difference: &Difference<Self::Case>) -> String;

    /// The last lines of a run.
    fn summary(&self, report: &Report) -> String;
}

/// What a run found.
#[derive(Default)]
pub(super) struct Report {
    pub(super) cases: usize,
    pub(super) questions: usize,
    /// By what is counted of outcomes.
    counts: BTreeMap<&'static str, usize>,
    /// Cases that we do not load.
    pub(super) refused: usize,
    /// Differences that are meant to be.
    pub(super) known: usize,
    /// Questions on which the reference is not of one mind.
    pub(super) varies: usize,
    /// Cases that the reference did not answer.
    pub(super) lost: usize,
    /// How often differences were met that look like this, before they were made small.
    met: BTreeMap<String, usize>,
    /// How often they were found, made small.
    found: BTreeMap<String, usize>,
}

impl Report {
    /// How often outcomes were so.
    pub(super) fn count(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or_default()
    }

    /// How many differences there are.
    pub(super) fn differences(&self) -> usize {
        self.found.len()
    }

    /// Tells of a case that the reference had no answer for.
    fn lost<A: Area>(&mut self, area: &A, case: &A::Case, error: &str) {
        self.lost += 1;
        let path = std::env::temp_dir().join(format!("differential-{}-lost-{}.json", A::NAME, self.lost));
        let kept = std::fs::write(&path, area.question(case, 1).to_string());
        println!("no answer: {error}\n  see {} ({kept:?})\n", path.display());
    }

    /// Compares the outcomes of a case, and makes what differs small.
    fn settle<A: Area>(
        &mut self,
        area: &A,
        reference: &mut Reference,
        (case, ours): (&A::Case, &[Value]),
        theirs: &[Vec<Value>],
        end: Instant,
    ) -> Result<(), Error> {
        for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let Some(theirs) = theirs.first() else { continue };
            self.questions += 1;
            for (what, is_so) in area.counted(ours, theirs) {
                *self.counts.entry(what).or_default() += usize::from(is_so);
            }
            let Some(kind) = area.differs(ours, theirs) else {
                continue;
            };
            if area.is_known(case, ours, theirs) {
                self.known += 1;
            } else if self.wants(area, kind, ours, theirs) {
                let Some(difference) = shrunk(area, reference, area.only(case, index), end)? else {
                    self.varies += 1;
                    continue;
                };
                let seen = self.found.entry(area.look(&difference)).or_default();
                *seen += 1;
                if *seen == 1 {
                    println!("{}", area.shown(&difference));
                }
            }
        }
        Ok(())
    }

    /// Whether a difference is worth the work of making it small: one without texts may look like others and be of another kind.
    fn wants<A: Area>(&mut self, area: &A, kind: &str, ours: &Value, theirs: &Value) -> bool {
        let met = self.met.entry(look(area, kind, ours, theirs)).or_default();
        *met += 1;
        let has_texts = [ours, theirs]
            .iter()
            .any(|outcome| !area.texts(outcome).is_empty());
        let enough = if has_texts { A::ENOUGH } else { 20 * A::ENOUGH };
        *met <= enough && self.found.len() < 40
    }
}

/// What a difference looks like.
fn look<A: Area + ?Sized>(area: &A, kind: &str, ours: &Value, theirs: &Value) -> String {
    let [ours, theirs] = [ours, theirs].map(|outcome| shape(&area.texts(outcome)));
    format!("{kind} {ours} {theirs}")
}

/// A text without what differs between texts that mean the same: numbers, names in quotes.
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

/// How many cases the reference works at: most of setting one up is waiting.
const AHEAD: usize = 16;

/// How long after the end differences are made small.
const AFTER_THE_END: Duration = Duration::from_secs(60);

/// Runs until the time is over; whether there is anything to mend.
pub(super) fn compare<A: Area>(area: &A, span: &Span) -> Result<bool, Error> {
    let mut reference = area.start()?;
    let mut second = area.start()?;
    let (mut dice, end) = span.begin();
    let mut report = Report::default();
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
                report.settle(area, &mut second, (&case, &ours), &theirs, end + AFTER_THE_END)?;
            }
            (Ok(ours), Ok(Err(error))) if ours.len() == 1 && error.starts_with("crash: ") => {
                let theirs = [vec![json!({"crash": error})]];
                report.settle(area, &mut second, (&case, &ours), &theirs, end + AFTER_THE_END)?;
            }
            (Ok(_), Ok(Err(error))) if area.may_fail(&error) => report.known += 1,
            (Ok(_), Ok(Err(error))) => report.lost(area, &case, &error),
            (_, Err(error)) => {
                // What it was asked besides goes with it.
                report.lost(area, &case, &error.to_string());
                reference = area.start()?;
                open.clear();
            }
        }
    }
    println!("{}", area.summary(&report));
    Ok(report.differences() + report.lost + area.slow() > 0)
}
