//! Names and messages with line breaks, terminal controls and commands of CI runners are escaped by every command in
//! every format, on both streams.

use std::path::PathBuf;

use pratique_state::yaml;
use pratique_types::is_nonprinting;

use crate::support::{Directory, Run};

/// A hostile text.
const HOSTILE: &str = "x\n::set-output name=a::b\n \t::stop-commands::c\r##[add-mask]d\u{1b}[2J\u{1b}[1;32m\u{9b}2J\u{7f}\
    \u{202e}\u{2066}\u{200b}\u{2028}::set-env::\u{85}\u{feff}y";

/// A hostile text for file names, which have no slash and a limited length.
const FILE: &str = "n\n::set-output name=a::b\n\u{1b}[2J\u{9b}\u{202e}##[add-mask]";

/// The hostile text as a YAML value.
fn quoted(text: &str) -> String {
    yaml::format_string(text)
}

fn policy(kind: &str, name: &str, spec: &str) -> String {
    let (name, label) = (quoted(name), quoted(HOSTILE));
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{a: {label}}}}}\n\
         spec:\n  matchConstraints:\n    resourceRules:\n    \
         - {{apiGroups: [\"\"], apiVersions: [v1], operations: [\"*\"], resources: [pods]}}\n{spec}---\n"
    )
}

fn binding(kind: &str, name: &str, more: &str) -> String {
    let name = quoted(name);
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}Binding\nmetadata: {{name: {name}}}\n\
         spec: {{policyName: {name}{more}}}\n---\n"
    )
}

/// Policies that load, with hostile messages.
fn policies() -> String {
    let cel = serde_json::to_string(HOSTILE).unwrap();
    let expression = |text: &str| quoted(text);
    let spec = format!(
        "  variables:\n  - {{name: said, expression: {said}}}\n  validations:\n  - {{expression: {no}, message: {message}}}\n  \
         - {{expression: {no}, messageExpression: variables.said}}\n  - {{expression: {fails}}}\n  \
         auditAnnotations:\n  - {{key: k, valueExpression: variables.said}}\n",
        said = expression(&cel),
        no = expression(&format!(
            "object.metadata.name == '' && {cel} != ''\n  && object.kind != {cel}"
        )),
        message = quoted(&HOSTILE.replace(['\n', '\r'], " ")),
        fails = expression(&format!("object.metadata.labels[{cel} + 'z'] == 'a'")),
    );
    let kind = "ValidatingAdmissionPolicy";
    policy(kind, "say.static.k8s.io", &spec)
        + &binding(kind, "say.static.k8s.io", ", validationActions: [Deny, Audit]")
        + &policy(kind, "warn.static.k8s.io", &spec)
        + &binding(kind, "warn.static.k8s.io", ", validationActions: [Warn]")
        + &policy(kind, "unbound.static.k8s.io", &spec)
}

/// A policy that writes hostile values.
fn mutating() -> String {
    let cel = serde_json::to_string(HOSTILE).unwrap();
    let expression = format!("Object{{metadata: Object.metadata{{annotations: {{{cel}: {cel}}}}}}}");
    let spec = format!(
        "  failurePolicy: Fail\n  reinvocationPolicy: Never\n  mutations:\n  \
         - {{patchType: ApplyConfiguration, applyConfiguration: {{expression: {}}}}}\n",
        quoted(&expression)
    );
    let kind = "MutatingAdmissionPolicy";
    policy(kind, "write.static.k8s.io", &spec) + &binding(kind, "write.static.k8s.io", "")
}

/// Policies with errors in all fields that messages quote.
fn faulty() -> String {
    let hostile = quoted(HOSTILE);
    let spec = format!(
        "  failurePolicy: {hostile}\n  {hostile}: 1\n  {hostile}: 2\n  validations:\n  - {{expression: {hostile}, {hostile}: 1}}\n  \
         - {{expression: \"object.\\n  x(\\e[2J\"}}\n"
    );
    policy("ValidatingAdmissionPolicy", HOSTILE, &spec)
        + &binding("ValidatingAdmissionPolicy", HOSTILE, "")
        + &format!("kind: {hostile}\napiVersion: {hostile}\n---\n{hostile}: [\n")
}

fn pod() -> String {
    let hostile = quoted(HOSTILE);
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {hostile}, namespace: {hostile}, labels: {{{hostile}: {hostile}}}}}\n\
         spec: {{containers: [{{name: {hostile}, image: {hostile}, {hostile}: 1}}]}}\n"
    )
}

fn suite(policies: &str) -> String {
    let hostile = quoted(HOSTILE);
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}";
    format!(
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: {hostile}}}\npolicies: [{policies}]\ntests:\n\
         - {{name: {hostile}, object: {pod}, expect: allowed}}\n\
         - {{name: {hostile}, object: {pod}, expect: {{verdict: denied, message: {hostile}, policy: {hostile}}}}}\n\
         - {{name: {hostile}, object: {pod}, user: {hostile}, namespace: {hostile}, each: [{{name: {hostile}, expect: denied}}]}}\n\
         - {{name: {hostile}, object: {{kind: {hostile}, apiVersion: {hostile}}}, expect: allowed}}\n",
        policies = quoted(policies),
    )
}

