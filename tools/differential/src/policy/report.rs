//! What a run found, each difference once.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::world::World;
use crate::outcomes::{Difference, Found};

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
    /// The differences.
    pub(super) found: Found,
    lost: usize,
}

impl Report {
    /// Whether there is anything to mend.
    pub(super) fn has_differences(&self) -> bool {
        self.found.count() > 0 || self.lost > 0
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

    /// Prints a difference unless one of its looks is known.
    pub(super) fn add(&mut self, difference: &Difference<World>) {
        if self.found.is_new(difference) {
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

struct Shown<'d>(&'d Difference<World>);

impl Display for Shown<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Difference {
            case,
            kind,
            ours,
            theirs,
        } = self.0;
        writeln!(formatter, "{kind:?}:")?;
        writeln!(formatter, "  ours:      {ours}")?;
        writeln!(formatter, "  reference: {theirs}")?;
        writeln!(formatter, "  case: {}", case.case(theirs))
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
            self.found.count(),
            self.lost
        )
    }
}
