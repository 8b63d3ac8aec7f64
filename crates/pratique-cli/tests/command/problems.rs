//! What `docs/problems.md` says of each problem, tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::Directory;

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: 'true'}]
";

const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p.static.k8s.io}
spec: {policyName: other.static.k8s.io, validationActions: [Deny]}
";

/// The problem of a file in the directory of a plugin; empty where it is valid.
fn rows() -> Vec<(&'static str, String)> {
    let with = |from: &str, to: &str| POLICY.replacen(from, to, 1);
    let other = with("p.static", "q.static");
    vec![
        // After `---` only blanks and a comment may follow on the line.
        ("document-separator", format!("{POLICY}--- oops\n")),
        ("", format!("{POLICY}---  # more\n{other}")),
        // YAML is that of version 1.1; JSON begins with a brace.
        ("syntax", "{a: b}\n".to_owned()),
        ("syntax", with("'true'", "!has(object.x)")),
        ("", with("'true'", "\"!has(object.x)\"")),
        ("syntax", with("\nkind", "\n\tkind")),
        // Nothing but comments counts as a document.
        ("missing-kind", format!("{POLICY}---\n# nothing\n")),
        ("missing-kind", with("kind: ValidatingAdmissionPolicy\n", "")),
        (
            "missing-kind",
            with("apiVersion: admissionregistration.k8s.io/v1\n", ""),
        ),
        // Kinds of the plugin, in v1, typed lists, and lists of them.
        (
            "unsupported-kind",
            with("Validating", "Mutating").replace("validations", "mutations"),
        ),
        ("unsupported-kind", with("k8s.io/v1", "k8s.io/v1beta1")),
        (
            "",
            format!(
                "apiVersion: v1\nkind: List\nitems:\n- {}",
                POLICY.trim_end().replace('\n', "\n  ")
            ),
        ),
        // Texts that YAML reads as something else.
        ("wrong-type", with("name: p.static.k8s.io", "name: yes")),
        ("wrong-type", with("'true'", "010")),
        ("wrong-type", with("[pods]", "pods")),
        ("unknown-field", with("validations", "validatons")),
        // A key that is given twice, also by a merge key.
        ("duplicate-field", format!("{POLICY}  validations: []\n")),
        (
            "duplicate-field",
            with("{expression", "{<<: {expression: a}, expression"),
        ),
        ("invalid-field", with("CREATE", "MAKE")),
        // Expressions that do not compile, or are of another type.
        ("invalid-expression", with("'true'", "'tru'")),
        ("invalid-expression", with("'true'", "'1'")),
        ("static-suffix", with("p.static.k8s.io", "p")),
        (
            "static-suffix",
            format!("{POLICY}---\n{}", BINDING.replace("other.static.k8s.io", "other")),
        ),
        ("duplicate-name", format!("{POLICY}---\n{POLICY}")),
        (
            "static-unsupported",
            with(
                "spec:\n",
                "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
            ),
        ),
        ("missing-policy", format!("{POLICY}---\n{BINDING}")),
    ]
}

#[test]
fn problems_are_what_the_page_says() {
    let mut wrong = Vec::new();
    for (problem, text) in rows() {
        let directory = Directory::new().with("policies/a.yaml", &text);
        let run = directory.run(&["check", "--plugin", "ValidatingAdmissionPolicy", "policies"]);
        let (code, expected) = match problem {
            "" => (0, "policies: valid".to_owned()),
            problem => (1, format!("[{problem}]")),
        };
        if run.code != Some(code) || !run.to_string().contains(&expected) {
            wrong.push(format!("expected {expected} of\n{text}\n{run}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Each section of the page is tried, here or where files and configurations are, or by the language server, which is about objects, too.
#[test]
fn all_problems_are_tried() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/problems.md");
    let page = fs::read_to_string(page).unwrap();
    let sections: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let rows = rows();
    let tried = rows
        .iter()
        .map(|(problem, _)| *problem)
        .filter(|problem| !problem.is_empty());
    let elsewhere = [
        "unreadable",
        "configuration",
        "unanswered-webhook",
        "dropped-field",
    ];
    let tried: BTreeSet<&str> = tried.chain(elsewhere).collect();
    assert_eq!(sections, tried);
}

/// Links are followed; one to a directory that has the name of a manifest is an error.
#[cfg(unix)]
#[test]
fn links_are_followed() {
    use std::os::unix::fs::symlink;

    let directory = Directory::new()
        .with("policy.yaml", POLICY)
        .with("policies/.keep", "");
    symlink("../policy.yaml", directory.path().join("policies/a.yaml")).unwrap();
    let check = || directory.run(&["check", "--plugin", "ValidatingAdmissionPolicy", "policies"]);
    let run = check();
    run.exits(0);
    symlink("..", directory.path().join("policies/b.yaml")).unwrap();
    let run = check();
    run.exits(1);
    assert!(run.to_string().contains("[unreadable]"), "{run}");
}
