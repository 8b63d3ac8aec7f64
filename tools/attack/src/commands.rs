//! The commands that users and pipelines run, with hostile inputs.

mod amounts;
mod clusters;
mod counting;
mod directories;
mod hidden;
mod links;
mod namespaces;
mod pull_request;
mod repositories;
mod scans;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pratique_benches::memory::kib;
use pratique_harness::ToolError;

use super::AttackScale;
use super::confined_program::{ControlGroup, FILES, MEMORY};
use super::files::{bomb, pipe};

/// A function that runs commands in a folder and returns a summary, or what went wrong.
type CommandAttack = fn(&Path, &Path, AttackScale) -> Result<String, ToolError>;

/// All tests of commands, with their names.
pub(super) const ALL: [(&str, CommandAttack); 32] = [
    ("names that steer terminals and pipelines", names),
    ("check of devices and pipes", devices),
    ("check of many aliases", aliases),
    ("check of a line with thousands of faults", faults),
    ("check of a long pattern", pattern),
    ("review of very many objects", amounts::objects),
    ("a suite that names other files", directories::paths),
    ("a text that nests", nested),
    ("input without end", amounts::endless),
    ("directories of very many files", directories::crowded),
    ("links that lead in circles", directories::circles),
    ("names that are no text", directories::names_of_bytes),
    ("a suite of very many tests", amounts::tests),
    (
        "a plugin that counts the reviews of everyone",
        counting::anonymous,
    ),
    ("a project file that runs a program", pull_request::programs),
    ("a project file that reaches out", pull_request::places),
    ("objects in a list of another kind", hidden::items),
    ("objects in files that are passed over", hidden::files),
    (
        "definitions that take the place of built-in kinds",
        hidden::definitions,
    ),
    ("a repository in the repository", repositories::bare),
    (
        "a repository in the repository, in a pipeline",
        repositories::pipeline,
    ),
    ("objects in lists of Kustomize", hidden::kustomize_lists),
    ("a namespace that a later input weakens", namespaces::later),
    ("links that a path names", links::named),
    ("links where reports are written", links::temporary),
    ("a pipe in a snapshot", snapshot),
    ("files that begin like an export of etcd", scans::exports),
    ("reports that count twice", scans::merged),
    ("forged checkpoints", scans::checkpoints),
    ("lengths of messages of an editor", amounts::messages),
    ("a list of equal policies", amounts::entries),
    ("a cluster without end", clusters::endless),
];

/// How long a command may take. They all do little; development builds are slow.
const PATIENCE: Duration = Duration::from_secs(120);

/// The outcome of a command.
struct CommandOutcome {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    took: Duration,
    /// The most memory that was seen, in KiB.
    memory: u64,
}

/// Runs a command in a folder, with little memory.
fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Result<CommandOutcome, ToolError> {
    run_with(program, folder, arguments, None)
}

/// Bytes that come at the standard input of a command again and again, for as long as it reads them.
#[derive(Clone, Debug)]
struct RepeatedInput {
    bytes: Vec<u8>,
    /// How often they come at most.
    times: usize,
}

