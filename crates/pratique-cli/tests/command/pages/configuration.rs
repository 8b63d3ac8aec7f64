//! What a project file may name, and what comes before it: `docs/configuration.md`.

use crate::story::{BINDING, POLICY, files};
use crate::support::Directory;

const HEAD: &str = "apiVersion: pratique/v1alpha1\nkind: Configuration\n";

/// A repository with policies, objects and this project file.
fn repository(project: &str) -> Directory {
    files(POLICY, BINDING)
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("pratique.yaml", format!("{HEAD}{project}"))
}

#[test]
fn a_variable_turns_a_switch_off() {
    let repository = repository("policies: [policies]\ninputs: [good.yaml]\nreview: {summary: true}\n");
    let run = repository.run(&["review"]);
    assert!(run.stdout.starts_with("no policy denies"), "{run}");
    let run = repository.run_with(&["review"], "", &[("PRATIQUE_SUMMARY", "false")]);
    assert!(run.stdout.starts_with("good.yaml:1:1: "), "{run}");
}

#[test]
fn lists_of_the_command_line_stand_instead() {
    let repository = repository("policies: [policies]\ninputs: [bad.yaml]\nallow: [unguarded-field]\n");
    assert_eq!(repository.run(&["review"]).code, Some(1));
    let run = repository.run(&["review", "good.yaml"]);
    assert!(run.code == Some(0) && !run.stdout.contains("bad.yaml"), "{run}");
}

#[test]
fn paths_lead_below_the_repository_but_for_those_of_servers() {
    let elsewhere = files(POLICY, BINDING);
    let path = elsewhere.path().join("policies");
    let policies = path.to_str().unwrap();
    let outside = |project: &str| {
        let repository = repository(project);
        std::os::unix::fs::symlink(policies, repository.path().join("link")).unwrap();
        repository
    };
    for project in [
        format!("check: {{paths: [{policies}]}}\n"),
        "policies: [link]\n".to_owned(),
        "suites: [link/suite.yaml]\n".to_owned(),
        "inputs: [../bad.yaml]\n".to_owned(),
    ] {
        let run = outside(&project).run(&["check", "policies"]);
        run.exits(2)
            .stderr_has("it is not below the root of the repository");
    }
    // Links within it are followed.
    let inner = repository("policies: [inner]\n");
    std::os::unix::fs::symlink("policies", inner.path().join("inner")).unwrap();
    assert_eq!(inner.run(&["check"]).code, Some(0));
    // What a server is given may be anywhere, if the file is trusted.
    let server = outside(&format!("serve: {{manifests: {policies}}}\n"));
    let run = server.run(&["serve", "--print-webhook-configuration"]);
    run.exits(2)
        .stderr_has("it is not below the root of the repository");
    let run = server.run(&["serve", "--print-webhook-configuration", "--trust-project-file"]);
    run.exits(0).stdout_has("resources:\n    - pods\n");
}

/// Of several exit codes, 1 counts before 2, and 2 before 3.
#[test]
fn what_matters_most_is_the_exit_code() {
    let undecided = POLICY.replace(
        "    message: privileged containers are not allowed",
        "  - expression: namespaceObject.metadata.labels.tier == 'gold'",
    );
    for (inputs, suites, code) in [
        ("good.yaml", "suite.yaml", 3),
        ("good.yaml", "nowhere.yaml", 2),
        ("bad.yaml", "nowhere.yaml", 1),
        ("nowhere.yaml", "fails.yaml", 1),
    ] {
        let suite = |expected: &str| {
            format!(
                "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policies]\ntests:\n\
                 - {{name: t, object: bad.yaml, expect: {expected}}}\n"
            )
        };
        let repository = repository(&format!(
            "policies: [policies]\ninputs: [{inputs}]\nsuites: [{suites}]\n"
        ))
        .with("policies/policy.yaml", &undecided)
        .with("suite.yaml", suite("denied"))
        .with("fails.yaml", suite("allowed"));
        let run = repository.run(&[]);
        run.exits(code);
    }
}
