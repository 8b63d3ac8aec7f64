//! What is written for CI servers runs: the steps of the action, the template of GitLab and the hooks of pre-commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Directory;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A definition as the server reads it.
fn definition(name: &str) -> Value {
    let text = fs::read(root().join(name)).unwrap();
    serde_json::from_str(&pratique_manifest::yaml_as_json(&text).unwrap()).unwrap()
}

/// A directory with policies that are fine, some that are not, and an object that is denied.
fn project() -> Directory {
    let samples = root().join("docs/samples");
    let sample = |name: &str| fs::read(samples.join(name)).unwrap();
    Directory::new()
        .with("policies/policy.yaml", sample("limits/policies/policy.yaml"))
        .with("policies/binding.yaml", sample("limits/policies/binding.yaml"))
        .with("param.yaml", sample("limits/param.yaml"))
        .with("a deployment.yaml", sample("limits/deployment.yaml"))
        .with("replicas/policy.yaml", sample("replicas/policies/policy.yaml"))
        .with("suites/suite.yaml", SUITE)
        .with(
            "broken/policy.yaml",
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nspec: 3\n",
        )
}

/// A test that passes, and one that fails.
const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
metadata: {name: replicas}
policies: [../replicas]
tests:
- name: five replicas
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 5}}
  each:
  - {name: are too many, expect: denied}
  - {name: will do, expect: allowed}
";

/// A run of the action's steps.
pub(crate) struct Action {
    pub(crate) codes: Vec<Option<i32>>,
    pub(crate) outputs: String,
    pub(crate) summary: String,
    pub(crate) log: String,
}

/// Runs the steps of the action that are shell, as a runner does: with inputs, and what earlier steps gave.
pub(crate) fn act(directory: &Directory, inputs: &[(&str, &str)]) -> Action {
    act_in(directory, "", inputs)
}

/// The same, where the repository is below the directory.
fn act_in(directory: &Directory, below: &str, inputs: &[(&str, &str)]) -> Action {
    let action = definition("action.yml");
    let [outputs, summary] = ["outputs", "summary"].map(|name| directory.path().join(name));
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let mut run = Action {
        codes: Vec::new(),
        outputs: String::new(),
        summary: String::new(),
        log: String::new(),
    };
    let value = |text: &str| -> String {
        let Some((_, rest)) = text.split_once("${{ ") else {
            return text.to_owned();
        };
        let (name, rest) = rest.split_once(" }}").unwrap();
        let value = if let Some(input) = name.strip_prefix("inputs.") {
            let given = inputs.iter().find(|(name, _)| *name == input);
            let default = || match action["inputs"][input]["default"].as_str().unwrap() {
                // The event of a push has no pull request.
                "${{ github.event.pull_request.base.sha }}" => String::new(),
                default => default.to_owned(),
            };
            given.map_or_else(default, |(_, value)| (*value).to_owned())
        } else if let Some(output) = name.strip_prefix("steps.install.outputs.") {
            let all = read(&outputs);
            let line = all
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{output}=")));
            line.unwrap().to_owned()
        } else {
            match name {
                "github.action_path" => root().display().to_string(),
                "runner.temp" => directory.path().display().to_string(),
                other => panic!("{other}"),
            }
        };
        format!("{value}{rest}")
    };
    for step in action["runs"]["steps"].as_array().unwrap() {
        let Some(script) = step["run"].as_str() else {
            continue;
        };
        assert_eq!(step["shell"], "bash");
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
        command.current_dir(directory.path().join(below));
        command.env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_OUTPUT", &outputs);
        command.env("GITHUB_STEP_SUMMARY", &summary);
        for (name, text) in step["env"].as_object().unwrap() {
            command.env(name, value(text.as_str().unwrap()));
        }
        let output = command.output().unwrap();
        run.codes.push(output.status.code());
        run.log += &both(&output);
    }
    run.outputs = read(&outputs);
    run.summary = read(&summary);
    run
}

