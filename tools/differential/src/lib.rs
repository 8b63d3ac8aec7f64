//! Differential tests: random expressions over random data, and random policies with requests, evaluated here and in the
//! reference.
//!
//! `area` compares, and `shrink` shrinks differences; `cel`, `policy`, `validation` and `webhook` are the compared areas. `golden` asks
//! the project's recorded cases, also those of `plugins`, of the `release` that is compared. For `cel`,
//! `grammar` has the productions of expressions, `generate` generates them, `world` has their inputs, and `ours`
//! evaluates them.

mod area;
mod cel;
mod damage;
mod generate;
mod golden;
mod grammar;
mod known_differences;
mod ours;
mod outcome;
mod patterns;
mod plugins;
mod policy;
mod reference;
mod release;
mod release_cases;
mod render;
mod shrink;
mod sketch;
mod suite;
mod tree;
mod types;
mod validation;
mod webhook;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use pratique_harness::RandomDice;

use self::cel::CelArea;
use self::policy::PolicyArea;
use self::release::ReleaseArguments;
use self::release_cases::GoldenArguments;
use self::validation::ValidationArea;
use self::webhook::WebhookArea;

pub use policy::{PolicyQuestion, PolicyWorld, differs, outcomes, start as start_policies};
pub use reference::{ReferenceAnswer, ReferenceProgram};
pub use validation::random_objects;

/// Looks for differences from the reference with random cases, and makes each small.
#[derive(clap::Parser)]
#[command(bin_name = "cargo xtask differential")]
pub struct DifferentialArguments {
    #[command(subcommand)]
    subject: DifferentialSubject,
}

#[derive(clap::Subcommand)]
enum DifferentialSubject {
    /// CEL: whether expressions compile, their types, values, errors and costs. Needs Go.
    Cel(CelRun),
    /// Policies: what becomes of requests that go through mutating and validating ones. Needs Go.
    Policy(policy::PolicyRun),
    /// Validation: for what a server refuses objects of built-in kinds. Needs Go.
    Validation(validation::ValidationArguments),
    /// The project's golden cases, each asked once of the code of a release. Needs Go.
    Golden(GoldenArguments),
    /// Webhooks: what becomes of objects that they patch. Needs Go.
    Webhook(RunSpan),
}

/// How long, and from where.
#[derive(clap::Args)]
struct RunSpan {
    /// How long to look for differences.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where to begin; a run prints the one it takes.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    release: ReleaseArguments,
}

impl RunSpan {
    /// The choices of its seed, which is printed; without one, of the time. And when it is over.
    fn begin(&self) -> (RandomDice, Instant) {
        let seed = self.seed.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0, |since| since.as_secs())
        });
        println!("seed {seed}");
        (
            RandomDice::new(seed),
            Instant::now() + Duration::from_secs(self.seconds),
        )
    }
}

/// Options to compare expressions.
#[derive(clap::Args)]
struct CelRun {
    #[command(flatten)]
    span: RunSpan,
    /// How many expressions share a world.
    #[arg(long, default_value_t = 200)]
    batch: usize,
    /// Look for random patterns in random texts, with matches(), find() and findAll(), and at nothing else.
    #[arg(long)]
    regex: bool,
}

/// Runs until the time is over; fails if there was a difference.
pub fn run(arguments: &DifferentialArguments) -> ExitCode {
    let differs = match &arguments.subject {
        DifferentialSubject::Cel(run) => CelArea::new(run).and_then(|cel| area::compare(&cel, &run.span)),
        DifferentialSubject::Policy(run) => {
            PolicyArea::new(run).and_then(|policy| area::compare(&policy, &run.span))
        }
        DifferentialSubject::Golden(run) => release_cases::compare(run),
        DifferentialSubject::Validation(run) => {
            ValidationArea::new(run).and_then(|validation| area::compare(&validation, &run.span))
        }
        DifferentialSubject::Webhook(span) => {
            WebhookArea::new(span).and_then(|webhook| area::compare(&webhook, span))
        }
    };
    match differs {
        Ok(differs) => ExitCode::from(u8::from(differs)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests;
