//! Files that a scan could take for something else, and reports and checkpoints that count wrong.

use std::path::Path;

use serde_json::Value;

use super::{AttackScale, CommandOutcome, run, write};
use pratique_harness::{ToolError, outcome};

const POLICIES: &str = include_str!("../policies.yaml");
const DENIED: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","labels":{"denied":"yes"}},"spec":{"containers":[{"name":"a","image":"b"}]}}"#;

fn scan(program: &Path, folder: &Path, arguments: &[&str]) -> Result<CommandOutcome, ToolError> {
    let arguments = [&["scan", "--policies", "policies.yaml"], arguments].concat();
    run(program, folder, &arguments)
}

/// A file that begins like an export of etcd, and goes on with a Pod: it is counted, or the file refused.
pub(super) fn exports(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies.yaml", POLICIES)?;
    let pod = DENIED.trim_start_matches('{');
    for (name, text) in [
        (
            "after.json",
            format!("{{\"header\":{{\"cluster_id\":1}},\"kvs\":[],\"count\":0}}\n{DENIED}\n"),
        ),
        (
            "within.json",
            format!("{{\"header\":{{\"cluster_id\":1}},{pod}\n"),
        ),
        (
            "around.json",
            format!("{{\"header\":{{\"cluster_id\":1}},\"kvs\":[],\"count\":0,{pod}\n"),
        ),
        ("cut.json", "{\"header\":{\"cluster_id\":1},\"kvs\":[".to_owned()),
    ] {
        write(folder, name, &text)?;
        let result = scan(program, folder, &[name])?;
        result
            .refused()
            .map_err(|error| ToolError::from(format!("{name}: {error}")))?;
    }
    Ok("4 files that begin like an export were read to their end or refused".to_owned())
}

/// Reports of the same file, written in two ways.
pub(super) fn merged(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies.yaml", POLICIES)?;
    write(folder, "a.ndjson", &format!("{DENIED}\n"))?;
    let absolute = folder.join("a.ndjson").display().to_string();
    for (report, input) in [
        ("1.json", "a.ndjson"),
        ("2.json", "./a.ndjson"),
        ("3.json", &absolute),
    ] {
        scan(program, folder, &["--report", report, input])?;
    }
    for other in ["2.json", "1.json"] {
        let result = run(program, folder, &["report", "merge", "1.json", other])?;
        if result.status.code() != Some(2) {
            return Err(format!("1.json and {other} count it twice: {}", result.summary()).into());
        }
    }
    let result = run(program, folder, &["report", "merge", "2.json", "3.json"])?;
    Ok(format!(
        "reports of a file written twice were refused; by an absolute path: {}",
        result.summary()
    ))
}

/// Changes a checkpoint.
type CheckpointForgery = fn(&mut Value);

/// Changes of a checkpoint by which a scan would leave out or repeat something.
const FORGERIES: [(&str, CheckpointForgery); 6] = [
    ("beyond the file", |checkpoint| {
        set(checkpoint, "at", serde_json::json!({"offset": 1_u64 << 40}))
    }),
    ("no such file", |checkpoint| set(checkpoint, "source", 7.into())),
    ("a place of a collection", |checkpoint| {
        set(checkpoint, "at", serde_json::json!({"list": {}}))
    }),
    ("within an object", |checkpoint| {
        set(checkpoint, "at", serde_json::json!({"offset": 5}))
    }),
    ("the beginning", |checkpoint| {
        set(checkpoint, "source", 0.into());
        set(checkpoint, "at", serde_json::json!({"offset": 0}));
    }),
    ("the beginning, with nothing before it", |checkpoint| {
        set(checkpoint, "source", 0.into());
        set(checkpoint, "at", serde_json::json!({"offset": 0}));
        set(checkpoint, "done", 0.into());
    }),
];

fn set(checkpoint: &mut Value, field: &str, value: Value) {
    if let Some(old) = checkpoint.get_mut(field) {
        *old = value;
    }
}

/// So many that a scan is killed in their midst.
const OBJECTS: usize = 5_000;

/// Checkpoints that say something else than the run which wrote them.
pub(super) fn checkpoints(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies.yaml", POLICIES)?;
    let objects = format!("{DENIED}\n").repeat(OBJECTS);
    write(folder, "a.ndjson", &objects)?;
    let arguments = [
        "--checkpoint",
        "kept.json",
        "--checkpoint-interval",
        "0",
        "-o",
        "json",
        "a.ndjson",
    ];
    let checkpoint = interrupted(program, folder, &arguments)?;
    for (name, forge) in FORGERIES {
        let mut forged = checkpoint.clone();
        forge(&mut forged);
        write(folder, "kept.json", &forged.to_string())?;
        let result = scan(program, folder, &arguments)?;
        if result.status.code() != Some(2) {
            return Err(format!("{name}: {}", result.summary()).into());
        }
    }
    write(folder, "kept.json", &checkpoint.to_string())?;
    let whole = scan(program, folder, &arguments)?;
    let report: Value = serde_json::from_str(&whole.stdout).unwrap_or_default();
    let denied = report.pointer("/tally/total/denied").and_then(Value::as_u64);
    outcome(
        usize::try_from(denied.unwrap_or_default()).is_ok_and(|denied| denied == OBJECTS),
        format!(
            "{} forged checkpoints were refused; with the true one {denied:?} of {OBJECTS} were denied: {}",
            FORGERIES.len(),
            whole.summary()
        ),
    )
}

/// The checkpoint of a scan that is killed in its midst.
fn interrupted(program: &Path, folder: &Path, arguments: &[&str]) -> Result<Value, ToolError> {
    let path = folder.join("kept.json");
    let failed = |error: std::io::Error| ToolError::from(format!("{}: {error}", program.display()));
    let mut child = std::process::Command::new(program)
        .args(["scan", "--policies", "policies.yaml"])
        .args(arguments)
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map_err(failed)?;
    let start = std::time::Instant::now();
    let mut text = String::new();
    while !text.contains("\"denied\":") && start.elapsed() < super::PATIENCE {
        std::thread::sleep(std::time::Duration::from_millis(1));
        // It is replaced as a whole, and not there at first.
        text = std::fs::read_to_string(&path).unwrap_or_default();
    }
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().map_err(failed)?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}
