//! Compares the module with the engine and the command: the same cases must give the same decisions and texts.

mod case;
mod command;
mod expressions;
mod loads;
mod module;
mod policies;
mod snapshot;

use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{StepTranscript, ToolError};
use serde_json::Value;

use command::CliProgram;
use module::WasmModule;

/// How many differences are shown.
const SHOWN: usize = 5;

/// The outcome of a case.
enum CaseOutcome {
    Agrees,
    Differs(String),
    /// The case needs a feature that the page does not have, with the reason.
    Skipped(&'static str),
}

type CompareFunction = fn(&mut WasmModule, &CliProgram, &Value) -> Result<CaseOutcome, ToolError>;

/// The suites of cases that are about what the page has, by the names of their directories.
const SUITES: [(&str, CompareFunction); 3] = [
    ("cel", expressions::compare),
    ("load", loads::compare),
    ("policy", policies::compare),
];

/// Runs the cases of all directories: those of one suite, or of several with a directory each.
pub(crate) fn compare_all(
    module: &Path,
    program: &Path,
    directories: &[PathBuf],
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    let mut module = WasmModule::start(module)?;
    let program = CliProgram::new(program)?;
    for directory in directories {
        let mut suites = suites(directory)?;
        suites.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (path, compare) in suites {
            let name = path.display().to_string();
            match compare {
                Some(compare) => transcript.step(
                    &name,
                    compared(&path, |case| compare(&mut module, &program, case)),
                ),
                None => transcript.skip(&name, "it is about what the page does not have"),
            }
        }
    }
    Ok(())
}

/// The directories of cases, each with how its cases are compared.
fn suites(directory: &Path) -> Result<Vec<(PathBuf, Option<CompareFunction>)>, ToolError> {
    let suite = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        let (_, compare) = SUITES.iter().find(|(known, _)| *known == name)?;
        Some(*compare)
    };
    if let Some(compare) = suite(directory) {
        return Ok(vec![(directory.to_owned(), Some(compare))]);
    }
    let mut suites = Vec::new();
    for entry in fs::read_dir(directory).map_err(ToolError::file(&directory))? {
        let path = entry?.path();
        if path.is_dir() {
            let compare = suite(&path);
            suites.push((path, compare));
        }
    }
    if suites.is_empty() {
        Err(format!("{}: there are no suites of cases", directory.display()).into())
    } else {
        Ok(suites)
    }
}

fn compared(
    directory: &Path,
    mut compare: impl FnMut(&Value) -> Result<CaseOutcome, ToolError>,
) -> Result<String, ToolError> {
    let cases = pratique_conformance::cases_below(directory)?;
    let (mut agreed, mut others, mut differences) = (0, std::collections::BTreeMap::new(), Vec::new());
    for case in &cases {
        let name = case.get("name").and_then(Value::as_str).unwrap_or_default();
        match compare(case)? {
            CaseOutcome::Agrees => agreed += 1,
            CaseOutcome::Skipped(why) => *others.entry(why).or_insert(0_usize) += 1,
            CaseOutcome::Differs(why) => differences.push(format!("{name}: {why}")),
        }
    }
    let count = agreed + differences.len();
    let others: String = others
        .iter()
        .map(|(why, count)| format!("\n{count} more: {why}"))
        .collect();
    match (count, differences.as_slice()) {
        (0, _) => Err("there are no cases".into()),
        (_, []) => Ok(format!("{count} of {count} cases agree{others}")),
        (_, listed_differences) => {
            let first_differences: Vec<&str> = listed_differences
                .iter()
                .take(SHOWN)
                .map(String::as_str)
                .collect();
            Err(format!(
                "{agreed} of {count} cases agree{others}\n{}",
                first_differences.join("\n")
            )
            .into())
        }
    }
}