fn directory() -> Directory {
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {name}\ncontexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\n",
        name = quoted(HOSTILE)
    );
    let configuration = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: {name}\n  path: {name}\n\
         - name: ValidatingAdmissionPolicy\n  path: {name}\n",
        name = quoted(HOSTILE)
    );
    let webhooks = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: {name}}}\n\
         webhooks: [{{name: {name}, clientConfig: {{url: {name}}}, sideEffects: {name}, rules: [{{resources: [{name}]}}]}}]\n",
        name = quoted(HOSTILE)
    );
    Directory::new()
        .with(&format!("good{FILE}/p{FILE}.yaml"), policies())
        .with("mutating/p.yaml", mutating())
        .with(&format!("bad{FILE}/p{FILE}.yaml"), faulty())
        .with("webhooks/w.yaml", webhooks)
        .with(&format!("pod{FILE}.yaml"), pod())
        .with(&format!("broken{FILE}.yaml"), format!("{}: [\n", quoted(HOSTILE)))
        .with(&format!("suite{FILE}.yaml"), suite(&format!("good{FILE}")))
        .with("no-suite.yaml", suite(HOSTILE))
        .with("faulty-suite.yaml", suite(&format!("bad{FILE}")))
        .with("kubeconfig", kubeconfig)
        .with("configuration.yaml", configuration)
}

/// Checks that all output is visible, and has no commands for runners other than ours.
#[track_caller]
fn harmless(run: &Run, mentions: &str) {
    let all = run.to_string();
    assert!(all.contains(mentions), "{mentions:?} is not mentioned: {all:?}");
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let hidden = text
            .char_indices()
            .find(|(_, character)| *character != '\n' && is_nonprinting(*character));
        assert_eq!(hidden, None, "{stream} of {}: {text:?}", run.line);
        for line in text.lines() {
            let begun = line.trim_start();
            let command = begun.starts_with("::") && !is_ours(line);
            assert!(
                !command && !line.contains("##["),
                "{stream} of {}: {line:?}",
                run.line
            );
        }
    }
}

/// Whether a line is an annotation of ours.
fn is_ours(line: &str) -> bool {
    let levels = ["::error ", "::warning ", "::notice "];
    levels.iter().any(|level| line.starts_with(level)) && line.contains("title=")
}

fn each(directory: &Directory, arguments: &[&str], formats: &[&str], mentions: &str) {
    for format in formats {
        let all = [arguments, &["--output", format]].concat();
        harmless(&directory.run(&all), mentions);
    }
}

const CHECK: [&str; 5] = ["human", "json", "sarif", "junit", "github"];
const REVIEW: [&str; 3] = ["human", "json", "diff"];
const TEST: [&str; 4] = ["human", "json", "junit", "github"];

#[test]
fn check() {
    let directory = directory();
    let (good, bad) = (format!("good{FILE}"), format!("bad{FILE}"));
    for loads in [&good, "mutating"] {
        let run = directory.run(&["check", loads, "--allow", "warnings"]);
        run.exits(0);
    }
    each(&directory, &["check", &bad], &CHECK, "set-output");
    each(
        &directory,
        &["check", &good, "mutating", "--explain-cost"],
        &CHECK,
        "",
    );
    each(
        &directory,
        &["check", "webhooks", "configuration.yaml"],
        &CHECK,
        "set-output",
    );
    each(
        &directory,
        &["check", &good, "mutating", "--hash-only"],
        &["human", "json"],
        "set-output",
    );
    harmless(&directory.run(&["check", &bad, "--hash-only"]), "set-output");
    harmless(
        &directory.run_with(&["check", "-"], &(policies() + &faulty()), &[]),
        "set-output",
    );
    harmless(&directory.run(&["check", HOSTILE.trim_end()]), "set-output");
}

#[test]
fn review() {
    let directory = directory();
    let (good, bad, pod) = (
        format!("good{FILE}"),
        format!("bad{FILE}"),
        format!("pod{FILE}.yaml"),
    );
    let broken = format!("broken{FILE}.yaml");
    for more in [&[][..], &["--explain"], &["--bind", "--explain"]] {
        let arguments = [&["review", &pod, "--manifests", &good, "--as", HOSTILE], more].concat();
        each(&directory, &arguments, &REVIEW, "set-output");
        let arguments = [
            &["review", &pod, "--manifests", "mutating", "--as-group", HOSTILE],
            more,
        ]
        .concat();
        each(&directory, &arguments, &REVIEW, "set-output");
    }
    each(
        &directory,
        &["review", &pod, &broken, "--manifests", &good],
        &REVIEW,
        "set-output",
    );
    each(
        &directory,
        &["review", &pod, "--manifests", &bad],
        &REVIEW,
        "set-output",
    );
    each(
        &directory,
        &[
            "review",
            &pod,
            "--operation",
            "UPDATE",
            "--old",
            &pod,
            "--name",
            HOSTILE,
            "--subresource",
            HOSTILE,
        ],
        &REVIEW,
        "set-output",
    );
    harmless(&directory.run(&["review", HOSTILE]), "set-output");
    harmless(
        &directory.run(&["review", &pod, "--authorizer", &broken]),
        "set-output",
    );
    harmless(
        &directory.run(&[
            "review",
            &pod,
            "--admission-control-config-file",
            "configuration.yaml",
        ]),
        "set-output",
    );
}

