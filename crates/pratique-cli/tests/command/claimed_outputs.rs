//! Files that a command writes: none of them is one that it reads, and no two outputs are one.

use std::fs::{self, File};
use std::process::Command;

use crate::project::POLICY;
use crate::support::Directory;

const SMALL: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: small}}\n";

const REPLACED: &str = "an output of this command would replace it";

fn directory() -> Directory {
    Directory::new()
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("policies/few.yaml", POLICY)
        .with("objects/small.yaml", SMALL)
        .with("objects/other.yaml", SMALL.replace("small", "other"))
        .with("audit.log", "\n")
        .with("report.json", "{}\n")
        .with("exceptions.yaml", "exceptions: []\n")
}

#[test]
fn an_input_is_not_replaced() {
    for (file, line) in [
        (
            "objects/small.yaml",
            "review objects/small.yaml -o yaml=objects/small.yaml",
        ),
        (
            "objects/small.yaml",
            "review objects --policies policies -o json=./objects/../objects/small.yaml",
        ),
        (
            "objects/small.yaml",
            "review objects --write-baseline objects/small.yaml",
        ),
        (
            "objects/small.yaml",
            "review objects/other.yaml --old objects/small.yaml -o sarif=objects/small.yaml",
        ),
        (
            "policies/few.yaml",
            "review objects --policies policies -o junit=policies/few.yaml",
        ),
        ("policies/few.yaml", "check policies -o sarif=policies/few.yaml"),
        (
            "policies/few.yaml",
            "scan objects --policies policies --report policies/few.yaml",
        ),
        (
            "objects/small.yaml",
            "scan objects --policies policies --metrics-file objects/small.yaml",
        ),
        (
            "exceptions.yaml",
            "scan objects --policies policies --exceptions exceptions.yaml -o json=exceptions.yaml",
        ),
        (
            "audit.log",
            "replay audit.log --policies policies -o json=audit.log",
        ),
        (
            "policies/few.yaml",
            "replay audit.log --policies policies --report policies/few.yaml",
        ),
        (
            "objects/small.yaml",
            "impact objects --old policies --policies policies --report objects/small.yaml",
        ),
        (
            "objects/small.yaml",
            "upgrade objects --from 1.35 --to 1.36 -o json=objects/small.yaml",
        ),
        ("report.json", "report merge report.json --report report.json"),
    ] {
        let directory = directory();
        let path = directory.path().join(file);
        let before = fs::read(&path).unwrap();
        let run = directory.run(&line.split(' ').collect::<Vec<_>>());
        // Policies that cannot be read fail some commands, others do not evaluate anything.
        assert!(matches!(run.code, Some(1 | 2)), "{run}");
        assert!(run.to_string().contains(REPLACED), "{run}");
        assert_eq!(fs::read(&path).unwrap(), before, "{run}");
    }
}

#[cfg(unix)]
#[test]
fn links_lead_to_inputs() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    std::os::unix::fs::symlink(path("objects/small.yaml"), path("link.yaml")).unwrap();
    let run = directory.run(&["review", "link.yaml", "-o", "json=objects/small.yaml"]);
    run.exits(2).stderr_has(REPLACED);
    assert_eq!(fs::read_to_string(path("objects/small.yaml")).unwrap(), SMALL);
}

#[test]
fn standard_input_is_not_replaced() {
    let directory = directory();
    let path = directory.path().join("objects/small.yaml");
    for (output, code) in [("objects/small.yaml", 2), ("objects/new.json", 0)] {
        let run = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(["review", "-", "-o", &format!("json={output}")])
            .current_dir(directory.path())
            .stdin(File::open(&path).unwrap())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{errors}");
        assert_eq!(errors.contains(REPLACED), code == 2, "{errors}");
        assert_eq!(fs::read_to_string(&path).unwrap(), SMALL);
    }
}

#[test]
fn the_project_file_is_not_replaced() {
    let project =
        "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\ninputs: [objects]\n";
    let directory = directory().with("pratique.yaml", project);
    let run = directory.run(&["review", "-o", "json=pratique.yaml"]);
    run.exits(2).stderr_has(REPLACED);
    let path = directory.path().join("pratique.yaml");
    assert_eq!(fs::read_to_string(path).unwrap(), project);
}

#[test]
fn outputs_are_several_files() {
    for line in [
        "review objects -o json=out --write-baseline out",
        "scan objects --policies policies --report out --metrics-file out",
        "scan objects --policies policies --report out -o json=./out",
        "scan objects --policies policies --checkpoint out -o json=out",
        "replay audit.log --policies policies --report out.html -o json=out.html",
    ] {
        let directory = directory();
        let run = directory.run(&line.split(' ').collect::<Vec<_>>());
        run.exits(2).stderr_has("two outputs would be written to it");
        assert!(!directory.path().join("out").exists(), "{run}");
    }
}

#[test]
fn what_is_kept_from_run_to_run_is_replaced() {
    let directory = directory();
    let first = [
        "review",
        "objects",
        "--policies",
        "policies",
        "--write-baseline",
        "baseline.json",
    ];
    directory.run(&first).exits(0);
    let again = [&first[..], &["--baseline", "baseline.json"]].concat();
    directory.run(&again).exits(0);
    // Nothing is in it that could be lost.
    #[cfg(unix)]
    directory
        .run(&[
            "review",
            "objects",
            "-o",
            "json=/dev/null",
            "--write-baseline",
            "/dev/null",
        ])
        .exits(0);
}

/// What an earlier run wrote among the inputs is replaced, as nothing is lost with it.
#[test]
fn reports_among_the_inputs_are_replaced() {
    let directory = directory();
    for line in [
        "scan . --policies policies --report out.json",
        "scan . --policies policies -o json=out.json",
        "review . --policies policies -o sarif=out.json",
        "review . --policies policies --write-baseline out.json",
    ] {
        let line: Vec<&str> = line.split(' ').collect();
        let first = directory.run(&line);
        let again = directory.run(&line);
        assert_eq!(again.code, first.code, "{first} {again}");
        assert!(!again.to_string().contains(REPLACED), "{again}");
        // A baseline is told as what it is, whoever writes it.
        let told = if line.contains(&"--write-baseline") {
            "configuration of a program"
        } else {
            "of this command"
        };
        assert!(again.to_string().contains(told), "{again}");
        fs::remove_file(directory.path().join("out.json")).unwrap();
    }
}
