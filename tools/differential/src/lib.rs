//! Differential runs: random expressions over random data, and random policies with requests, here and in the reference,
//! until a difference shows.
//!
//! `policy` is about policies, `webhook` about the patches of webhooks, all else about expressions. `grammar` says what expressions are made of, `generate` makes them, `world` what they are evaluated over; `ours` and
//! `reference` answer, and `shrink` makes what differs small.

mod damage;
mod generate;
mod grammar;
mod known;
mod ours;
mod outcome;
mod outcomes;
mod patterns;
mod policy;
mod process;
mod reference;
mod render;
mod report;
mod shrink;
mod sketch;
mod tree;
mod types;
mod webhook;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use pratique_harness::{Dice, Error};

use self::generate::Manner;
use self::ours::Ours;
use self::outcome::Outcome;
use self::reference::{Batch, Reference};
use self::report::Report;
use self::tree::Tree;
use self::world::World;

pub use policy::{
    Kind as DifferenceKind, Reference as PolicyReference, World as PolicyWorld, differs, outcomes,
};

/// Looks for differences from the reference with random cases, and makes each small.
#[derive(clap::Parser)]
#[command(bin_name = "cargo xtask differential")]
pub struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// CEL: whether expressions compile, their types, values, errors and costs. Needs Go.
    Cel(Run),
    /// Policies: what becomes of requests that go through mutating and validating ones. Needs Go.
    Policy(policy::Run),
    /// Webhooks: what becomes of objects that they patch. Needs Go.
    Webhook(Span),
}

/// How long, and from where.
#[derive(clap::Args)]
struct Span {
    /// How long to look for differences.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where to begin; a run prints the one it takes.
    #[arg(long)]
    seed: Option<u64>,
}

impl Span {
    /// The choices of its seed, which is printed; without one, of the time. And when it is over.
    fn begin(&self) -> (Dice, Instant) {
        let seed = self.seed.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0, |since| since.as_secs())
        });
        println!("seed {seed}");
        (
            Dice::new(seed),
            Instant::now() + Duration::from_secs(self.seconds),
        )
    }
}

/// What to compare of expressions.
#[derive(clap::Args)]
struct Run {
    #[command(flatten)]
    span: Span,
    /// How many expressions share a world.
    #[arg(long, default_value_t = 200)]
    batch: usize,
    /// Look for random patterns in random texts, with matches(), find() and findAll(), and at nothing else.
    #[arg(long)]
    regex: bool,
}

/// Runs until the time is over; fails if there was a difference.
pub fn run(arguments: &Arguments) -> ExitCode {
    let differs = match &arguments.subject {
        Subject::Cel(run) => compare(run).map(|report| {
            print!("{report}");
            report.has_differences()
        }),
        Subject::Policy(run) => policy::compare(run),
        Subject::Webhook(span) => webhook::compare(span),
    };
    match differs {
        Ok(differs) => ExitCode::from(u8::from(differs)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Expressions of one world, with our outcomes.
struct Round {
    world: World,
    trees: Vec<Tree>,
    sources: Vec<String>,
    ours: Vec<Outcome>,
    slow: Vec<(usize, Duration)>,
}

fn compare(run: &Run) -> Result<Report, Error> {
    let binary = Reference::build()?;
    let mut reference = Reference::start(&binary)?;
    let mut second = Reference::start(&binary)?;
    let (mut dice, end) = run.span.begin();
    let mut report = Report::default();
    while Instant::now() < end {
        let mut round = match run.regex {
            true => prepare_patterns(&mut dice, run.batch),
            false => prepare(&mut dice, run.batch),
        };
        reference.ask(&Batch {
            world: &round.world,
            expressions: &round.sources,
            times: 1,
        })?;
        answer(&mut round);
        match reference.answer() {
            Ok(theirs) => settle(&mut second, &round, &theirs, &mut report, end)?,
            Err(error) if error.to_string().starts_with("crash: ") => report.known += 1,
            Err(error) => {
                report.lost(&round, &error.to_string());
                reference = Reference::start(&binary)?;
            }
        }
    }
    Ok(report)
}

fn prepare(dice: &mut Dice, count: usize) -> Round {
    let (world, mut generator) = world::world(dice, Manner::default());
    let trees: Vec<Tree> = (0..count).map(|_| generator.expression(dice).1).collect();
    let sources = trees.iter().map(|tree| damage::source(tree, dice)).collect();
    Round {
        world,
        trees,
        sources,
        ours: Vec::new(),
        slow: Vec::new(),
    }
}

/// Expressions that look for patterns need nothing of the world.
fn prepare_patterns(dice: &mut Dice, count: usize) -> Round {
    let trees: Vec<Tree> = (0..count).map(|_| patterns::expression(dice)).collect();
    Round {
        world: World {
            inputs: serde_json::json!({}),
            ..World::default()
        },
        sources: trees.iter().map(Tree::plain).collect(),
        trees,
        ours: Vec::new(),
        slow: Vec::new(),
    }
}

/// No expression should take longer: its cost is limited, and so is its size.
const SLOW: Duration = Duration::from_secs(1);

fn answer(round: &mut Round) {
    let ours = Ours::new(&round.world);
    for (index, source) in round.sources.iter().enumerate() {
        let (outcome, took) = timed(|| ours.outcome(source));
        round.ours.push(outcome);
        // What was slow because the machine did something else is not slow again.
        let took = if took > SLOW {
            took.min(timed(|| ours.outcome(source)).1)
        } else {
            took
        };
        if took > SLOW {
            round.slow.push((index, took));
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

/// Compares the outcomes of a round, and makes what differs small.
fn settle(
    reference: &mut Reference,
    round: &Round,
    theirs: &[Vec<Outcome>],
    report: &mut Report,
    end: Instant,
) -> Result<(), Error> {
    let all = round
        .sources
        .iter()
        .zip(&round.trees)
        .zip(round.ours.iter().zip(theirs));
    for ((source, tree), (ours, theirs)) in all {
        let Some(theirs) = theirs.first() else {
            continue;
        };
        report.count(ours, theirs);
        let Some(kind) = ours.differs(theirs) else {
            continue;
        };
        if known::is_known(ours, theirs) {
            report.known += 1;
        } else if report.wants(kind, ours, theirs) && Instant::now() < end + Duration::from_secs(60) {
            match shrink::shrunk(reference, &round.world, tree, source)? {
                Some(difference) => report.add(difference),
                None => report.varies += 1,
            }
        }
    }
    for (index, took) in &round.slow {
        report.slow(round.sources.get(*index), *took);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
