//! The table of everything that an API server does with policies, and of its own plugins: `cargo xtask bench [ROW…]`.
//!
//! A row is work on policies that are made from a seed and written to files, which both sides read, or on a case of
//! `benches/data/plugins.json`. Each row has
//! its own processes, so that no row is measured with memory that another one left behind.

mod baseline;
mod chain;
mod counted_run;
mod evaluate;
mod instructions;
mod material;
mod objects;
mod once;
mod plugins;
pub(super) mod policies;
mod report;
mod rows;
mod serve;
mod training;
mod validate;

use std::path::PathBuf;
use std::time::Duration;

use self::material::BoardMaterial;
use self::report::{BoardLine, BoardReport};
use self::rows::{BoardRow, RowWork};
use super::{BenchArguments, BenchPeer, build};
use pratique_harness::ToolError;

/// The sides.
struct BoardPrograms {
    ours: PathBuf,
    theirs: Option<PathBuf>,
    /// Theirs of the rows of plugins.
    plugins: Option<PathBuf>,
    /// Theirs of the rows of validation.
    validation: Option<PathBuf>,
    /// `pratique`, where it need not be built.
    server: Option<PathBuf>,
}

/// The extent of measurements.
struct BoardSettings {
    rounds: usize,
    turn: Duration,
    /// Whether to measure processor time, where nothing waits.
    processor: bool,
}

/// A row with the inputs and settings of its measurement.
struct RowContext<'b> {
    row: &'b BoardRow,
    material: &'b BoardMaterial,
    programs: &'b BoardPrograms,
    settings: &'b BoardSettings,
}

/// The measurements of a row, one for each round: nanoseconds, or bytes.
#[derive(Clone, Debug, Default)]
struct MeasuredRow {
    ours: Vec<f64>,
    theirs: Vec<f64>,
    /// Measurements of the control, in the same rounds.
    control: Vec<f64>,
    /// A remark for the report.
    note: Option<String>,
}

/// Turns here are at least so long, in milliseconds: what is measured takes up to as long once.
const TURN: u64 = 200;

/// Measures the rows that are asked for, and prints them.
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    if arguments.instructions || arguments.bless {
        return if instructions::run(arguments)? {
            Ok(())
        } else {
            Err("more instructions than before".into())
        };
    }
    let rows = rows::wanted(&arguments.what)?;
    let ours = match &arguments.ours {
        Some(built) => built.canonicalize().map_err(ToolError::file(&built))?,
        None => build::ours()?,
    };
    if arguments.train {
        return training::run(arguments, &ours);
    }
    let theirs = |module: &str, is_needed: bool| match (arguments.against, is_needed) {
        (Some(BenchPeer::Go), true) => build::go(module, "bench", &ours),
        _ => Ok(None),
    };
    let needs = |module: &str| rows.iter().any(|row| row.work.reference() == module);
    let plugins = theirs("plugins", needs("plugins"))?;
    let validation = theirs("validation", needs("validation"))?;
    let theirs = theirs("policy", needs("policy"))?;
    let mut material = BoardMaterial::new(&ours.with_file_name("bench-policies"), arguments.seed)?;
    if theirs.is_some() {
        material = material.for_reference()?;
    }
    let server = arguments.ours.as_ref().map(|_| ours.with_file_name("pratique"));
    let programs = BoardPrograms {
        server: server.filter(|server| server.exists()),
        ours,
        theirs,
        plugins,
        validation,
    };
    let settings = BoardSettings {
        rounds: arguments.rounds.max(1),
        turn: arguments.length().max(Duration::from_millis(TURN)),
        processor: arguments.processor_time,
    };
    let mut report = BoardReport {
        seed: arguments.seed,
        ..BoardReport::default()
    };
    // A row that fails does not discard the measurements of the others.
    let mut failed = Vec::new();
    for row in rows {
        eprint!("\r{:40}\r{} …", "", row.name);
        let context = RowContext {
            row: &row,
            material: &material,
            programs: &programs,
            settings: &settings,
        };
        match context.measure() {
            Ok(measured) => report.lines.extend(BoardLine::new(row, measured)),
            Err(error) => failed.push(format!("{}: {error}", row.name)),
        }
    }
    eprint!("\r{:40}\r", "");
    super::print(arguments, &report, &report.to_json())?;
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("\n").into())
    }
}

impl RowContext<'_> {
    fn measure(&self) -> Result<MeasuredRow, ToolError> {
        match &self.row.work {
            RowWork::Evaluate { policies, object } => evaluate::measure(self, policies, *object),
            RowWork::Start(policies) => once::start(self, policies),
            RowWork::Keep(policies) => once::keep(self, policies),
            RowWork::Reload(policies) => once::reload(self, policies),
            RowWork::Serve(policies) => serve::measure(self, policies),
            RowWork::Plugins(case) => plugins::measure(self, case),
            RowWork::Validate(case) => validate::measure(self, case),
            RowWork::Chain(case) => chain::measure(self, case),
        }
    }
}
