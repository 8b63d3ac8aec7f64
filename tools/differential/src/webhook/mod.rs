//! Random objects, and random patches as webhooks answer them: what becomes of the object here and in the API server's
//! plugin.
//!
//! A `case` is a request with what webhooks say to it (`answers`, with `patches`); `ours` and `reference` tell what came of
//! it, `shrink` makes what differs small.

mod answers;
mod case;
mod known;
mod ours;
mod patches;
mod reference;
mod shrink;

use std::collections::VecDeque;
use std::time::Instant;

use pratique_harness::Error;
use serde_json::Value;

use self::case::Case;
use self::ours::Ours;
use self::reference::Reference;
use self::shrink::Sides;
use super::Span;
use super::outcomes::{Found, shrunk};
use super::policy::outcome::differs;

/// How many cases the reference works at.
const AHEAD: usize = 16;

/// What a run found.
#[derive(Default)]
struct Report {
    cases: usize,
    changed: usize,
    denied: usize,
    known: usize,
    found: Found,
}

/// Runs until the time is over; whether there was a difference.
pub(super) fn compare(span: &Span) -> Result<bool, Error> {
    let mut reference = Reference::start()?;
    let mut second = Reference::start()?;
    let ours = Ours::new()?;
    let (mut dice, end) = span.begin();
    let mut report = Report::default();
    let mut open: VecDeque<(Case, Value)> = VecDeque::new();
    loop {
        let more = Instant::now() < end;
        if more {
            let case = Case::random(&mut dice);
            reference.ask(&case, 1)?;
            let outcome = ours.outcome(&case);
            open.push_back((case, outcome));
        }
        if more && open.len() < AHEAD {
            continue;
        }
        let Some((case, ours_outcome)) = open.pop_front() else {
            break;
        };
        let theirs = reference.answer()?;
        report.settle(&mut second, &ours, case, &ours_outcome, &theirs)?;
    }
    println!(
        "{} cases: {} changed, {} denied; {} differ on purpose\n{} differences",
        report.cases,
        report.changed,
        report.denied,
        report.known,
        report.found.count()
    );
    Ok(report.found.count() > 0)
}

impl Report {
    /// Compares the outcomes of a case, and makes what differs small.
    fn settle(
        &mut self,
        reference: &mut Reference,
        ours: &Ours,
        case: Case,
        outcome: &Value,
        theirs: &[Value],
    ) -> Result<(), Error> {
        let Some(theirs) = theirs.first() else {
            return Ok(());
        };
        self.cases += 1;
        self.changed += usize::from(theirs.get("object").is_some());
        self.denied += usize::from(theirs["allowed"] == false);
        let Some(kind) = differs(outcome, theirs) else {
            return Ok(());
        };
        if known::is_known(&case, outcome, theirs) {
            self.known += 1;
            return Ok(());
        }
        if !self.found.wants(kind, outcome, theirs) {
            return Ok(());
        }
        let difference = shrunk(&mut Sides { reference, ours }, case)?;
        if let Some(found) = difference.filter(|difference| self.found.is_new(difference)) {
            println!(
                "{:?}:\n  ours:      {}\n  reference: {}",
                found.kind, found.ours, found.theirs
            );
            println!("  patches: {:?}", found.case.patches());
            println!("  case: {}\n", found.case.conformance(&found.theirs));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
