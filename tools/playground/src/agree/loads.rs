//! Cases of manifests: what is wrong with them on the page, and by `pratique check`.

use pratique_harness::ToolError;
use serde_json::{Value, json};

use super::CaseOutcome;
use super::command::CliProgram;
use super::module::WasmModule;

pub(super) fn compare(
    module: &mut WasmModule,
    program: &CliProgram,
    case: &Value,
) -> Result<CaseOutcome, ToolError> {
    let plugin = case.get("plugin").and_then(Value::as_str).unwrap_or_default();
    if !plugin.ends_with("AdmissionPolicy") {
        return Ok(CaseOutcome::Skipped("the page has policies alone"));
    }
    let case_files = case.get("files").and_then(Value::as_object);
    let files: Option<Vec<(String, String)>> = case_files
        .into_iter()
        .flatten()
        .map(|(name, text)| Some((format!("manifests/{name}"), text.as_str()?.to_owned())))
        .collect();
    let Some(files) = files.filter(|files| !files.is_empty()) else {
        return Ok(CaseOutcome::Skipped("the page has texts alone"));
    };
    let run = program.run(&files, &["check", "manifests"])?;
    let Some(output) = run.output else {
        return Ok(CaseOutcome::Skipped("the command asks for the plugin"));
    };
    // A directory has the manifests that are right in it.
    let is_manifest = |name: &str| {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        ["yaml", "yml", "json"].contains(&extension)
    };
    let mut policies: Vec<Value> = Vec::new();
    for (name, text) in &files {
        if is_manifest(name) {
            policies.push(json!({"path": name, "text": text}));
        }
    }
    let answer = match module.answer(&json!({"evaluate": {"policies": policies}}))? {
        Ok(answer) => answer,
        Err(why) => return Ok(CaseOutcome::Differs(why)),
    };
    let of_page = findings(&[answer], ["problems", "lints"]);
    let results = output.get("results").and_then(Value::as_array);
    let of_command = findings(results.map_or(&[], Vec::as_slice), ["problems", "warnings"]);
    Ok(if of_page == of_command {
        CaseOutcome::Agrees
    } else {
        CaseOutcome::Differs(format!(
            "the page has\n  {of_page:#?}\nand the command\n  {of_command:#?}"
        ))
    })
}

/// The findings: rule, severity, message, help and position of each, in order.
fn findings(of: &[Value], names: [&str; 2]) -> Vec<String> {
    let lists = of.iter().flat_map(|result| names.map(|name| result.get(name)));
    let members = lists.flatten().filter_map(Value::as_array).flatten();
    let describe = |finding: &Value| {
        let fields = ["rule", "severity", "message", "help"].map(|name| finding.get(name));
        let place = ["/location/file", "/location/start", "/location/end"].map(|path| finding.pointer(path));
        format!("{fields:?} {place:?}")
    };
    let mut descriptions: Vec<String> = members.map(describe).collect();
    descriptions.sort();
    descriptions
}
