//! `cargo xtask release add 1.39.0`: fetches a release of Kubernetes, writes its tables, records what its code says, runs the tests
//! that compare, and prints what differs from its neighbour.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use pratique_harness::{ToolError, cargo, entries, go, workspace};

use crate::tools::WorkspaceTool;

/// The first line of changes, which are none.
const NO_CHANGES: &str =
    "# Changes of the table of another release. Made by `cargo xtask codegen`; do not edit.\n";

/// Releases whose modules have versions of kinds that later ones have not: of `k8s.io/api`, and of two others.
const OLD_MODULES: [&str; 10] = [
    "k8s.io/api@v0.32.9",
    "k8s.io/api@v0.28.15",
    "k8s.io/api@v0.24.17",
    "k8s.io/api@v0.21.14",
    "k8s.io/apiextensions-apiserver@v0.21.14",
    "k8s.io/kube-aggregator@v0.21.14",
    "k8s.io/api@v0.20.15",
    "k8s.io/api@v0.19.16",
    "k8s.io/api@v0.18.19",
    "k8s.io/api@v0.17.17",
];

/// Suites of golden cases that the release's own code is asked. Those of other suites name what a release makes of them in tests that
/// are [compared](COMPARED), or are not about releases.
const ASKED: [&str; 4] = ["cel", "policy", "plugins", "validation"];

/// Packages whose tests compare with what was recorded, for every release.
const COMPARED: [&str; 7] = [
    "pratique-types",
    "pratique-schema",
    "pratique-objects",
    "pratique-request",
    "pratique-registry",
    "pratique-validation",
    "pratique-conformance",
];