/// Runs a command with standard input.
fn run_with(
    program: &Path,
    folder: &Path,
    arguments: &[&str],
    input: Option<RepeatedInput>,
) -> Result<CommandOutcome, ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let start = Instant::now();
    let group = ControlGroup::new();
    let mut child = group
        .command(program, FILES)
        .args(arguments)
        .current_dir(folder)
        .stdin(match input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let [stdout, stderr] = [
        child
            .stdout
            .take()
            .map(|stream| thread::spawn(move || read_all(stream))),
        child
            .stderr
            .take()
            .map(|stream| thread::spawn(move || read_all(stream))),
    ];
    if let (Some(mut stdin), Some(RepeatedInput { bytes, times })) = (child.stdin.take(), input) {
        // It ends when the command does.
        thread::spawn(move || (0..times).try_for_each(|_| stdin.write_all(&bytes)));
    }
    let mut memory = 0;
    let status = loop {
        // One that has ended has no memory.
        memory = memory.max(kib(&child.id().to_string(), "VmHWM").unwrap_or_default());
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().and_then(|()| child.wait()).map_err(failed)?;
            return Err(format!("`{}` took more than {PATIENCE:?}", arguments.join(" ")).into());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let outcome = CommandOutcome {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
        took: start.elapsed(),
        memory,
    };
    match outcome.status.code() {
        Some(0..=3) if outcome.memory << 10 <= MEMORY => Ok(outcome),
        _ => Err(format!("`{}`: {}", arguments.join(" "), outcome.summary()).into()),
    }
}

/// Checks that commands end with a clear error; returns the errors.
fn refused(program: &Path, folder: &Path, commands: &[[&str; 2]]) -> Result<String, ToolError> {
    let results = commands.iter().map(|command| {
        let summary = run(program, folder, command)?.refused();
        summary.map_err(|wrong| ToolError::from(format!("`{}`: {wrong}", command.join(" "))))
    });
    results
        .collect::<Result<Vec<_>, _>>()
        .map(|results| results.join("\n"))
}

fn read_all(mut stream: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    // What was read until an error is what there is.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

impl CommandOutcome {
    fn summary(&self) -> String {
        let first: String = self.stderr.lines().take(2).collect::<Vec<_>>().join("\n");
        let first: String = first.chars().take(300).collect();
        format!(
            "{} after {:.1?} with {} MiB and {} KB printed; {first}",
            self.status,
            self.took,
            self.memory >> 10,
            (self.stdout.len() + self.stderr.len()) >> 10
        )
    }

    /// Its tale, where it ended with an error that is clear.
    fn refused(self) -> Result<String, ToolError> {
        match self.status.code() {
            Some(1 | 2) if !self.stderr.is_empty() || !self.stdout.is_empty() => Ok(self.summary()),
            _ => Err(self.summary().into()),
        }
    }
}

/// Writes a file below a folder.
fn write(folder: &Path, name: &str, content: &str) -> Result<(), ToolError> {
    let path = folder.join(name);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(&path, content))
        .map_err(ToolError::file(&path))
}

/// Sequences that clear a screen, begin a line, begin a command of a pipeline, and reverse text.
const HOSTILE: &str = "x\n::error file=a::b\n##[command]c\u{1b}[2J\u{7}\u{9b}2J\u{202e}z\r::warning::d";

/// Names and messages that steer what shows them are shown as what they are.
fn names(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": HOSTILE, "namespace": HOSTILE, "labels": {HOSTILE: HOSTILE, "denied": HOSTILE}}, "spec": {"containers": []}});
    let unknown = serde_json::json!({"apiVersion": HOSTILE, "kind": HOSTILE, "metadata": {"name": HOSTILE}});
    let policy = serde_json::json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": HOSTILE, HOSTILE: 1}, "spec": {HOSTILE: HOSTILE, "validations": [{"expression": HOSTILE}]}});
    write(folder, "objects/pod.json", &pod.to_string())?;
    write(folder, "objects/unknown.json", &unknown.to_string())?;
    write(folder, "objects/name\u{1b}[2J\n::error::f.json", &pod.to_string())?;
    write(folder, "hostile/policy.json", &policy.to_string())?;
    write(folder, "good/policies.yaml", include_str!("policies.yaml"))?;
    write(
        folder,
        "suite.yaml",
        &serde_json::json!({"apiVersion": "pratique/v1alpha1", "kind": "Suite", "metadata": {"name": HOSTILE}, "policies": ["good"],
            "tests": [{"name": HOSTILE, "object": pod, "expect": "allowed"}]})
        .to_string(),
    )?;
    let mut runs = 0;
    for output in ["human", "github"] {
        for arguments in [
            &["review", "objects", "--manifests", "good"] as &[&str],
            &["review", "objects", "--manifests", "good", "--explain"],
            &["review", "objects"],
            &["check", "hostile"],
            &["test", "suite.yaml"],
        ] {
            let arguments = [arguments, &["--output", output]].concat();
            let outcome = run(program, folder, &arguments)?;
            for text in [&outcome.stdout, &outcome.stderr] {
                steers(text).map_err(|line| format!("`{}`: {line:?}", arguments.join(" ")))?;
            }
            runs += 1;
        }
    }
    Ok(format!("{runs} runs printed nothing that steers"))
}

/// A line that steers what shows it, if there is one. Commands of pipelines that we give are of one line, with our words.
fn steers(text: &str) -> Result<(), ToolError> {
    for line in text.split('\n') {
        let control = |letter: char| {
            letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let injected = ["::error file=a::b", "::warning::d", "::error::f", "##["];
        if line.chars().any(control) || injected.iter().any(|start| line.trim_start().starts_with(start)) {
            return Err(line.to_owned().into());
        }
    }
    Ok(())
}

/// Inputs that never end, or never begin, are refused at once.
fn devices(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    pipe(&folder.join("pipe.yaml"))?;
    fs::create_dir_all(folder.join("manifests")).map_err(|error| error.to_string())?;
    pipe(&folder.join("manifests/pipe.yaml"))?;
    refused(
        program,
        folder,
        &[
            ["check", "/dev/zero"],
            ["check", "manifests"],
            ["test", "/dev/zero"],
        ],
    )
}

/// Pipes in the directory of a snapshot, of the objects, and for the kubeconfig.
fn snapshot(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n";
    write(folder, "pod.yaml", pod)?;
    write(
        folder,
        "state/snapshot.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Snapshot\n",
    )?;
    pipe(&folder.join("state/namespaces.yaml"))?;
    fs::create_dir_all(folder.join("other")).map_err(|error| error.to_string())?;
    pipe(&folder.join("other/snapshot.yaml"))?;
    let mut results = Vec::new();
    for [flag, path] in [
        ["--snapshot", "state"],
        ["--snapshot", "other"],
        ["--objects", "state"],
        ["--kubeconfig", "other/snapshot.yaml"],
    ] {
        let result = run(program, folder, &["review", "pod.yaml", flag, path])?;
        if !result.stderr.contains("not a regular file") {
            return Err(format!("{flag} {path}: {}", result.summary()).into());
        }
        results.push(result.refused()?);
    }
    Ok(results.join("\n"))
}

fn aliases(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "manifests/bomb.yaml", &bomb())?;
    run(program, folder, &["check", "manifests"])?.refused()
}

/// Thousands of faults on one long line are reported in time that is linear in its length.
fn faults(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    let validations = "{expression: \")\"},".repeat(scale.size / 5);
    let manifest = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: a.static.k8s.io}}\n\
         spec: {{matchConstraints: {{}}, validations: [{validations}]}}\n"
    );
    write(folder, "manifests/faults.yaml", &manifest)?;
    run(program, folder, &["check", "manifests"])?.refused()
}

/// A pattern that is ten times as long takes about ten times as long.
fn pattern(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    let mut took = Vec::new();
    let counts = [scale.size / 100, scale.size / 10];
    for count in counts {
        let long = r"[\\w-\\W]".repeat(count);
        let manifest = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: a.static.k8s.io}}\n\
             spec:\n  matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]}}\n  \
             validations:\n  - expression: object.metadata.name.matches('{long}')\n"
        );
        write(folder, "manifests/pattern.yaml", &manifest)?;
        took.push(run(program, folder, &["check", "manifests"])?.took);
    }
    let text = format!("{counts:?} times a class: {took:.1?}");
    match took.as_slice() {
        [short, long]
            if *long < *short * 30 + Duration::from_secs(if scale.measures_time { 1 } else { 30 }) =>
        {
            Ok(text)
        }
        _ => Err(text.into()),
    }
}

/// Brackets by the hundred thousand.
fn nested(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "manifests/nested.yaml", &"[".repeat(500_000))?;
    write(folder, "nested.json", &"{\"a\":".repeat(200_000))?;
    refused(
        program,
        folder,
        &[
            ["check", "manifests"],
            ["review", "nested.json"],
            ["test", "nested.json"],
        ],
    )
}
