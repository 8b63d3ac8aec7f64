//! The module beside the engine: the same cases, the same decisions and texts.

use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_conformance::policy;
use pratique_harness::{Error, LineProcess, Transcript};
use serde_json::Value;

use crate::{case, source};

/// How many differences are shown.
const SHOWN: usize = 5;

/// Runs the cases of all directories.
pub(crate) fn all(module: &Path, directories: &[PathBuf], transcript: &mut Transcript) -> Result<(), Error> {
    let mut node = Command::new("node");
    node.arg("--stack-size=4000")
        .arg(source("tools/playground/lines.mjs"))
        .arg(source("bindings/javascript/engine.js"))
        .arg(module);
    let mut node = LineProcess::start(&mut node)?;
    for directory in directories {
        transcript.step(&directory.display().to_string(), compared(&mut node, directory));
    }
    Ok(())
}

fn compared(node: &mut LineProcess, directory: &Path) -> Result<String, Error> {
    let cases = pratique_conformance::cases_below(directory)?;
    let mut differences = Vec::new();
    for case in &cases {
        let name = case.get("name").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = difference(node, case)? {
            differences.push(format!("{name}: {why}"));
        }
    }
    let count = cases.len();
    match (count, differences.as_slice()) {
        (0, _) => Err("there are no cases".into()),
        (_, []) => Ok(format!("{count} of {count} cases agree")),
        (_, found) => {
            let agreed = count - found.len();
            let shown: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
            Err(format!("{agreed} of {count} cases agree\n{}", shown.join("\n")).into())
        }
    }
}

/// What the module says otherwise than the same code built for this machine, or than the engine through its own API.
fn difference(node: &mut LineProcess, case: &Value) -> Result<Option<String>, Error> {
    let request = case::request(case).to_string();
    node.send(&request)?;
    let of_module = node.receive()?;
    let here = pratique_wasm::answer(request.as_bytes());
    let here = String::from_utf8_lossy(&here);
    if of_module != here {
        return Ok(Some(format!(
            "the module answers\n  {of_module}\nand not\n  {here}"
        )));
    }
    let answer: Value = serde_json::from_str(&of_module).map_err(|error| error.to_string())?;
    let engine = policy::answer(case, None).map_err(|error| error.to_string());
    let outcome = case::outcome(&answer);
    let same = match (&outcome, &engine) {
        (Ok(outcome), Ok(engine)) => outcome == engine,
        (Err(_), Err(_)) => true,
        _ => false,
    };
    Ok((!same).then(|| format!("the answer is\n  {outcome:?}\nand the engine's\n  {engine:?}")))
}
