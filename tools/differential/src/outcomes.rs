//! Differences between outcomes of admission: those of policies and those of webhooks. They are made small alike, and of
//! those that look the same one is printed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pratique_harness::Error;
use serde_json::Value;

use super::policy::outcome::{Kind, differs, texts};
use super::report::shape;

/// What both sides are asked about.
pub(super) trait Subject {
    /// A request, and what it meets.
    type Case: Clone;

    /// Asks the reference so many times.
    fn ask(&mut self, case: &Self::Case, times: usize) -> Result<(), Error>;

    /// The next answer of the reference: the different outcomes that were seen, or none where it cannot be asked.
    fn theirs(&mut self) -> Result<Vec<Value>, Error>;

    /// Our outcome, if there is one.
    fn ours(&self, case: &Self::Case) -> Option<Value>;

    /// Whether a difference is one of those that are meant to be.
    fn is_known(&self, case: &Self::Case, ours: &Value, theirs: &Value) -> bool;

    /// The same case without one of the things in it; large things come first.
    fn smaller(&self, case: &Self::Case) -> Vec<Self::Case>;
}

/// A case on which the two sides differ.
#[derive(Clone, Debug)]
pub(super) struct Difference<C> {
    /// The case.
    pub(super) case: C,
    /// In what.
    pub(super) kind: Kind,
    /// Our outcome.
    pub(super) ours: Value,
    /// The reference's.
    pub(super) theirs: Value,
}

/// How many candidates are tried at once.
const AT_ONCE: usize = 24;

/// How often the reference is asked, so that what it leaves to chance shows: of two fields in a map, Go may come to the
/// second one first in one of eight times only.
const TIMES: usize = 128;

/// How often it is asked on the way.
const AGAIN: usize = 3;

/// How long a difference is made small, at most.
const LONGEST: Duration = Duration::from_secs(120);

/// The smallest case that still differs in the same way; none if it does not differ when asked again and again.
pub(super) fn shrunk<S: Subject>(
    subject: &mut S,
    case: S::Case,
) -> Result<Option<Difference<S::Case>>, Error> {
    let Some(whole) = sure(subject, case, TIMES)? else {
        return Ok(None);
    };
    let end = Instant::now() + LONGEST;
    let mut best = whole.clone();
    let mut skipped = 0;
    let mut found_any = false;
    while Instant::now() < end {
        let candidates = subject.smaller(&best.case);
        let rest = candidates.get(skipped..).unwrap_or_default();
        match first(subject, rest, &best)? {
            Some((index, difference)) => {
                // What comes before could not be left out, and mostly cannot now.
                skipped += index;
                best = difference;
                found_any = true;
            }
            None if found_any => (skipped, found_any) = (0, false),
            None => break,
        }
    }
    let small = sure(subject, best.case, TIMES)?;
    Ok(small.or(Some(whole)))
}

/// A difference, and the index of its case.
type Indexed<C> = (usize, Difference<C>);

/// The first of the cases that surely differs in the given way.
fn first<S: Subject>(
    subject: &mut S,
    cases: &[S::Case],
    best: &Difference<S::Case>,
) -> Result<Option<Indexed<S::Case>>, Error> {
    for (chunk, cases) in cases.chunks(AT_ONCE).enumerate() {
        for case in cases {
            subject.ask(case, 1)?;
        }
        let mut likely = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            let found = difference(subject, case)?;
            likely.extend(found.filter(|found| found.is_like(best)).map(|_| (index, case)));
        }
        for (index, case) in likely {
            let found = sure(subject, case.clone(), AGAIN)?;
            if let Some(found) = found.filter(|found| found.is_like(best)) {
                return Ok(Some((chunk * AT_ONCE + index, found)));
            }
        }
    }
    Ok(None)
}

/// The difference of a case, if the reference is of one mind and we of another.
fn sure<S: Subject>(
    subject: &mut S,
    case: S::Case,
    times: usize,
) -> Result<Option<Difference<S::Case>>, Error> {
    subject.ask(&case, times)?;
    difference(subject, &case)
}

/// The difference of the case that the reference answers next.
fn difference<S: Subject>(subject: &mut S, case: &S::Case) -> Result<Option<Difference<S::Case>>, Error> {
    let theirs = subject.theirs()?;
    let (Some(ours), Ok([theirs])) = (subject.ours(case), <[Value; 1]>::try_from(theirs)) else {
        return Ok(None);
    };
    let kind = differs(&ours, &theirs).filter(|_| !subject.is_known(case, &ours, &theirs));
    Ok(kind.map(|kind| Difference {
        case: case.clone(),
        kind,
        ours,
        theirs,
    }))
}

impl<C> Difference<C> {
    /// Whether another case differs in the same way: a policy that does not compile is another matter than one that fails.
    fn is_like(&self, other: &Difference<C>) -> bool {
        let traits = |outcome: &Value| {
            let texts = texts(outcome);
            let broken = ["compil", "must evaluate to"]
                .iter()
                .any(|part| texts.contains(part));
            (
                outcome.get("allowed").cloned(),
                outcome.pointer("/status/code").cloned(),
                broken,
            )
        };
        self.kind == other.kind
            && traits(&self.ours) == traits(&other.ours)
            && traits(&self.theirs) == traits(&other.theirs)
    }
}

/// How many differences that look the same are made small.
const ENOUGH: usize = 3;

/// Differences by what they look like.
#[derive(Default)]
pub(super) struct Found {
    met: BTreeMap<String, usize>,
    shapes: BTreeMap<String, usize>,
}

impl Found {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.shapes.len()
    }

    /// Whether a difference is worth the work of making it small.
    pub(super) fn wants(&mut self, kind: Kind, ours: &Value, theirs: &Value) -> bool {
        let met = self.met.entry(look(kind, ours, theirs)).or_default();
        *met += 1;
        *met <= ENOUGH && self.shapes.len() < 40
    }

    /// Takes one in that was made small, and tells whether it is the first of its looks.
    pub(super) fn is_new<C>(&mut self, difference: &Difference<C>) -> bool {
        let look = look(difference.kind, &difference.ours, &difference.theirs);
        let seen = self.shapes.entry(look).or_default();
        *seen += 1;
        *seen == 1
    }
}

fn look(kind: Kind, ours: &Value, theirs: &Value) -> String {
    format!("{kind:?} {} {}", shape(&texts(ours)), shape(&texts(theirs)))
}
