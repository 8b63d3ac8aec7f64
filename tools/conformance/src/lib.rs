//! Runs recorded cases through the public API of the crates and compares decisions and messages.
//!
//! A directory has a folder for each suite, and in it a JSON array of cases for each area: `<suite>/<area>.json`. The runner
//! knows suites but no individual case; cases of a suite that is not implemented fail.

pub mod authorizer;
mod cel;
mod cel_value;
pub mod cluster;
pub mod compare;
mod defaults;
pub mod fixture;
mod load;
mod outcome;
mod phases;
mod plugins;
pub mod policy;
mod report;
mod server;
pub mod spec;
mod validation;
mod webhook;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pratique_harness::{ToolError, entries};
use pratique_schema::Release;
use serde_json::Value;

pub use outcome::CaseOutcome;
pub use report::RunReport;
pub use validation::answer as validation_answer;

/// The arguments of `cargo xtask conformance`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConformanceArguments {
    /// The directory of suites.
    pub directory: PathBuf,
    /// Run this suite only.
    #[arg(long)]
    pub suite: Option<String>,
    /// Run this area only.
    #[arg(long)]
    pub area: Option<String>,
    /// Run the cases whose name contains this only.
    #[arg(long)]
    pub only: Option<String>,
    /// Write what every case gave to this file.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

/// Runs and prints; the exit code is 1 when a decision is wrong, 2 when the cases cannot be read.
pub fn run(arguments: &ConformanceArguments) -> ExitCode {
    let report = match report(arguments) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    print!("{report}");
    if let Some(path) = &arguments.json
        && let Err(error) = fs::write(path, report.to_json().to_string())
    {
        eprintln!("error: {}: {error}", path.display());
        return ExitCode::from(2);
    }
    if report.passed_all() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs all cases that the arguments select.
pub fn report(arguments: &ConformanceArguments) -> Result<RunReport, ToolError> {
    let mut report = RunReport::default();
    for suite in entries(&arguments.directory)?
        .into_iter()
        .filter(|path| path.is_dir())
    {
        let suite_name = stem(&suite);
        if arguments.suite.as_ref().is_some_and(|only| *only != suite_name) {
            continue;
        }
        for file in entries(&suite)? {
            let area = stem(&file);
            let wanted = file.extension().is_some_and(|extension| extension == "json")
                && arguments.area.as_ref().is_none_or(|only| *only == area);
            if !wanted {
                continue;
            }
            for case in cases(&suite_name, &file)? {
                let name = case
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                if arguments.only.as_ref().is_some_and(|only| !name.contains(only)) {
                    continue;
                }
                for (name, case) in of_releases(name, case) {
                    report.add(&suite_name, &area, name, run_case(&suite_name, &case));
                }
            }
        }
    }
    Ok(report)
}

/// A case once for each release whose server answers as it says; the others are those of the latest release. A release whose
/// tables are not known has no answers. Where servers do not answer alike, `answers` has what each group of them says.
fn of_releases(name: String, case: Value) -> Vec<(String, Value)> {
    if let Some(Value::Array(answers)) = case.get("answers") {
        return answers
            .iter()
            .flat_map(|answer| of_releases(name.clone(), with_answer(&case, answer)))
            .collect();
    }
    let Some(Value::Array(versions)) = case.get("kubernetesVersions") else {
        return vec![(name, case)];
    };
    let known = versions
        .iter()
        .filter_map(Value::as_str)
        .filter(|version| Release::by_version(version).is_ok());
    let of_version = |version: &str| {
        let mut case = case.clone();
        if let Some(members) = case.as_object_mut() {
            members.insert("kubernetesVersion".to_owned(), Value::from(version));
        }
        (format!("{name}@{version}"), case)
    };
    known.map(of_version).collect()
}

/// A case with the members of one of its answers as its own.
fn with_answer(case: &Value, answer: &Value) -> Value {
    let mut case = case.clone();
    if let (Some(members), Some(answer)) = (case.as_object_mut(), answer.as_object()) {
        members.remove("answers");
        members.extend(answer.clone());
    }
    case
}

/// The release of the server that answered a case.
pub fn release_of(case: &Value) -> &'static Release {
    let version = case.get("kubernetesVersion").and_then(Value::as_str);
    let named = version.and_then(|version| Release::by_version(version).ok());
    named.unwrap_or_else(Release::latest)
}

/// What is said of a case of one release beside what its `expect` says.
pub fn run_case(suite: &str, case: &Value) -> CaseOutcome {
    let run: fn(&Value) -> CaseOutcome = match suite {
        "cel" => cel::run_case,
        "defaults" => defaults::run_case,
        "load" => load::run_case,
        "phases" => phases::run_case,
        "plugins" => plugins::run_case,
        "policy" => policy::run_case,
        "server" => server::run_case,
        "validation" => validation::run_case,
        "webhook" => webhook::run_case,
        _ => return CaseOutcome::failed(case, "this suite is not implemented"),
    };
    catch_unwind(AssertUnwindSafe(|| run(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panicked");
        CaseOutcome::failed(case, &format!("panicked: {text}"))
    })
}

/// Another answer to a case beside what its `expect` says, as those of its suite are compared.
pub fn compare_answer(suite: &str, case: &Value, answer: Value) -> CaseOutcome {
    let expect = case.get("expect").unwrap_or(&Value::Null);
    match suite {
        "cel" => cel::compare(expect, answer),
        "plugins" => plugins::compare_answer(expect, answer),
        "policy" => policy::compare(expect, answer),
        "validation" => validation::compare(case, answer),
        _ => CaseOutcome::failed(case, "answers of this suite are not compared"),
    }
}

/// The cases of the JSON files in a directory.
///
/// # Errors
/// A file cannot be read, or has no cases.
pub fn cases_below(directory: &Path) -> Result<Vec<Value>, ToolError> {
    let files = entries(directory)?.into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut all = Vec::new();
    for file in files {
        all.extend(cases("policy", &file)?);
    }
    Ok(all)
}

fn cases(suite: &str, file: &Path) -> Result<Vec<Value>, ToolError> {
    let text = fs::read(file).map_err(ToolError::file(&file))?;
    let mut deserializer = serde_json::Deserializer::from_slice(&text);
    deserializer.disable_recursion_limit();
    let mut cases: Vec<Value> = serde::Deserialize::deserialize(&mut deserializer)
        .map_err(|error| ToolError::from(format!("{}: {error}", file.display())))?;
    if suite == "defaults" {
        defaults::add_bodies(&text, &mut cases)?;
    }
    Ok(cases)
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}
