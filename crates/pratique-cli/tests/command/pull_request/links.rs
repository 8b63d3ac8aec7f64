//! Links that a change brings along.

use std::fs;
use std::process::Command;

use super::{SECRET, SUITE, attack, repository};

/// Directories of the command line with links that lead out of their repository, and a command that walks them.
#[cfg(unix)]
const WALKED: &[(&str, &[&str])] = &[
    (
        "rendered/a.yaml",
        &["review", "rendered", "--policies", "policies"],
    ),
    ("rendered/a.yaml", &["scan", "rendered", "--policies", "policies"]),
    (
        "rendered/a.yaml",
        &[
            "review",
            "rendered",
            "--policies",
            "policies",
            "--old",
            "rendered",
        ],
    ),
    (
        "policies/a.yaml",
        &["review", "rendered", "--policies", "policies"],
    ),
    ("policies/a.yaml", &["check", "policies"]),
    (
        "policies/a.yaml",
        &["check", "policies", "--plugin", "ValidatingAdmissionPolicy"],
    ),
    (
        "policies/a.yaml",
        &["review", "rendered", "--manifests", "policies"],
    ),
    ("tests/a.yaml", &["test", "tests"]),
    ("logs/a.log", &["replay", "logs", "--policies", "policies"]),
];

#[test]
#[cfg(unix)]
fn links_that_are_found_do_not_lead_out_of_their_repository() {
    for (link, arguments) in WALKED {
        let repository = repository();
        let path = repository.path().join("repository").join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("../../outside/secret.yaml", &path).unwrap();
        let run = attack(&repository, arguments);
        assert!(!matches!(run.code, Some(0 | 3)), "{run}");
        run.shows(&["a link that leads out of its repository"]);
    }
    // One outside of a repository is followed.
    let repository = repository();
    let link = repository.path().join("outside/link.yaml");
    std::os::unix::fs::symlink("../repository/rendered/large.yaml", link).unwrap();
    fs::remove_file(repository.path().join("outside/secret.yaml")).unwrap();
    attack(&repository, &["review", "../outside", "--policies", "policies"]).exits(1);
}

/// Commands that name `linked`, which is a directory in the target of a change and a link in the change.
const NAMED: &[&[&str]] = &[
    &["review", "linked", "--policies", "policies"],
    &["review", "linked/secret.yaml", "--policies", "policies"],
    &["review", "rendered", "--policies", "linked"],
    &["review", "rendered", "--manifests", "linked"],
    &[
        "review",
        "rendered",
        "--policies",
        "policies",
        "--objects",
        "linked",
    ],
    &["review", "rendered", "--policies", "policies", "--old", "linked"],
    &["scan", "linked", "--policies", "policies"],
    &[
        "scan",
        "rendered",
        "--policies",
        "policies",
        "--objects",
        "linked",
    ],
    &["check", "linked"],
    &["test", "linked"],
    &[
        "scan",
        "rendered",
        "--policies",
        "policies",
        "--report",
        "linked/report.json",
    ],
    &["scan", "rendered", "--policies", "policies", "--report", "linked"],
    &[
        "scan",
        "rendered",
        "--policies",
        "policies",
        "--results",
        "linked/report.parquet",
    ],
    &[
        "scan",
        "rendered",
        "--policies",
        "policies",
        "--metrics-file",
        "linked/report.prom",
    ],
    &["replay", "linked", "--policies", "policies"],
];

#[test]
fn links_that_are_named_do_not_lead_out_of_their_repository() {
    for target in ["../outside", "../outside/secret.yaml", "../outside/new", ".git"] {
        for arguments in NAMED {
            let repository = repository();
            std::os::unix::fs::symlink(target, repository.path().join("repository/linked")).unwrap();
            let run = attack(&repository, arguments);
            assert!(!matches!(run.code, Some(0 | 3)), "{target}: {run}");
            // What is not there, and what is below a file, is told by whoever looks at it first.
            let is_told = [
                "a link that leads out of its repository",
                "Not a directory",
                "No such file",
            ]
            .iter()
            .any(|told| run.to_string().contains(told));
            assert!(is_told, "{target}: {run}");
        }
    }
}

#[test]
#[cfg(unix)]
fn suites_are_not_updated_through_links_that_lead_out() {
    let repository = repository();
    let wrong = SUITE.replace("denied", "allowed");
    let repository = repository.with("outside/suite.yaml", &wrong);
    let link = repository.path().join("repository/tests/linked.yaml");
    std::os::unix::fs::symlink("../../outside/suite.yaml", &link).unwrap();
    // The suites beside it are run, and updated.
    let run = attack(&repository, &["test", "tests", "--update"]);
    run.exits(1)
        .shows(&["a link that leads out of its repository", "1 not run"]);
    let kept = fs::read_to_string(repository.path().join("outside/suite.yaml")).unwrap();
    assert_eq!(kept, wrong);
    let named = ["test", "tests/linked.yaml", "--update"];
    attack(&repository, &named)
        .exits(2)
        .stderr_has("a link that leads out of its repository");
}

/// Files that commands write, and the names that they had until they were finished.
#[test]
#[cfg(unix)]
fn committed_links_are_not_written_through() {
    use std::os::unix::fs::PermissionsExt as _;

    let repository = repository();
    let script = |line: &str| {
        let output = Command::new("sh")
            .args(["-ec", line])
            .current_dir(repository.path().join("repository"))
            .env("PRATIQUE", env!("CARGO_BIN_EXE_pratique"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (written, flags) in [
        ("out.json", "--report=out.json"),
        ("out.html", "--report=out.html"),
        ("out.prom", "--metrics-file=out.prom"),
        ("out.parquet", "--results=out.parquet"),
    ] {
        // The shell's process becomes that of the command.
        let line = format!(
            "for name in {written}.$$.tmp .{written}.$$; do ln -sf ../outside/secret.yaml $name; done
             exec \"$PRATIQUE\" scan rendered --policies policies {flags}"
        );
        let log = script(&line);
        let path = repository.path().join("repository").join(written);
        let found = fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{written}: {error}: {log}"));
        assert!(found.is_file(), "{written} is still a link: {log}");
        // Whoever may read other files of this user may read it.
        assert_eq!(found.permissions().mode() & 0o600, 0o600, "{written}");
        let secret = fs::read_to_string(repository.path().join("outside/secret.yaml")).unwrap();
        assert_eq!(secret, SECRET, "{written}: {log}");
    }
    // Nothing is left of what was written in between.
    let left: Vec<_> = fs::read_dir(repository.path().join("repository"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".pratique-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
