//! What a run found, each difference once.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::Round;
use super::outcome::{Kind, Outcome};
use super::shrink::Difference;

/// What a run found.
#[derive(Default)]
pub(super) struct Report {
    expressions: usize,
    compile: usize,
    values: usize,
    /// Differences that are meant to be.
    pub(super) known: usize,
    /// Expressions on which the reference is not of one mind.
    pub(super) varies: usize,
    /// How often differences were met that look like this, before they were made small.
    met: BTreeMap<String, usize>,
    /// How often each shape was found.
    shapes: BTreeMap<String, usize>,
    slow: usize,
    lost: usize,
}

/// How many differences that look the same are made small.
const ENOUGH: usize = 6;

impl Report {
    /// Whether there is anything to mend.
    pub(super) fn has_differences(&self) -> bool {
        !self.shapes.is_empty() || self.slow > 0 || self.lost > 0
    }

    /// Counts an expression.
    pub(super) fn count(&mut self, ours: &Outcome, theirs: &Outcome) {
        self.expressions += 1;
        self.compile += usize::from(theirs.compile.is_empty() && ours.compile.is_empty());
        self.values += usize::from(theirs.value.is_some() && ours.value.is_some());
    }

    /// Whether a difference is worth the work of making it small.
    pub(super) fn wants(&mut self, kind: Kind, ours: &Outcome, theirs: &Outcome) -> bool {
        let texts = match kind {
            Kind::Compiles | Kind::CompileText => [first_line(&ours.compile), first_line(&theirs.compile)],
            Kind::Fails | Kind::ErrorText => [shape(&ours.error), shape(&theirs.error)],
            _ => [String::new(), String::new()],
        };
        let met = self.met.entry(format!("{kind:?} {texts:?}")).or_default();
        *met += 1;
        let limit = if texts.iter().all(String::is_empty) {
            20 * ENOUGH
        } else {
            ENOUGH
        };
        *met <= limit
    }

    /// Prints a difference unless one of its shape is known.
    pub(super) fn add(&mut self, difference: Difference) {
        let key = format!("{:?} {}", difference.kind, shape(&difference.source));
        let seen = self.shapes.entry(key).or_default();
        *seen += 1;
        if *seen == 1 {
            println!("{}", Shown(&difference));
        }
    }

    /// Prints an expression that took us long.
    pub(super) fn slow(&mut self, source: Option<&String>, took: Duration) {
        self.slow += 1;
        println!("slow: {took:?}\n  {}\n", source.map_or("", String::as_str));
    }

    /// Tells of a round to which the reference gave no answer.
    pub(super) fn lost(&mut self, round: &Round, error: &str) {
        self.lost += 1;
        let path = std::env::temp_dir().join(format!("differential-lost-{}.json", self.lost));
        let text = serde_json::json!({"world": round.world, "sources": round.sources}).to_string();
        let kept = std::fs::write(&path, text);
        println!("no answer: {error}\n  see {} ({kept:?})\n", path.display());
    }
}

fn first_line(text: &str) -> String {
    shape(text.lines().next().unwrap_or_default())
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

struct Shown<'d>(&'d Difference);

impl Display for Shown<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Difference {
            world,
            source,
            kind,
            ours,
            theirs,
        } = self.0;
        writeln!(formatter, "{kind:?}: {source}")?;
        for variable in &world.variables {
            writeln!(
                formatter,
                "  variables.{} = {}",
                variable.name, variable.expression
            )?;
        }
        writeln!(formatter, "  declared: {:?}", world.declared)?;
        if world.inputs.as_object().is_some_and(|inputs| !inputs.is_empty()) {
            writeln!(formatter, "  inputs: {}", world.inputs)?;
        }
        writeln!(formatter, "  ours:      {}", text(ours))?;
        writeln!(formatter, "  reference: {}", text(theirs))
    }
}

fn text(outcome: &Outcome) -> String {
    match outcome.compile.is_empty() {
        true => serde_json::to_string(outcome).unwrap_or_default(),
        false => outcome.compile.replace('\n', "\n    "),
    }
}

impl Display for Report {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} expressions: {} compile, {} give values; {} where the reference varies, {} differ on purpose",
            self.expressions, self.compile, self.values, self.varies, self.known
        )?;
        writeln!(
            formatter,
            "{} differences, {} slow, {} rounds without an answer",
            self.shapes.len(),
            self.slow,
            self.lost
        )
    }
}
