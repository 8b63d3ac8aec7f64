//! Shrinks a difference to a small case.

use std::time::{Duration, Instant};

use pratique_harness::ToolError;
use serde_json::Value;

use super::area::ComparedArea;
use super::reference::ReferenceProgram;

/// A case, of one question, on which the two sides differ.
#[derive(Clone, Debug)]
pub(super) struct CaseDifference<C> {
    /// The case.
    pub(super) case: C,
    /// The kind of difference.
    pub(super) kind: &'static str,
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
pub(super) fn shrunk<A: ComparedArea>(
    area: &A,
    reference: &mut ReferenceProgram,
    case: A::Case,
    end: Instant,
) -> Result<Option<CaseDifference<A::Case>>, ToolError> {
    let mut sides = ComparedSides { area, reference };
    let Some(whole) = sides.confirmed(case, TIMES)? else {
        return Ok(None);
    };
    let end = end.min(Instant::now() + LONGEST);
    let mut best = whole.clone();
    let mut skipped = 0;
    let mut found_any = false;
    while Instant::now() < end {
        let candidates = area.smaller(&best.case);
        let rest = candidates.get(skipped..).unwrap_or_default();
        match sides.first(rest, &best)? {
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
    let small = sides.confirmed(best.case, TIMES)?;
    Ok(small.or(Some(whole)))
}

struct ComparedSides<'s, A> {
    area: &'s A,
    reference: &'s mut ReferenceProgram,
}

/// A difference, and the index of its case.
type IndexedDifference<C> = (usize, CaseDifference<C>);

impl<A: ComparedArea> ComparedSides<'_, A> {
    /// The first of the cases that surely differs in the given way.
    fn first(
        &mut self,
        cases: &[A::Case],
        best: &CaseDifference<A::Case>,
    ) -> Result<Option<IndexedDifference<A::Case>>, ToolError> {
        for (chunk, cases) in cases.chunks(AT_ONCE).enumerate() {
            for case in cases {
                self.reference.ask(&self.area.question(case, 1))?;
            }
            let mut likely = Vec::new();
            for (index, case) in cases.iter().enumerate() {
                let difference = self.difference(case)?;
                likely.extend(
                    difference
                        .filter(|difference| self.is_like(difference, best))
                        .map(|_| (index, case)),
                );
            }
            for (index, case) in likely {
                let difference = self.confirmed(case.clone(), AGAIN)?;
                if let Some(difference) = difference.filter(|difference| self.is_like(difference, best)) {
                    return Ok(Some((chunk * AT_ONCE + index, difference)));
                }
            }
        }
        Ok(None)
    }

    /// The difference of a case, if the reference is of one mind and we of another.
    fn confirmed(
        &mut self,
        case: A::Case,
        times: usize,
    ) -> Result<Option<CaseDifference<A::Case>>, ToolError> {
        self.reference.ask(&self.area.question(&case, times))?;
        self.difference(&case)
    }

    /// The difference of the case that the reference answers next.
    fn difference(&mut self, case: &A::Case) -> Result<Option<CaseDifference<A::Case>>, ToolError> {
        let theirs = match self.reference.answer()? {
            Ok(outcomes) => outcomes.into_iter().next().unwrap_or_default(),
            Err(error) if error.starts_with("crash: ") => vec![serde_json::json!({"crash": error})],
            Err(_) => Vec::new(),
        };
        let ours = self.area.ours(case).unwrap_or_default().into_iter().next();
        let (Some(ours), Ok([theirs])) = (ours, <[Value; 1]>::try_from(theirs)) else {
            return Ok(None);
        };
        let kind = self.area.differs(&ours, &theirs);
        let kind = kind.filter(|_| !self.area.is_known(case, &ours, &theirs));
        Ok(kind.map(|kind| CaseDifference {
            case: case.clone(),
            kind,
            ours,
            theirs,
        }))
    }

    /// Whether two cases differ in the same way: a policy that does not compile is another matter than one that fails.
    fn is_like(&self, one: &CaseDifference<A::Case>, other: &CaseDifference<A::Case>) -> bool {
        let traits = |outcome: &Value| {
            let texts = self.area.texts(outcome);
            let is_broken = ["compil", "must evaluate to"]
                .iter()
                .any(|part| texts.contains(part));
            let allowed = outcome.get("allowed").cloned();
            let code = outcome.pointer("/status/code").cloned();
            (allowed.is_some() && is_broken, allowed, code)
        };
        one.kind == other.kind
            && traits(&one.ours) == traits(&other.ours)
            && traits(&one.theirs) == traits(&other.theirs)
    }
}

/// The allowed reductions of a value: removals, and replacements of texts.
pub(super) struct AllowedCuts<'c> {
    /// Whether a member or element of what is at a path may go.
    pub(super) may_go: &'c dyn Fn(&[String], RemovablePart<'_>) -> bool,
    /// Other texts for one at a path.
    pub(super) texts: &'c dyn Fn(&[String], &str) -> Vec<String>,
}

/// A part that may be removed.
#[derive(Clone, Copy, Debug)]
pub(super) enum RemovablePart<'p> {
    /// A member of an object.
    Member(&'p str),
    /// An element of a list of this length.
    Element(usize),
}

impl AllowedCuts<'_> {
    /// The value with one thing in it gone or otherwise, and how deep that was; `path` is where it is.
    ///
    /// Recursion follows the value, which the generators bound.
    pub(super) fn list_cuts(&self, value: &Value, path: &mut Vec<String>) -> Vec<(usize, Value)> {
        let mut variants = Vec::new();
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if (self.may_go)(path, RemovablePart::Member(name)) {
                        let mut smaller = members.clone();
                        smaller.remove(name);
                        variants.push((path.len(), Value::Object(smaller)));
                    }
                    variants.extend(self.within(member, name, path).map(|(depth, replacement)| {
                        let mut smaller = members.clone();
                        smaller.insert(name.clone(), replacement);
                        (depth, Value::Object(smaller))
                    }));
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    if (self.may_go)(path, RemovablePart::Element(elements.len())) {
                        let mut smaller = elements.clone();
                        smaller.remove(index);
                        variants.push((path.len(), Value::Array(smaller)));
                    }
                    variants.extend(self.within(element, "", path).map(|(depth, replacement)| {
                        let mut smaller = elements.clone();
                        if let Some(place) = smaller.get_mut(index) {
                            *place = replacement;
                        }
                        (depth, Value::Array(smaller))
                    }));
                }
            }
            Value::String(text) => {
                let texts = (self.texts)(path, text).into_iter();
                // There are many of them, and each removes little.
                variants.extend(texts.map(|text| (usize::MAX, Value::String(text))));
            }
            _ => {}
        }
        variants
    }

    fn within(
        &self,
        value: &Value,
        name: &str,
        path: &mut Vec<String>,
    ) -> impl Iterator<Item = (usize, Value)> + use<> {
        path.push(name.to_owned());
        let variants = self.list_cuts(value, path);
        path.pop();
        variants.into_iter()
    }
}
