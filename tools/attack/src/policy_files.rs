//! Files of `--policies` that are changed in every way that is no swap: what they deny before and after is denied meanwhile.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pratique_harness::{ToolError, outcome};

use super::AttackScale;
use super::attacked_server::{ServeOptions, ServedProgram};
use super::faults::FaultCase;
use super::reviews;

/// The changes, of the files of one server.
pub(super) const ALL: [FaultCase; 1] = [("policies of --policies written slowly", &[], written)];

/// The pause of a writer between two documents.
const PAUSE: Duration = Duration::from_millis(200);
/// The pause between two files of a change.
const BETWEEN_FILES: Duration = Duration::from_secs(1);
/// The pause between two changes: longer than the server waits for the rest of one.
const BETWEEN_CHANGES: Duration = Duration::from_secs(7);
/// How often all changes are made, at most.
const ROUNDS: usize = 2;

/// A policy that denies what usual clients do not send.
fn policy(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\n\
         spec:\n  matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], \
         operations: [CREATE]}}]}}\n  validations:\n  - expression: \"!('denied-by-files' in object.metadata.labels)\"\n"
    )
}

fn binding(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\n\
         spec: {{policyName: {name}, validationActions: [Deny]}}\n"
    )
}

/// A way to write the files of a directory that have a policy and its binding.
type FileChange = fn(&Path, &str) -> std::io::Result<()>;

const CHANGES: [(&str, FileChange); 6] = [
    ("the policy first, in place", |folder, name| {
        write_slowly(&folder.join("policy.yaml"), &[&policy(name), &binding(name)])?;
        write_slowly(&folder.join("binding.yaml"), &["# none\n"])
    }),
    ("the binding first, in place", |folder, name| {
        write_slowly(&folder.join("policy.yaml"), &[&binding(name), &policy(name)])
    }),
    ("removed and created", |folder, name| {
        fs::remove_file(folder.join("policy.yaml"))?;
        write_slowly(&folder.join("policy.yaml"), &[&policy(name), &binding(name)])
    }),
    ("moved to another file", |folder, name| {
        fs::remove_file(folder.join("policy.yaml"))?;
        write_slowly(&folder.join("moved.yaml"), &[&policy(name), &binding(name)])?;
        fs::rename(folder.join("moved.yaml"), folder.join("policy.yaml"))
    }),
    ("two files, the policy first", |folder, name| {
        put(&folder.join("policy.yaml"), &policy(name))?;
        thread::sleep(BETWEEN_FILES);
        put(&folder.join("binding.yaml"), &binding(name))
    }),
    ("two files, the binding first", |folder, name| {
        let other = format!("{name}-other");
        put(&folder.join("binding.yaml"), &binding(&other))?;
        thread::sleep(BETWEEN_FILES);
        put(&folder.join("policy.yaml"), &policy(&other))
    }),
];

/// Writes documents in place, with pauses before each.
fn write_slowly(path: &Path, documents: &[&str]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    for document in documents {
        thread::sleep(PAUSE);
        file.write_all(format!("---\n{document}").as_bytes())?;
    }
    Ok(())
}

/// Puts a whole file in place at once.
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    fs::write(path.with_extension("new"), text)?;
    fs::rename(path.with_extension("new"), path)
}

fn written(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let folder = options.state.join("policies");
    let failed = |error: std::io::Error| ToolError::from(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join("policy.yaml"), policy("first")).map_err(failed)?;
    fs::write(folder.join("binding.yaml"), binding("first")).map_err(failed)?;
    let path = folder.display().to_string();
    let mut served = ServedProgram::start(&ServeOptions {
        arguments: &["--policies", &path],
        ..*options
    })?;
    let over = AtomicBool::new(false);
    let (changed, reviewed) = thread::scope(|scope| {
        let reviewing = scope.spawn(|| review_until(&served, &over));
        let changed = change_all(&folder, scale);
        over.store(true, Ordering::Relaxed);
        (changed.map_err(failed), reviewing.join())
    });
    changed?;
    let (allowed, answers) = reviewed.map_err(|_| "a client panicked".to_owned())??;
    let text = format!(
        "{} ways to write them, {} times: {allowed} of {answers} answers allowed what is denied before and after\n{}",
        CHANGES.len(),
        rounds(scale),
        served.survived()?
    );
    outcome(allowed == 0 && answers > 0, text)
}

fn rounds(scale: AttackScale) -> usize {
    if scale.measures_time { ROUNDS } else { 1 }
}

fn change_all(folder: &Path, scale: AttackScale) -> std::io::Result<()> {
    for round in 0..rounds(scale) {
        for (index, (_, change)) in CHANGES.iter().enumerate() {
            change(folder, &format!("policy-{round}-{index}"))?;
            thread::sleep(BETWEEN_CHANGES);
        }
    }
    Ok(())
}

/// How many reviews were allowed of those that are to be denied, and how many were answered.
fn review_until(served: &ServedProgram, over: &AtomicBool) -> Result<(usize, usize), ToolError> {
    let mut review = reviews::pod(false);
    if let Some(labels) = review.pointer_mut("/request/object/metadata/labels") {
        *labels = serde_json::json!({"denied-by-files": "yes"});
    }
    let body = review.to_string();
    let mut client = served.connect()?;
    let (mut allowed, mut answers) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        let answer = client.post("/validate", &body)?;
        if answer.last {
            client = served.connect()?;
        }
        answers += 1;
        if answer.code == 200 && String::from_utf8_lossy(&answer.body).contains("\"allowed\":true") {
            allowed += 1;
        }
    }
    Ok((allowed, answers))
}