fn both(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

const BINARY: &str = env!("CARGO_BIN_EXE_pratique");
const REVIEW: &str = "--policies\npolicies\n--objects\nparam.yaml\na deployment.yaml\n";

#[test]
fn the_action_annotates_reports_and_sums_up() {
    let directory = project();
    let run = act(
        &directory,
        &[
            ("binary", BINARY),
            ("commands", "check review"),
            ("check", "policies"),
            ("review", REVIEW),
        ],
    );
    assert_eq!(run.codes, [Some(0), Some(1)], "{}", run.log);
    assert!(
        run.log.contains("::error file=a deployment.yaml,line=1"),
        "{}",
        run.log
    );
    assert!(
        run.summary.contains("### pratique check: passed"),
        "{}",
        run.summary
    );
    assert!(
        run.summary.contains("### pratique review: failed"),
        "{}",
        run.summary
    );
    assert!(run.summary.contains("    0 allowed, 1 denied"), "{}", run.summary);
    for command in ["check", "review"] {
        let path = run
            .outputs
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{command}-sarif=")));
        let sarif: Value = serde_json::from_slice(&fs::read(path.unwrap()).unwrap()).unwrap();
        assert_eq!(sarif["version"], "2.1.0");
        let count = sarif["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(count, usize::from(command == "review"), "{sarif}");
    }
}

/// Who reads the summary sees which annotations a change does not show.
#[test]
fn a_summary_says_that_not_all_is_shown() {
    let mut directory = project();
    let sample = fs::read_to_string(directory.path().join("a deployment.yaml")).unwrap();
    for number in 0..11 {
        let other = sample.replacen("name: web", &format!("name: web-{number}"), 1);
        directory = directory.with(&format!("many/{number}.yaml"), other);
    }
    let review = REVIEW.replace("a deployment.yaml", "many");
    let given = [("binary", BINARY), ("commands", "review"), ("review", &review)];
    let run = act(&directory, &given);
    assert_eq!(run.codes, [Some(0), Some(1)], "{}", run.log);
    let told =
        "GitHub shows 10 annotations of each level beside a change: of 11 errors, all are in the log\n";
    assert!(run.summary.contains(&format!("    {told}")), "{}", run.summary);
    assert_eq!(run.log.matches(told).count(), 1, "{}", run.log);
}

#[test]
fn the_action_runs_suites() {
    let directory = project();
    let run = act(
        &directory,
        &[("binary", BINARY), ("commands", "test"), ("test", "suites\n")],
    );
    assert_eq!(run.codes, [Some(0), Some(1)], "{}", run.log);
    assert!(run.log.contains("::error file=suites/suite.yaml,"), "{}", run.log);
    assert!(
        run.summary.contains("### pratique test: failed"),
        "{}",
        run.summary
    );
    assert!(run.summary.contains("    1 passed, 1 failed"), "{}", run.summary);
    let report = run
        .outputs
        .lines()
        .find_map(|line| line.strip_prefix("test-junit="));
    let report = fs::read_to_string(report.unwrap()).unwrap();
    assert!(report.contains(r#"tests="2" failures="1""#), "{report}");
    let passing = [
        ("binary", BINARY),
        ("commands", "test"),
        ("test", "suites\n--filter\nare too many"),
    ];
    assert_eq!(act(&directory, &passing).codes, [Some(0), Some(0)]);
}

/// Packs this program as a release for the machine that the test runs on; gives where releases are.
fn release(directory: &Directory) -> String {
    let system = match std::env::consts::OS {
        "macos" => "apple-darwin",
        _ => "unknown-linux-musl",
    };
    let target = format!("{}-{system}", std::env::consts::ARCH);
    // Without symbols it is packed in less time; where they cannot be left out, it is packed with them.
    let script = format!(
        "strip -o pratique {BINARY} || cp {BINARY} pratique; {}/.ci/pack 9.8.7 {target} ./pratique releases/v9.8.7
         cd releases/v9.8.7; (sha256sum -- * || shasum -a 256 -- *) > ../SHA256SUMS; mv ../SHA256SUMS .",
        root().display()
    );
    let mut command = Command::new("sh");
    let packed = command
        .args(["-ec", &script])
        .current_dir(directory.path())
        .output();
    let packed = packed.unwrap();
    assert!(packed.status.success(), "{}", both(&packed));
    format!("file://{}", directory.path().join("releases").display())
}

#[test]
fn the_action_downloads_what_has_the_checksum_of_its_release() {
    let install = |directory: &Directory, releases: &str, version: &str| {
        let outputs = directory.path().join("outputs");
        let run = Command::new("bash")
            .arg(root().join("ci/install"))
            .current_dir(directory.path())
            .env("PRATIQUE_VERSION", version)
            .env("PRATIQUE_RELEASES", releases)
            .env("RUNNER_TEMP", directory.path())
            .env("GITHUB_OUTPUT", &outputs)
            .env_remove("PRATIQUE_BINARY")
            .output()
            .unwrap();
        let binary = fs::read_to_string(outputs).unwrap_or_default();
        (run.status.code(), both(&run), binary)
    };
    let directory = project();
    let releases = release(&directory);
    for version in ["9.8.7", "v9.8.7"] {
        let (code, log, binary) = install(&directory, &releases, version);
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains(env!("CARGO_PKG_VERSION")), "{log}");
        let unpacked = Path::new(binary.trim().strip_prefix("binary=").unwrap())
            .parent()
            .unwrap();
        for name in [
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "completions/pratique.bash",
            "completions/_pratique",
            "completions/pratique.fish",
            "completions/pratique.ps1",
            "man/pratique.1",
            "man/pratique-check.1",
        ] {
            let length = fs::metadata(unpacked.join(name)).unwrap().len();
            assert!(length > 0, "{name} is empty");
        }
        fs::remove_file(directory.path().join("outputs")).unwrap();
    }
    let refused = |version: &str| {
        let (code, log, binary) = install(&directory, &releases, version);
        assert!(code != Some(0) && binary.is_empty(), "{log}");
    };
    refused("9.8.6");
    let sums = directory.path().join("releases/v9.8.7/SHA256SUMS");
    let right = fs::read_to_string(&sums).unwrap();
    let (sum, name) = right.split_once("  ").unwrap();
    fs::write(&sums, format!("{}  {name}", "0".repeat(sum.len()))).unwrap();
    refused("9.8.7");
    fs::write(&sums, right.replace("pratique-", "another-")).unwrap();
    refused("9.8.7");
}

#[test]
fn the_action_runs_all_and_fails_as_what_matters_most() {
    let directory = project();
    let of = |inputs: &[(&str, &str)]| {
        let all: Vec<_> = [("binary", BINARY)]
            .into_iter()
            .chain(inputs.iter().copied())
            .collect();
        act(&directory, &all)
    };
    let run = of(&[("check", "policies")]);
    assert_eq!(run.codes[1], Some(0), "{}", run.log);
    let run = of(&[("check", "broken")]);
    assert_eq!(run.codes[1], Some(1), "{}", run.log);
    // Of what could not run there is no report, and what comes behind runs.
    let _ = fs::remove_file(directory.path().join("outputs"));
    let both = [
        ("commands", "check review"),
        ("check", "nowhere"),
        ("review", REVIEW),
    ];
    let run = of(&both);
    assert_eq!(run.codes[1], Some(1), "{}", run.log);
    assert!(!run.outputs.contains("check-sarif"), "{}", run.outputs);
    assert!(run.outputs.contains("review-sarif"), "{}", run.outputs);
    let run = of(&[("check", "nowhere")]);
    assert_eq!(run.codes[1], Some(2), "{}", run.log);
    let run = of(&[("commands", "serve")]);
    assert_eq!(run.codes[1], Some(2), "{}", run.log);
    // Arguments are no shell.
    let run = of(&[("check", "policies; touch ran\n$(touch ran)\n`touch ran`")]);
    assert_eq!(run.codes[1], Some(2), "{}", run.log);
    assert!(!directory.path().join("ran").exists());
    // A program that does not run is reported at once.
    let run = act(&directory, &[("binary", "/nowhere/pratique")]);
    assert_ne!(run.codes[0], Some(0));
}

#[test]
fn the_action_takes_flags_that_it_gives_itself() {
    let directory = project();
    for flag in ["-q", "--quiet", "--deny-only", "--all", "--detailed-results"] {
        let review = format!("{flag}\n{REVIEW}");
        let run = act(
            &directory,
            &[("binary", BINARY), ("commands", "review"), ("review", &review)],
        );
        assert_eq!(run.codes, [Some(0), Some(1)], "{flag}: {}", run.log);
    }
}

#[test]
fn the_action_gives_what_it_says() {
    let action = definition("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    for (name, output) in action["outputs"].as_object().unwrap() {
        let expected = format!("${{{{ steps.run.outputs.{name} }}}}");
        assert_eq!(output["value"], expected.as_str());
    }
    for step in action["runs"]["steps"].as_array().unwrap() {
        let Some(used) = step["uses"].as_str() else {
            continue;
        };
        let (_, version) = used.rsplit_once('@').unwrap();
        assert!(
            version.len() == 40 && version.chars().all(|c| c.is_ascii_hexdigit()),
            "{used} may become something else"
        );
        // Inputs are documented.
        let condition = step["if"].as_str().unwrap();
        assert!(condition.contains("inputs.upload == 'true'"), "{condition}");
    }
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    for name in action["inputs"].as_object().unwrap().keys() {
        assert!(
            page.contains(&format!("`{name}`")),
            "docs/ci.md does not name {name}"
        );
    }
}

/// The path on which `pratique` is the program that was built.
fn path_with_binary(directory: &Directory) -> String {
    let bin = directory.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let link = bin.join("pratique");
    if !link.exists() {
        std::os::unix::fs::symlink(BINARY, link).unwrap();
    }
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// The script of GitLab's template.
fn template_script() -> String {
    let job = &definition("ci/gitlab.yml")[".pratique"];
    let lines = job["script"].as_array().unwrap().iter();
    let lines: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
    lines.join("\n")
}

/// Runs GitLab's template in a directory, with the variables that a pipeline sets: the exit code and the log.
fn run_template(
    project: &Directory,
    working_directory: &Path,
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let job = &definition("ci/gitlab.yml")[".pratique"];
    let mut command = Command::new("sh");
    command.args(["-ec", &template_script()]);
    command.current_dir(working_directory);
    command.env("PATH", path_with_binary(project));
    for (name, default) in job["variables"].as_object().unwrap() {
        command.env(name, default.as_str().unwrap());
    }
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    (output.status.code(), both(&output))
}

#[test]
fn the_template_of_gitlab_runs() {
    let directory = project();
    let run = |given: &[(&str, &str)]| run_template(&directory, directory.path(), given);
    let (code, log) = run(&[
        ("PRATIQUE_COMMANDS", "check review"),
        ("CHECK_ARGUMENTS", "policies"),
        ("REVIEW_ARGUMENTS", REVIEW),
    ]);
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("0 allowed, 1 denied"), "{log}");
    for command in ["check", "review"] {
        let report = directory.path().join(format!("pratique-reports/{command}.xml"));
        assert!(fs::read_to_string(report).unwrap().contains("<testsuite"));
    }
    let (code, log) = run(&[("PRATIQUE_COMMANDS", "test"), ("TEST_ARGUMENTS", "suites")]);
    assert_eq!(code, Some(1), "{log}");
    let report = fs::read_to_string(directory.path().join("pratique-reports/test.xml")).unwrap();
    assert!(report.contains(r#"tests="2" failures="1""#), "{report}");
    assert_eq!(run(&[("CHECK_ARGUMENTS", "policies")]).0, Some(0));
    assert_eq!(run(&[("CHECK_ARGUMENTS", "nowhere")]).0, Some(2));
    assert_eq!(run(&[("PRATIQUE_COMMANDS", "serve")]).0, Some(2));
}

/// A clone of the last commit only, as servers make it, and the commit before, whose project file names what is denied.
fn shallow_clone() -> (Directory, String) {
    let directory = project();
    let git = |below: &str, arguments: &[&str]| {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.com",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(["-c", "uploadpack.allowAnySHA1InWant=true"])
            .args(arguments)
            .current_dir(directory.path().join(below))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", both(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let head = "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\n";
    let rules = "inputs: [a deployment.yaml]\nobjects: [param.yaml]\n";
    fs::write(directory.path().join("pratique.yaml"), format!("{head}{rules}")).unwrap();
    git("", &["init", "--quiet"]);
    git("", &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    git("", &["add", "."]);
    git("", &["commit", "--quiet", "-m", "target"]);
    let target = git("", &["rev-parse", "HEAD"]);
    git("", &["checkout", "--quiet", "-b", "change"]);
    let weak = format!("{head}{rules}review: {{operation: DELETE}}\n");
    fs::write(directory.path().join("pratique.yaml"), weak).unwrap();
    git("", &["commit", "--quiet", "--all", "-m", "change"]);
    let origin = format!("file://{}", directory.path().display());
    git(
        "",
        &[
            "clone",
            "--quiet",
            "--depth=1",
            "--branch=change",
            &origin,
            "clone",
        ],
    );
    (directory, target)
}

#[test]
fn the_action_takes_the_rules_of_the_target() {
    let (directory, target) = shallow_clone();
    let clone = Directory::new();
    fs::rename(directory.path().join("clone"), clone.path().join("clone")).unwrap();
    let of = |inputs: &[(&str, &str)]| {
        let all = [&[("binary", BINARY), ("commands", "review")], inputs].concat();
        act_in(&clone, "clone", &all)
    };
    // The change brings along a rule by which nothing is denied.
    let run = of(&[]);
    assert_eq!(run.codes[1], Some(0), "{}", run.log);
    assert!(run.log.contains("`review.operation` is DELETE"), "{}", run.log);
    let run = of(&[("project-file-from", &target)]);
    assert_eq!(run.codes[1], Some(1), "{}", run.log);
    assert!(
        run.log.contains(&format!("project file: {target}:pratique.yaml")),
        "{}",
        run.log
    );
    let run = of(&[("project-file-from", "nowhere")]);
    assert_eq!(run.codes[1], Some(2), "{}", run.log);
    assert!(run.log.contains("cannot be fetched"), "{}", run.log);
}

#[test]
fn the_template_of_gitlab_takes_the_rules_of_the_target() {
    let (directory, target) = shallow_clone();
    let (code, log) = run_template(
        &directory,
        &directory.path().join("clone"),
        &[
            ("PRATIQUE_COMMANDS", "review"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_PROJECT_DIR", directory.path().join("clone").to_str().unwrap()),
        ],
    );
    assert_eq!(code, Some(1), "{log}");
    assert!(
        log.contains(&format!("project file: {target}:pratique.yaml")),
        "{log}"
    );
}

/// A directory of the change that is a bare repository by its files: the working directory of the job. Its `config` names programs for
/// all that git does with it.
#[test]
fn a_committed_repository_is_not_asked() {
    let directory = project().with(".git/HEAD", "ref: refs/heads/main\n");
    let ran = directory.path().join("ran");
    let program = format!("touch '{}'", ran.display());
    let directory = directory
        .with("bare/HEAD", "ref: refs/heads/main\n")
        .with("bare/objects/.keep", "")
        .with("bare/refs/heads/.keep", "")
        .with(
            "bare/config",
            format!(
                "[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = \"{program}\"\nsshCommand = \"{program}\"\n\
                 [remote \"origin\"]\nurl = .\nuploadpack = \"{program};\"\n"
            ),
        );
    let bare = directory.path().join("bare");
    // It does what it says, where git is asked.
    let output = Command::new("git")
        .args(["-c", "safe.bareRepository=all", "fetch", "origin", "missing"])
        .current_dir(&bare)
        .output()
        .unwrap();
    assert!(ran.exists(), "{}", both(&output));
    fs::remove_file(&ran).unwrap();
    for revision in ["missing", "HEAD", "--upload-pack=touch ../ran"] {
        let output = Command::new("bash")
            .arg(root().join("ci/run"))
            .current_dir(&bare)
            .env("PATH", path_with_binary(&directory))
            .env("PRATIQUE_PROJECT_FILE_FROM", revision)
            .env("PRATIQUE_REPORTS", directory.path().join("reports"))
            .env("PRATIQUE_COMMANDS", "check")
            .env("CHECK_ARGUMENTS", "../policies")
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITHUB_OUTPUT")
            .env_remove("GITHUB_STEP_SUMMARY")
            .output()
            .unwrap();
        let log = both(&output);
        assert_eq!(output.status.code(), Some(2), "{revision}: {log}");
        assert!(!ran.exists(), "{revision} ran a program: {log}");
    }
}

#[test]
fn reports_are_not_written_through_links_of_a_change() {
    let script = |name: &str, directory: &Directory| {
        let mut command = match name {
            "ci/run" => Command::new("bash"),
            _ => Command::new("sh"),
        };
        match name {
            "ci/run" => command.arg(root().join("ci/run")),
            _ => command.args(["-ec", &template_script()]),
        };
        let output = command
            .current_dir(directory.path().join("change"))
            .env("PATH", path_with_binary(directory))
            .env("PRATIQUE_REPORTS", "pratique-reports")
            .env("PRATIQUE_COMMANDS", "check test")
            .env("CHECK_ARGUMENTS", "../policies")
            .env("TEST_ARGUMENTS", "../suites")
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITHUB_OUTPUT")
            .env_remove("GITHUB_STEP_SUMMARY")
            .output()
            .unwrap();
        both(&output)
    };
    for name in ["ci/run", "ci/gitlab.yml"] {
        // The directory, and files in it.
        for links in [
            &[("pratique-reports", "../outside")][..],
            &[
                ("pratique-reports/check.xml", "../../outside/check.xml"),
                ("pratique-reports/check.sarif", "../../outside/check.xml"),
                ("pratique-reports/test.xml", "../../outside/check.xml"),
                ("pratique-reports/test.junit", "../../outside/check.xml"),
            ],
        ] {
            let directory = project()
                .with("outside/check.xml", "precious")
                .with("change/file", "");
            for (link, target) in links {
                let link = directory.path().join("change").join(link);
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, link).unwrap();
            }
            let log = script(name, &directory);
            let outside: Vec<_> = fs::read_dir(directory.path().join("outside")).unwrap().collect();
            let precious = fs::read_to_string(directory.path().join("outside/check.xml")).unwrap();
            assert_eq!(
                (outside.len(), precious.as_str()),
                (1, "precious"),
                "{name}: {log}"
            );
            let written = fs::read_dir(directory.path().join("change/pratique-reports"))
                .unwrap()
                .count();
            assert!(written >= 2, "{name}: {log}");
        }
    }
}

#[test]
fn nothing_of_ci_trusts_the_project_file() {
    for file in ["action.yml", "ci/run", "ci/gitlab.yml", ".pre-commit-hooks.yaml"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(
            !text.contains("trust-project-file") && !text.contains("TRUST_PROJECT_FILE"),
            "{file}"
        );
    }
}

#[test]
fn the_hooks_of_pre_commit_run() {
    let directory = project()
        .with(
            "pratique.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\n",
        )
        .with(".git/HEAD", "");
    let hooks = definition(".pre-commit-hooks.yaml");
    let ids: Vec<&str> = hooks
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| hook["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["pratique", "pratique-check", "pratique-test"]);
    let run = |hook: &Value, arguments: &[&str]| {
        assert_eq!(hook["language"], "system");
        assert_eq!(hook["pass_filenames"], false);
        let mut words = hook["entry"].as_str().unwrap().split(' ');
        assert_eq!(words.next(), Some("pratique"));
        let output = Command::new(BINARY)
            .args(words)
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        (output.status.code(), both(&output))
    };
    let all = run(&hooks[0], &[]);
    assert_eq!(all.0, Some(0), "{}", all.1);
    let broken = run(&hooks[1], &["broken"]);
    assert_eq!(broken.0, Some(1), "{}", broken.1);
    assert_eq!(run(&hooks[2], &["suites"]).0, Some(1));
    assert_eq!(run(&hooks[2], &["suites", "--filter", "are too many"]).0, Some(0));
    // There are no suites.
    assert_eq!(run(&hooks[2], &["policies"]).0, Some(2));
}
