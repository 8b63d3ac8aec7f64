//! What static manifests are accepted, and what a server says of those that are not.

use std::fs;

use pratique::Admission;
use pratique::FeatureGates;
use pratique::manifest::ManifestPlugin;

use crate::webhooks::{MUTATING, VALIDATING, webhook};
use crate::world::{file, mutating_policy, validating_policy};

const POLICIES: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

#[test]
fn the_list_of_tests_is_true() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let list = fs::read_to_string(format!("{root}/testdata/README.md")).unwrap();
    let rows = list.lines().filter(|line| line.starts_with("| `Test"));
    for row in rows {
        let ours = row.rsplit("| ").next().unwrap();
        let mut source = String::new();
        for name in ours.split('`').skip(1).step_by(2) {
            if !name.contains('/') {
                assert!(source.contains(&format!("fn {name}()")), "{name}: {row}");
                continue;
            }
            let path = match name.strip_prefix('…') {
                Some(rest) => format!("{root}/crates/pratique/tests/facade{rest}"),
                None if name.starts_with("load/") => format!("{root}/testdata/{name}"),
                None => format!("{root}/crates/{name}"),
            };
            source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}

/// What loading says: nothing, or the first fault.
fn said(plugin: ManifestPlugin, texts: &[&str]) -> String {
    let files: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| file(&format!("{index}.yaml"), text))
        .collect();
    match Admission::builder().files(files, plugin).load() {
        Ok(_) => String::new(),
        Err(errors) => errors.to_string(),
    }
}

#[track_caller]
fn check(plugin: ManifestPlugin, texts: &[&str], expected: &str) {
    let said = said(plugin, texts);
    assert_eq!(said.is_empty(), expected.is_empty(), "{said}");
    assert!(said.contains(expected), "{said}");
}

/// Policies, each with its binding, in a list.
fn list(text: &str) -> String {
    let items = text.split("---\n").filter(|item| !item.is_empty()).map(|item| {
        let lines: Vec<String> = item.lines().map(|line| format!("  {line}")).collect();
        lines.join("\n").replacen("  ", "- ", 1)
    });
    let items: Vec<String> = items.collect();
    format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n"))
}

#[test]
fn policies_and_bindings() {
    let policy = validating_policy("p.static.k8s.io", "true");
    let (alone, binding) = policy.rsplit_once("---\n").unwrap();
    check(POLICIES, &[], "");
    check(POLICIES, &[&policy], "");
    check(POLICIES, &[binding, alone], "");
    check(POLICIES, &[&list(&policy)], "");
    check(
        ManifestPlugin::MutatingAdmissionPolicy,
        &[&mutating_policy("m.static.k8s.io", "m", "Never")],
        "",
    );
    check(POLICIES, &[alone, alone], "duplicate name \"p.static.k8s.io\"");
    check(
        POLICIES,
        &[binding],
        "references policy \"p.static.k8s.io\" which does not exist",
    );
    check(
        POLICIES,
        &[&policy.replace("policyName: p.static.k8s.io", "policyName: p")],
        "static.k8s.io",
    );
    check(
        POLICIES,
        &[&policy.replace(
            "spec:\n",
            "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
        )],
        "paramKind",
    );
    check(
        POLICIES,
        &[&policy.replace(
            "{policyName",
            "{paramRef: {name: x, parameterNotFoundAction: Deny}, policyName",
        )],
        "paramRef",
    );
    check(
        POLICIES,
        &[&mutating_policy("m.static.k8s.io", "m", "Never")],
        "unsupported resource type *v1.MutatingAdmissionPolicy",
    );
}

#[test]
fn webhook_configurations() {
    for plugin in [MUTATING, VALIDATING] {
        let hook = webhook(plugin, "w.static.k8s.io", "null", "");
        let url = "{url: 'https://hooks.example.com/null'}";
        check(plugin, &[], "");
        check(plugin, &[&hook], "");
        check(plugin, &[&list(&hook)], "");
        check(plugin, &[&hook, &hook], "duplicate name \"w.static.k8s.io\"");
        let service = hook.replace(url, "{service: {name: s, namespace: n}}");
        check(plugin, &[&service], "clientConfig.service");
        check(
            plugin,
            &[&hook.replace(url, "{}")],
            "exactly one of url or service is required",
        );
        let policy = validating_policy("p.static.k8s.io", "true");
        check(
            plugin,
            &[&policy],
            "unsupported resource type *v1.ValidatingAdmissionPolicy",
        );
    }
    let mutating = webhook(MUTATING, "w.static.k8s.io", "null", "");
    check(
        VALIDATING,
        &[&mutating],
        "unsupported resource type *v1.MutatingWebhookConfiguration",
    );
}

#[test]
fn names() {
    let named = |name: &str| webhook(VALIDATING, name, "null", "");
    check(VALIDATING, &[&named("w.static.k8s.io")], "");
    check(VALIDATING, &[&named("''")], "name or generateName is required");
    check(
        VALIDATING,
        &[&named("w")],
        "must have a name ending with \".static.k8s.io\"",
    );
    check(
        VALIDATING,
        &[&named("w.static.k8s.io"), &named("w.static.k8s.io")],
        "duplicate name",
    );
    // Policies and their bindings do not share their names; kinds of webhooks do not meet.
    check(POLICIES, &[&validating_policy("p.static.k8s.io", "true")], "");
}

#[test]
fn directories() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap();
    let (empty, plain) = (format!("{root}/empty"), format!("{root}/plain"));
    fs::create_dir(&empty).unwrap();
    fs::write(&plain, "").unwrap();
    let check = |path: &str, gate: bool, expected: &str| {
        let configuration = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: ValidatingAdmissionPolicy\n  configuration:\n    \
             apiVersion: apiserver.config.k8s.io/v1\n    kind: ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: '{path}'\n"
        );
        let file = format!("{root}/admission.yaml");
        fs::write(&file, configuration).unwrap();
        let said = match Admission::builder()
            .feature_gates(FeatureGates::default().with("ManifestBasedAdmissionControlConfig", gate))
            .configuration(&file)
            .load()
        {
            Ok(_) => String::new(),
            Err(errors) => errors.to_string(),
        };
        assert_eq!(said.is_empty(), expected.is_empty(), "{path}: {said}");
        assert!(said.contains(expected), "{path}: {said}");
    };
    check("", true, "");
    check("", false, "");
    check(&empty, true, "");
    check(
        &empty,
        false,
        "requires the ManifestBasedAdmissionControlConfig feature gate to be enabled",
    );
    check("relative/path", true, "must be an absolute file path");
    check(&format!("{root}/nowhere"), true, "unable to read");
    check(&plain, true, "must be a directory");
}