/// Adds a release, or makes the one that there is anew.
pub(crate) fn add(arguments: &[OsString]) -> ExitCode {
    let version = match arguments {
        [version] => version.to_str().map(|version| version.trim_start_matches('v')),
        _ => None,
    };
    let Some(version) = version.filter(|version| version.split('.').count() >= 3) else {
        eprintln!("error: cargo xtask release add VERSION, such as 1.37.2");
        return ExitCode::from(2);
    };
    match KubernetesRelease::new(version).add() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// A release that is added.
struct KubernetesRelease {
    /// `1.39.0`
    version: String,
    /// `1.39`
    minor: String,
    /// The directory of what the programs of the release write.
    reflected: PathBuf,
}

impl KubernetesRelease {
    fn new(version: &str) -> Self {
        KubernetesRelease {
            version: version.to_owned(),
            minor: minor_of(version),
            reflected: workspace::root().join("target/kubernetes").join(version),
        }
    }

    fn add(&self) -> Result<(), ToolError> {
        self.write_stubs()?;
        self.reflect()?;
        let module = self.module("k8s.io/kubernetes")?;
        eprintln!("generating tables");
        run(codegen()?
            .args(["release", &self.version])
            .arg(&self.reflected)
            .arg("--discovery")
            .arg(module.join("api/discovery")))?;
        run(codegen()?
            .arg("lifecycle")
            .args(self.lifecycle_modules()?)
            .arg("--table")
            .arg(workspace::root().join("crates/pratique-types/data/removed.txt")))?;
        self.write_validation(&module)?;
        self.record()?;
        let (older, newer) = self.neighbours()?;
        run(codegen()?.args(["compare", &older, &newer]))?;
        let differs = self.ask_cases()?;
        eprintln!("comparing");
        let mut tests = cargo::command();
        tests.args(["test", "--quiet", "--no-fail-fast"]);
        tests.args(COMPARED.iter().flat_map(|package| ["--package", package]));
        run(tests.current_dir(workspace::root()))?;
        if differs {
            return Err("the release answers golden cases otherwise, as printed above".into());
        }
        Ok(())
    }

    /// Asks the release's own code the golden cases of each suite, and records the answers that are ours, too. It prints which are
    /// answered otherwise than by the latest release, and what is answered otherwise than here. Returns whether anything is.
    fn ask_cases(&self) -> Result<bool, ToolError> {
        let (mut differs, mut unasked) = (false, Vec::new());
        for suite in ASKED {
            eprintln!("asking the golden cases of {suite}");
            let arguments = ["golden", suite, "--record", "--kubernetes-version", &self.version];
            let mut differential = run_tool("differential", arguments.map(OsString::from))?;
            let status = differential.status().map_err(ToolError::program("cargo"))?;
            match status.code() {
                Some(0) => {}
                Some(1) => differs = true,
                // A preview may need modules that no proxy serves yet.
                Some(2) => unasked.push(suite),
                _ => return Err(format!("cargo xtask differential: {status}").into()),
            }
        }
        if !unasked.is_empty() {
            let suites = unasked.join(", ");
            eprintln!(
                "warning: golden cases of {suites} were not asked of Kubernetes {}, for the reasons above",
                self.version
            );
        }
        Ok(differs)
    }

    /// The program that writes the tables includes those of all releases that are listed: without its directory, one is as its
    /// neighbour.
    fn write_stubs(&self) -> Result<(), ToolError> {
        let data = workspace::root().join("crates/pratique-schema/data");
        let directory = data.join(&self.minor);
        let mut list = list()?.into_iter();
        let is_listed = list.any(|(version, base)| minor_of(&version) == self.minor && base != "-");
        if directory.is_dir() || !is_listed {
            return Ok(());
        }
        fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
        for name in changed_tables(&data, &self.minor)? {
            let table = directory.join(name);
            fs::write(&table, NO_CHANGES).map_err(ToolError::file(&table))?;
        }
        Ok(())
    }

    /// Runs the programs that read the release's own code.
    fn reflect(&self) -> Result<(), ToolError> {
        let documents = self.reflected.join("openapi");
        fs::create_dir_all(&documents).map_err(ToolError::file(&documents))?;
        eprintln!(
            "reading the schemes, the feature gates and the documents of Kubernetes {}",
            self.version
        );
        self.run_program(&[".".as_ref()], None, Some("objects.json"))?;
        self.run_program(&["./featuregates".as_ref()], None, Some("gates.json"))?;
        self.run_program(&["./registry".as_ref(), self.reflected.as_os_str()], None, None)?;
        self.run_program(&["./openapi".as_ref(), documents.as_os_str()], None, None)
    }

    /// Writes the tables of validation, of what programs print that read the release's sources.
    fn write_validation(&self, kubernetes: &Path) -> Result<(), ToolError> {
        let api = self.module("k8s.io/api")?;
        let machinery = self.module("k8s.io/apimachinery")?;
        let extensions = self.module("k8s.io/apiextensions-apiserver")?;
        let rules = self.read_sources("declarative", &[kubernetes, &api, &machinery], "rules.txt")?;
        let sources = [kubernetes, &machinery, &extensions, &api];
        let internal = self.read_sources("internaltypes", &sources, "internal.txt")?;
        run(codegen()?
            .args(["validation", &self.version])
            .arg("--rules")
            .arg(rules)
            .arg("--internal")
            .arg(internal))
    }

    /// Runs a program of `tools/go` that reads sources, and returns the file of what it prints.
    fn read_sources(&self, program: &str, sources: &[&Path], output: &str) -> Result<PathBuf, ToolError> {
        let path = self.reflected.join(output);
        let mut command = go::command(program);
        command.args(["run", "."]).args(sources);
        run(command.stdout(File::create(&path).map_err(ToolError::file(&path))?))?;
        Ok(path)
    }

    /// Records what the release says of values of `--feature-gates`, and what it makes of an object of each kind.
    fn record(&self) -> Result<(), ToolError> {
        eprintln!("recording");
        let tests = workspace::root().join("crates/pratique-schema/testdata");
        let answer = ["./featuregates", "answer", &self.version].map(AsRef::as_ref);
        self.run_program(&answer, Some(&tests.join("gates.txt")), Some("answers.txt"))?;
        let generate = ["./receive", "generate", &self.version].map(AsRef::as_ref);
        self.run_program(&generate, None, Some("receive.json"))?;
        let objects = workspace::root().join("testdata/objects");
        for (from, to) in [
            ("answers.txt", tests.join(format!("gates-{}.txt", self.minor))),
            (
                "receive.json",
                objects.join(format!("generated-{}.json", self.minor)),
            ),
        ] {
            fs::copy(self.reflected.join(from), &to).map_err(ToolError::file(&to))?;
        }
        Ok(())
    }

    /// Runs a program of `tools/go/objects` with the release.
    fn run_program(
        &self,
        program: &[&std::ffi::OsStr],
        input: Option<&Path>,
        output: Option<&str>,
    ) -> Result<(), ToolError> {
        let mut command = go::command_at(&self.version, "objects");
        command.arg("run").args(program);
        if let Some(input) = input {
            command.stdin(File::open(input).map_err(ToolError::file(input))?);
        }
        if let Some(output) = output {
            let path = self.reflected.join(output);
            command.stdout(File::create(&path).map_err(ToolError::file(&path))?);
        }
        run(&mut command)
    }

    /// The directory of a module of the release.
    fn module(&self, name: &str) -> Result<PathBuf, ToolError> {
        go::dependency_at(&self.version, "objects", name)
            .map_err(|error| format!("Kubernetes {}: {error}", self.version).into())
    }

    /// The directories of the modules whose types have lifecycles: of the newest release and the latest one that is out, and old ones.
    fn lifecycle_modules(&self) -> Result<Vec<PathBuf>, ToolError> {
        let list = list()?;
        let latest = list.iter().find(|(_, base)| base == "-");
        let mut releases: Vec<&str> = list
            .first()
            .into_iter()
            .chain(latest)
            .map(|(version, _)| version.as_str())
            .collect();
        releases.dedup();
        let mut directories = Vec::new();
        for release in releases {
            directories.push(KubernetesRelease::new(release).module("k8s.io/api")?);
        }
        let downloaded = Command::new("go")
            .args(["mod", "download", "-json"])
            .args(OLD_MODULES)
            .stderr(Stdio::inherit())
            .output()
            .map_err(ToolError::program("go"))?;
        if !downloaded.status.success() {
            return Err("old versions of the module k8s.io/api cannot be downloaded".into());
        }
        let text = String::from_utf8_lossy(&downloaded.stdout);
        let lines = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("\"Dir\": \""));
        directories.extend(lines.map(|line| PathBuf::from(line.trim_end_matches(',').trim_end_matches('"'))));
        Ok(directories)
    }

    /// The release and the one before it, or after it if it is the oldest: the older first.
    fn neighbours(&self) -> Result<(String, String), ToolError> {
        let list = list()?;
        let place = list.iter().position(|(version, _)| *version == self.version);
        let place = place.ok_or("the release is not listed")?;
        let at = |place: usize| list.get(place).map(|(version, _)| minor_of(version));
        Ok(match (at(place + 1), place.checked_sub(1).and_then(at)) {
            (Some(older), _) => (older, self.minor.clone()),
            (None, Some(newer)) => (self.minor.clone(), newer),
            (None, None) => (self.minor.clone(), self.minor.clone()),
        })
    }
}

