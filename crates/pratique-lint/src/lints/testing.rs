//! Manifests for tests, and what is found in them.

use pratique_manifest::{Loader, ManifestFile, ManifestSet, Options, Plugin, UncheckedExpressions};

use crate::lint::Lint;

/// A validating policy for pods with a binding that denies; `operations` and the rest of its `spec`.
pub(crate) fn policy(operations: &str, spec: &str) -> String {
    policy_for("''", "v1", "pods", operations, spec)
}

/// A validating policy for any resources, with a binding that denies.
pub(crate) fn policy_for(
    groups: &str,
    versions: &str,
    resources: &str,
    operations: &str,
    spec: &str,
) -> String {
    let spec = indented(spec);
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p.static.k8s.io}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [{groups}], apiVersions: [{versions}], resources: [{resources}], operations: [{operations}]}}
{spec}---
{BINDING}"
    )
}

/// The binding of these policies.
pub(crate) const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b.static.k8s.io}
spec: {policyName: p.static.k8s.io, validationActions: [Deny]}
";

/// A mutating policy for deployments with a binding.
pub(crate) fn mutation(kind: &str, expression: &str) -> String {
    let field = format!(
        "{}{}",
        kind.get(..1).unwrap_or_default().to_lowercase(),
        kind.get(1..).unwrap_or_default()
    );
    let field = field.replace("jSON", "json");
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: p.static.k8s.io}}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}}]
  mutations:
  - patchType: {kind}
    {field}: {{expression: \"{expression}\"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: b.static.k8s.io}}
spec: {{policyName: p.static.k8s.io}}
"
    )
}

/// Compares what a lint finds in manifests: for each finding the text that is underlined, and a part of the message.
#[track_caller]
pub(crate) fn check(lint: &'static Lint, manifests: &str, expected: &[(&str, &str)]) {
    let set = load(manifests);
    let found = crate::lint(&[&set]);
    let matching: Vec<_> = found.iter().filter(|warning| warning.lint == lint).collect();
    let shown: Vec<_> = matching
        .iter()
        .map(|warning| {
            let range = warning.location.start.offset..warning.location.end.offset;
            (manifests.get(range).unwrap(), warning.message.as_str())
        })
        .collect();
    let fits = |((text, message), (place, part)): (&(&str, &str), &(&str, &str))| {
        text == place && message.contains(part)
    };
    let all = shown.len() == expected.len() && shown.iter().zip(expected).all(fits);
    assert!(all, "expected {expected:#?}\nfound {shown:#?}\nin {manifests}");
}

/// Loads manifests of one plugin.
#[track_caller]
pub(crate) fn load(manifests: &str) -> ManifestSet {
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: manifests.as_bytes().to_vec(),
    };
    let kinds = [
        (
            "kind: ValidatingAdmissionPolicy",
            Plugin::ValidatingAdmissionPolicy,
        ),
        ("kind: MutatingAdmissionPolicy", Plugin::MutatingAdmissionPolicy),
        ("kind: ValidatingWebhook", Plugin::ValidatingAdmissionWebhook),
        ("kind: MutatingWebhook", Plugin::MutatingAdmissionWebhook),
    ];
    let plugin = kinds.iter().find(|(kind, _)| manifests.contains(kind)).unwrap().1;
    let options = Options::new(&UncheckedExpressions);
    match Loader::for_plugin(plugin, &options).load_files(&[file]) {
        Ok(set) => set,
        Err(errors) => panic!("{errors}\nin {manifests}"),
    }
}

fn indented(spec: &str) -> String {
    spec.lines().map(|line| format!("  {line}\n")).collect()
}
