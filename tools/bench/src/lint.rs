//! What lints cost: `pratique check` of a directory with and without those that try policies over generated objects, and what
//! `pratique lsp` needs after each edit of its files.
//!
//! Time on processors decides, as the clock's has in it what else the machine does.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_harness::Error;
use serde_json::json;

use super::language_server::LanguageServer;
use super::measured;
use super::scan::policies;
use super::statistics::Spread;
use super::table::{factor, time};
use super::{Arguments, build, print};

/// The lints that `check` is measured without as well: they generate objects, or ask each rule about other requests than those
/// it names.
const TRYING: [&str; 14] = [
    "absent-name",
    "failing-mutation",
    "idle-mutation",
    "idle-removal",
    "invalid-result",
    "lost-items",
    "missed-subresource",
    "moved-field",
    "plugin-field",
    "quantity-as-text",
    "repeated-mutation",
    "swallowed-text",
    "unconvertible-version",
    "unused-message",
];
/// By how much these may make `check` slower.
const MOST_FACTOR: f64 = 1.5;
/// The most time that a document takes after an edit.
const MOST_EDIT: Duration = Duration::from_millis(20);
/// How many policies there are, unless a directory is given.
const POLICIES: usize = 50;
/// How many files are edited, from the largest on.
const EDITED: usize = 20;
/// How often each is edited. The first edits fill caches, as the first seconds with an editor do.
const EDITS: usize = 20;

/// Measures both, of the given directory or of one with generated policies; fails where one needs too much.
pub(super) fn run(arguments: &Arguments) -> Result<(), Error> {
    let program = match &arguments.ours {
        Some(program) => program.with_file_name("pratique"),
        None => build::release("pratique-cli", "pratique")?,
    };
    let directory = match &arguments.policies {
        Some(directory) => directory.clone(),
        None => generated(arguments.seed)?,
    };
    let allowed: Vec<&str> = TRYING.iter().flat_map(|lint| ["--allow", lint]).collect();
    let rounds = arguments.rounds.max(1);
    let [mut all, mut some] = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        eprint!("\rcheck: round {} of {rounds}", round + 1);
        all.push(time_check(&program, &directory, &[])?);
        some.push(time_check(&program, &directory, &allowed)?);
    }
    eprintln!();
    let least = |times: &[Duration]| times.iter().min().map_or(0.0, |time| time.as_nanos() as f64);
    let (all, some) = (least(&all), least(&some));
    let ratio = all / some;
    let mut text = format!(
        "check {}: {} on processors, {} without the lints that try policies: {}\n",
        directory.display(),
        time(all),
        time(some),
        factor(ratio)
    );
    let mut edits = Vec::new();
    for path in largest_files(&directory)? {
        let name = path
            .strip_prefix(&directory)
            .unwrap_or(&path)
            .display()
            .to_string();
        eprintln!("lsp: {name}");
        let spread = edit(&program, &path)?;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  lsp, an edit of {name}: {} ({} on processors)",
            time(spread.clock.median),
            time(spread.processor)
        );
        edits.push((name, spread));
    }
    let slowest = edits.iter().map(|(_, edit)| edit.processor).fold(0.0, f64::max);
    let rows = edits.iter().map(|(name, edit)| {
        json!({"file": name, "nanoseconds": edit.clock.median, "processorNanoseconds": edit.processor})
    });
    let numbers = json!({
        "bench": "lint", "processorNanoseconds": all, "processorNanosecondsWithout": some, "edits": rows.collect::<Vec<_>>(),
    });
    print(arguments, &text, &numbers)?;
    if ratio > MOST_FACTOR {
        return Err(format!(
            "check needs {} of the time; {} is allowed",
            factor(ratio),
            factor(MOST_FACTOR)
        )
        .into());
    }
    let most = MOST_EDIT.as_nanos() as f64;
    if slowest > most {
        return Err(format!("an edit needs {}; {} is allowed", time(slowest), time(most)).into());
    }
    Ok(())
}

/// A directory with generated policies.
fn generated(seed: u64) -> Result<PathBuf, Error> {
    let directory = pratique_harness::workspace::target().join("bench-lint");
    policies::write(&directory, seed, POLICIES)?;
    Ok(directory)
}

/// The time on processors of one `check`, whose answer may be that something is wrong.
fn time_check(program: &Path, directory: &Path, options: &[&str]) -> Result<Duration, Error> {
    let output = pratique_harness::workspace::target().join("bench-lint.txt");
    let mut command = Command::new(program);
    command.arg("check").args(options).arg(directory);
    Ok(measured::run_text(&mut command, &output, &[0, 1])?.processor)
}

/// What an edit costs.
struct EditCost {
    clock: Spread,
    processor: f64,
}

/// Edits a file again and again, and waits for what is said of it each time.
fn edit(program: &Path, path: &Path) -> Result<EditCost, Error> {
    let text = fs::read_to_string(path).map_err(Error::file(&path))?;
    let mut server = LanguageServer::start(program, path, &text)?;
    server.edit(&format!("{text}\n# 0\n"))?;
    let earlier = server.processor_time();
    let mut clock = Vec::new();
    for number in 1..=EDITS {
        // Each time the first expression has another text, with the same meaning.
        let edited = text.replacen("object.", &format!("object{}.", " ".repeat(number)), 1);
        clock.push(server.edit(&edited)?.as_nanos() as f64);
    }
    let spent = server.processor_time().saturating_sub(earlier);
    let clock = Spread::of(clock).ok_or("no edit was measured")?;
    Ok(EditCost {
        clock,
        processor: spent.as_nanos() as f64 / EDITS as f64,
    })
}

/// The largest files of manifests below a directory.
fn largest_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).map_err(Error::file(&directory))? {
            let entry = entry.map_err(Error::file(&directory))?;
            let (path, metadata) = (entry.path(), entry.metadata().map_err(Error::file(&directory))?);
            if metadata.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push((metadata.len(), path));
            }
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files.into_iter().take(EDITED).map(|(_, path)| path).collect())
}
