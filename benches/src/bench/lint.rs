//! What lints cost: `pratique check` of a directory with and without those that try policies over generated objects, and what
//! `pratique lsp` needs after each edit of its files: for what loading finds, and for what lints find.
//!
//! Time on processors decides, as the clock's has in it what else the machine does.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pratique_harness::ToolError;
use serde_json::json;

use super::language_server::{LanguageServer, StepTime};
use super::measured_program;
use super::scan::policies;
use super::table::{factor, time};
use super::{BenchArguments, build, print};
use pratique_harness::SampleSpread;

/// The lints that `check` is measured without: they generate objects, or ask each rule about other requests than those it names.
const NEWER: [&str; 15] = [
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
    "unchecked-text",
    "unconvertible-version",
    "unused-message",
];
/// The other lints that try policies over generated objects; `check` is measured without any of them as well.
const OLDER: [&str; 3] = ["cost-limit", "type-check", "unguarded-field"];
/// By how much the newer ones may make `check` slower.
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
pub(super) fn run(arguments: &BenchArguments) -> Result<(), ToolError> {
    let program = match &arguments.ours {
        Some(program) => program.with_file_name("pratique"),
        None => build::release("pratique")?,
    };
    let directory = match &arguments.policies {
        Some(directory) => directory.clone(),
        None => generated(arguments.seed)?,
    };
    let newer: Vec<&str> = NEWER.iter().flat_map(|lint| ["--allow", lint]).collect();
    let older = OLDER.iter().flat_map(|lint| ["--allow", lint]);
    let trying: Vec<&str> = newer.iter().copied().chain(older).collect();
    let rounds = arguments.rounds.max(1);
    let mut times = [f64::INFINITY; 3];
    for round in 0..rounds {
        eprint!("\rcheck: round {} of {rounds}", round + 1);
        for (least, allowed) in times.iter_mut().zip([&[], &*newer, &*trying]) {
            let spent = time_check(&program, &directory, allowed)?;
            *least = least.min(spent.as_nanos() as f64);
        }
    }
    eprintln!();
    let [all, without_newer, without_any] = times;
    let ratio = all / without_newer;
    let mut text = format!(
        "check {}: {} on processors, {} without the newer lints that try policies: {}; {} without any\n",
        directory.display(),
        time(all),
        time(without_newer),
        factor(ratio),
        time(without_any),
    );
    let mut edits = Vec::new();
    let mut left_out = Vec::new();
    for path in largest_files(&directory)? {
        let name = path
            .strip_prefix(&directory)
            .unwrap_or(&path)
            .display()
            .to_string();
        eprintln!("lsp: {name}");
        let Some(cost) = edit(&program, &path)? else {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  lsp: {name} has nothing to edit, and is left out");
            left_out.push(name);
            continue;
        };
        let EditCost { loaded, linted } = &cost;
        let _ = writeln!(
            text,
            "  lsp, an edit of {name}: loaded after {} ({} on processors), linted after {} ({} on processors)",
            time(loaded.clock.median),
            time(loaded.processor),
            time(linted.clock.median),
            time(linted.processor),
        );
        edits.push((name, cost));
    }
    if edits.is_empty() {
        return Err(format!("{}: no file can be edited", directory.display()).into());
    }
    let slowest = |step: fn(&EditCost) -> &StepCost| {
        let costs = edits.iter().map(|(_, cost)| step(cost).processor);
        costs.fold(0.0, f64::max)
    };
    let slowest = [
        ("what loading finds", slowest(|cost| &cost.loaded)),
        ("what lints find", slowest(|cost| &cost.linted)),
    ];
    let step =
        |cost: &StepCost| json!({"nanoseconds": cost.clock.median, "processorNanoseconds": cost.processor});
    let rows = edits.iter().map(
        |(name, cost)| json!({"file": name, "loaded": step(&cost.loaded), "linted": step(&cost.linted)}),
    );
    let numbers = json!({
        "bench": "lint", "processorNanoseconds": all, "processorNanosecondsWithoutNewer": without_newer,
        "processorNanosecondsWithoutAny": without_any, "edits": rows.collect::<Vec<_>>(), "leftOut": left_out,
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
    match slowest.iter().find(|(_, spent)| *spent > most) {
        Some((what, spent)) => Err(format!(
            "{what} after an edit needs {}; {} is allowed",
            time(*spent),
            time(most)
        )
        .into()),
        None => Ok(()),
    }
}

/// A directory with generated policies.
fn generated(seed: u64) -> Result<PathBuf, ToolError> {
    let directory = pratique_harness::workspace::target().join("bench-lint");
    policies::write(&directory, seed, POLICIES)?;
    Ok(directory)
}

/// The time on processors of one `check`, whose answer may be that something is wrong.
fn time_check(program: &Path, directory: &Path, options: &[&str]) -> Result<Duration, ToolError> {
    let output = pratique_harness::workspace::target().join("bench-lint.txt");
    let mut command = Command::new(program);
    command.arg("check").args(options).arg(directory);
    Ok(measured_program::run_text(&mut command, &output, &[0, 1])?.processor)
}

/// What an edit costs until its problems are published, and until the findings of lints are.
struct EditCost {
    loaded: StepCost,
    linted: StepCost,
}

/// What it costs until something is published.
struct StepCost {
    clock: SampleSpread,
    /// The median of the time on processors: another edit may fill a cache.
    processor: f64,
}

impl StepCost {
    fn new(times: &[StepTime]) -> Result<Self, ToolError> {
        let spread = |time: fn(&StepTime) -> Duration| {
            let times = times.iter().map(|step| time(step).as_nanos() as f64);
            SampleSpread::from_numbers(times).ok_or("no edit was measured")
        };
        Ok(StepCost {
            clock: spread(|step| step.clock)?,
            processor: spread(|step| step.processor)?.median,
        })
    }
}

/// Edits a file again and again, and waits for what is said of it each time. `None` for one in which there is nothing to edit.
fn edit(program: &Path, path: &Path) -> Result<Option<EditCost>, ToolError> {
    let text = fs::read_to_string(path).map_err(ToolError::file(&path))?;
    let mut server = LanguageServer::start(program, path, &text)?;
    let [mut loaded, mut linted] = [Vec::new(), Vec::new()];
    for number in 0..=EDITS {
        let Some(edited) = edited_text(&text, number + 1) else {
            return Ok(None);
        };
        let [first, second] = server.edit(&edited)?;
        // The first one is not counted: it takes what was read from the disk from there.
        if number > 0 {
            loaded.push(first);
            linted.push(second);
        }
    }
    Ok(Some(EditCost {
        loaded: StepCost::new(&loaded)?,
        linted: StepCost::new(&linted)?,
    }))
}

/// The text after an edit that keeps its meaning: the first expression about an object has more blanks, or the first specification a
/// comment. Each number gives another text.
fn edited_text(text: &str, number: usize) -> Option<String> {
    let edits = [
        ("object.", format!("object{}.", " ".repeat(number))),
        ("\nspec:\n", format!("\nspec: # {number}\n")),
    ];
    let edit = edits.iter().find(|(from, _)| text.contains(from));
    edit.map(|(from, to)| text.replacen(from, to, 1))
}

/// The largest files of manifests below a directory.
fn largest_files(directory: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).map_err(ToolError::file(&directory))? {
            let entry = entry.map_err(ToolError::file(&directory))?;
            let (path, metadata) = (
                entry.path(),
                entry.metadata().map_err(ToolError::file(&directory))?,
            );
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_edit_changes_the_file() {
        for text in [
            "spec:\n  expression: object.spec.x == object.spec.y\n",
            "kind: ValidatingAdmissionPolicyBinding\nspec:\n  policyName: a\n",
        ] {
            let edits: BTreeSet<String> = (1..=EDITS)
                .filter_map(|number| edited_text(text, number))
                .collect();
            assert_eq!(edits.len(), EDITS, "{text}");
            assert!(!edits.contains(text));
        }
        assert_eq!(edited_text("resources: [a.yaml]\n", 1), None);
    }

    #[test]
    fn generated_policies_are_edited() {
        let directory = std::env::temp_dir().join(format!("pratique-bench-lint-{}", std::process::id()));
        policies::write(&directory, 1, 3).unwrap();
        let files = largest_files(&directory).unwrap();
        assert!(!files.is_empty());
        for path in files {
            assert_ne!(
                edited_text(&fs::read_to_string(&path).unwrap(), 1),
                None,
                "{}",
                path.display()
            );
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    /// `--allow` of a lint that is not named here would measure what it is to be measured without.
    #[test]
    fn lints_that_try_policies_are_named() {
        let lints = pratique_harness::workspace::root().join("crates/pratique-lint/src/lints");
        let mut trying = BTreeSet::new();
        let mut all = BTreeSet::new();
        for entry in fs::read_dir(lints).unwrap() {
            let path = entry.unwrap().path();
            // Parts of a lint are in a directory of its name.
            if path.is_dir() {
                continue;
            }
            let code = fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().replace('_', "-");
            if ["observations()", "trials()", "context.work"]
                .iter()
                .any(|asks| code.contains(asks))
            {
                trying.insert(name.clone());
            }
            all.insert(name);
        }
        assert!(trying.len() > 10, "{trying:?}");
        let named: BTreeSet<String> = NEWER
            .iter()
            .chain(&OLDER)
            .map(|lint| (*lint).to_owned())
            .collect();
        assert_eq!(
            trying.difference(&named).collect::<Vec<_>>(),
            Vec::<&String>::new()
        );
        assert_eq!(named.difference(&all).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