#[test]
fn suites() {
    let directory = directory();
    let suite = format!("suite{FILE}.yaml");
    for more in [
        &[][..],
        &["--verbose", "--coverage"],
        &["--coverage-threshold", "100", "--bind"],
    ] {
        each(
            &directory,
            &[&["test", &suite][..], more].concat(),
            &TEST,
            "set-output",
        );
        each(
            &directory,
            &[&["test", "faulty-suite.yaml", "no-suite.yaml"][..], more].concat(),
            &TEST,
            "set-output",
        );
    }
    harmless(&directory.run(&["test", &suite, "--filter", HOSTILE]), "");
    harmless(&directory.run(&["test", HOSTILE]), "set-output");
    harmless(&directory.run(&["test", &suite, "--update"]), "set-output");
}

#[test]
fn serve_and_arguments() {
    let directory = directory();
    let bad = format!("bad{FILE}");
    let refused: &[&[&str]] = &[
        &["--plain-http", "--manifests", &bad],
        &[
            "--plain-http",
            "--admission-control-config-file",
            "configuration.yaml",
        ],
        &["--tls-cert-file", HOSTILE, "--tls-private-key-file", HOSTILE],
        #[cfg(feature = "kube")]
        &["--plain-http", "--kubeconfig", "kubeconfig", "--context", HOSTILE],
    ];
    for format in ["text", "json"] {
        for arguments in refused {
            let arguments = [&["serve", "--logging-format", format], *arguments].concat();
            harmless(&directory.run(&arguments), "set-output");
        }
    }
    let good = format!("good{FILE}");
    harmless(
        &directory.run(&["serve", "--print-webhook-configuration", "--manifests", &good]),
        "",
    );
    harmless(&directory.run(&["check", &format!("--{HOSTILE}")]), "set-output");
    harmless(&directory.run(&[HOSTILE]), "set-output");
    harmless(&directory.run(&["review", "--level", HOSTILE, "x"]), "set-output");
}

/// File names that are not UTF-8 are distinct, and the files are read.
#[test]
#[cfg(unix)]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStringExt as _;

    let name = |before: &str, byte: u8| {
        let mut name = before.as_bytes().to_vec();
        name.extend([byte, 0x1b]);
        name.extend(b".yaml");
        PathBuf::from(std::ffi::OsString::from_vec(name))
    };
    let directory = Directory::new();
    let write = |path: &PathBuf, text: &str| {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (byte, object) in [(0xfe, "first"), (0xff, "second")] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {object}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
        );
        write(&name("pods/a", byte), &pod);
        write(
            &name("policies/p", byte),
            &policies().replace("static.k8s.io", &format!("{object}.static.k8s.io")),
        );
        write(
            &name("suites/s", byte),
            &format!(
                "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: {object}}}\npolicies: [../policies]\ntests:\n\
                 - {{name: t, object: {}, expect: allowed}}\n",
                pod.replace('\n', " ")
                    .replace(
                        "apiVersion: v1 kind: Pod metadata",
                        "{apiVersion: v1, kind: Pod, metadata"
                    )
                    .replace("} spec", "}, spec")
                    .trim_end()
                    .to_owned()
                    + "}"
            ),
        );
    }
    let run = directory.run(&["check", "policies"]);
    harmless(&run, "policies/p\\xfe\\u{1b}.yaml:1:1");
    harmless(&run, "policies/p\\xff\\u{1b}.yaml:1:1");
    run.exits(0);
    let run = directory.run(&["review", "pods", "--manifests", "policies"]);
    harmless(&run, "pods/a\\xfe\\u{1b}.yaml:1:1: CREATE pods default/first");
    harmless(&run, "pods/a\\xff\\u{1b}.yaml:1:1: CREATE pods default/second");
    let run = directory.run(&["test", "suites"]);
    harmless(&run, "suites/s\\xfe\\u{1b}.yaml");
    harmless(&run, "suites/s\\xff\\u{1b}.yaml");
    let mut named = std::process::Command::new(env!("CARGO_BIN_EXE_pratique"));
    let run = named
        .current_dir(directory.path())
        .args(["review".into(), name("pods/a", 0xff)])
        .output()
        .unwrap();
    let shown = String::from_utf8(run.stdout).unwrap();
    assert!(
        shown.contains("pods/a\\xff\\u{1b}.yaml:1:1: CREATE pods default/second"),
        "{shown}"
    );
}