/// The names of the tables that are stored as changes: those that another release has so.
fn changed_tables(data: &Path, minor: &str) -> Result<Vec<OsString>, ToolError> {
    let others = list()?.into_iter().filter(|(_, base)| base != "-");
    let mut others = others
        .map(|(version, _)| minor_of(&version))
        .filter(|other| other != minor);
    let other = others.next().ok_or("no other release is stored as changes")?;
    let paths = entries(&data.join(other))?;
    Ok(paths
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_owned()))
        .collect())
}

/// The versions that are listed, the newest first, each with the release whose tables it changes.
fn list() -> Result<Vec<(String, String)>, ToolError> {
    let path = workspace::root().join("crates/pratique-schema/data/releases.txt");
    let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines
        .map(|line| line.split_once(' ').unwrap_or((line, "-")))
        .map(|(version, base)| (version.to_owned(), base.to_owned()))
        .collect())
}

/// `1.39` of `1.39.0`
fn minor_of(version: &str) -> String {
    version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

/// The program that writes tables.
fn codegen() -> Result<Command, ToolError> {
    run_tool("codegen", [])
}

/// A tool of the workspace, at its top.
fn run_tool(task: &str, arguments: impl IntoIterator<Item = OsString>) -> Result<Command, ToolError> {
    let tool = WorkspaceTool::find(task).ok_or_else(|| format!("there is no tool {task}"))?;
    let mut command = tool.command("dev", arguments);
    command.current_dir(workspace::root());
    Ok(command)
}

fn run(command: &mut Command) -> Result<(), ToolError> {
    let name = command.get_program().display().to_string();
    let status = command.status().map_err(ToolError::program(&name))?;
    if status.success() {
        Ok(())
    } else {
        let arguments: Vec<_> = command
            .get_args()
            .map(|argument| argument.to_string_lossy())
            .collect();
        Err(format!("{name} {} failed", arguments.join(" ")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_the_tables_of_the_others() {
        let data = workspace::root().join("crates/pratique-schema/data");
        let of_oldest = changed_tables(&data, "1.34").unwrap();
        assert!(of_oldest.contains(&OsString::from("types.diff")), "{of_oldest:?}");
        assert_eq!(changed_tables(&data, "1.38").unwrap(), of_oldest);
    }
}
