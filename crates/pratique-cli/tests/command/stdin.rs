//! `pratique check -`: manifests among other objects on standard input.

use crate::story::{BINDING, CLEAN, CONFIGURATION, POLICY};
use crate::support::{Directory, Run};

const WEBHOOKS: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
    metadata: {name: w.static.k8s.io}\nwebhooks:\n- name: w.example.com\n  clientConfig: {url: 'https://w.example.com/'}\n  \
    rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
    admissionReviewVersions: [v1]\n  sideEffects: None\n";

fn check(arguments: &[&str], input: &str) -> Run {
    Directory::new().run_with(&[&["check"], arguments, &["-"]].concat(), input, &[])
}

#[test]
fn manifests_among_other_objects() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    let input = format!(
        "# Source: a\n---\n{CLEAN}---\n{POLICY}---\n# nothing\n---\n{BINDING}---\n{WEBHOOKS}---\n{service}---\n{CLEAN}"
    );
    check(&[], &input).is("check-stdin.txt");
}

#[test]
fn faults_are_those_of_files() {
    let unknown = POLICY.replace("validations:", "validatons:");
    let input = format!("{CLEAN}---\n{unknown}---\nkind: [\n---\n{WEBHOOKS}---\nmetadata: {{}}\n");
    check(&[], &input).is("check-stdin-faults.txt");
}

#[test]
fn lists_may_have_items_of_all_kinds() {
    let items = [CLEAN, POLICY, BINDING, WEBHOOKS].map(|item| {
        let lines = item.trim_start_matches("---\n").trim_end().lines();
        lines.collect::<Vec<_>>().join("\n  ")
    });
    let input = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", items.join("\n- "));
    let run = check(&[], &input);
    run.exits(0);
    for line in [
        "ValidatingAdmissionPolicy deny-privileged",
        "ValidatingWebhookConfiguration w.static.k8s.io",
    ] {
        run.stdout_has(line);
    }
    run.stderr_has("skipped 1 object of other kinds: Pod (1)");
}

#[test]
fn nothing_to_check_is_no_success() {
    for (input, among) in [
        ("", "in it\n"),
        (CLEAN, "among its 1 object: `pratique review` evaluates objects\n"),
    ] {
        let run = check(&[], input);
        run.exits(2);
        let expected = format!("no policy, binding or webhook configuration {among}");
        run.stderr_has(&expected);
    }
    let run = check(&[], CONFIGURATION);
    run.exits(2).stderr_has("give it as a file");
}

#[test]
fn a_plugin_that_is_named_has_all_of_it() {
    let plugin = ["--plugin", "ValidatingAdmissionPolicy"];
    let input = format!("{POLICY}---\n{BINDING}");
    let run = check(&plugin, &input);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    let run = check(&plugin, &format!("{input}---\n{CLEAN}"));
    run.exits(1).stdout_has("no kind \"Pod\" is registered");
}

#[test]
fn hashes_are_of_one_plugin() {
    let input = format!("{POLICY}---\n{BINDING}");
    let directory = Directory::new().with("policies/p.yaml", &input);
    let expected = directory.run(&["check", "--hash-only", "policies"]);
    assert_eq!(check(&["--hash-only"], &input).stdout, expected.stdout);
    let run = check(&["--hash-only"], &format!("{input}---\n{CLEAN}"));
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
}
