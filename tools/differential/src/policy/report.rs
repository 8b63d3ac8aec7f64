//! What a run found, each difference once.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::outcome::{Kind, texts};
use super::shrink::Difference;
use crate::report::shape;

/// What a run found.
#[derive(Default)]
pub(super) struct Report {
    worlds: usize,
    requests: usize,
    denied: usize,
    mutated: usize,
    warned: usize,
    /// Worlds whose policies we do not load.
    pub(super) refused: usize,
    /// Differences that are meant to be.
    pub(super) known: usize,
    /// Requests on which the reference is not of one mind.
    pub(super) varies: usize,
    met: BTreeMap<String, usize>,
    shapes: BTreeMap<String, usize>,
    lost: usize,
}

/// How many differences that look the same are made small.
const ENOUGH: usize = 3;

impl Report {
    /// Whether there is anything to mend.
    pub(super) fn has_differences(&self) -> bool {
        !self.shapes.is_empty() || self.lost > 0
    }

    /// Counts a world.
    pub(super) fn world(&mut self) {
        self.worlds += 1;
    }

    /// Counts a request by what the reference says of it.
    pub(super) fn count(&mut self, theirs: &Value) {
        self.requests += 1;
        self.denied += usize::from(theirs["allowed"] == false);
        self.mutated += usize::from(theirs.get("object").is_some());
        self.warned += usize::from(theirs.get("warnings").is_some());
    }

    /// Whether a difference is worth the work of making it small.
    pub(super) fn wants(&mut self, kind: Kind, ours: &Value, theirs: &Value) -> bool {
        let key = format!("{kind:?} {} {}", shape(&texts(ours)), shape(&texts(theirs)));
        let met = self.met.entry(key).or_default();
        *met += 1;
        *met <= ENOUGH && self.shapes.len() < 40
    }

    /// Prints a difference unless one of its shape is known.
    pub(super) fn add(&mut self, difference: &Difference) {
        let key = format!(
            "{:?} {} {}",
            difference.kind,
            shape(&texts(&difference.ours)),
            shape(&texts(&difference.theirs))
        );
        let seen = self.shapes.entry(key).or_default();
        *seen += 1;
        if *seen == 1 {
            println!("{}", Shown(difference));
        }
    }

    /// Tells of a world that the reference had no answer for.
    pub(super) fn lost(&mut self, world: &Value, error: &str) {
        self.lost += 1;
        let path = std::env::temp_dir().join(format!("differential-policy-lost-{}.json", self.lost));
        let kept = std::fs::write(&path, world.to_string());
        println!("no answer: {error}\n  see {} ({kept:?})\n", path.display());
    }
}

struct Shown<'d>(&'d Difference);

impl Display for Shown<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Difference {
            world,
            kind,
            ours,
            theirs,
        } = self.0;
        writeln!(formatter, "{kind:?}:")?;
        writeln!(formatter, "  ours:      {ours}")?;
        writeln!(formatter, "  reference: {theirs}")?;
        writeln!(formatter, "  case: {}", world.case(theirs))
    }
}

impl Display for Report {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} worlds, {} requests: {} denied, {} mutated, {} warned",
            self.worlds, self.requests, self.denied, self.mutated, self.warned
        )?;
        writeln!(
            formatter,
            "{} worlds not loaded, {} requests where the reference varies, {} differ on purpose",
            self.refused, self.varies, self.known
        )?;
        writeln!(
            formatter,
            "{} differences, {} worlds without an answer",
            self.shapes.len(),
            self.lost
        )
    }
}
