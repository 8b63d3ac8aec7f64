//! Manifests for tests, and what is found in them.

use std::time::{Duration, SystemTime};

use pratique_manifest::{
    LoadOptions, Loader, ManifestFile, ManifestPlugin, ManifestSet, UncheckedExpressions,
};

use crate::lint_meta::LintMeta;

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

/// A webhook of a kind for resources of the core group, with a match condition.
pub(crate) fn webhook(kind: &str, resources: &str, operations: &str, condition: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: {kind}WebhookConfiguration
metadata: {{name: w.static.k8s.io}}
webhooks:
- name: a.example.com
  clientConfig: {{url: 'https://example.com'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [{resources}], operations: [{operations}]}}]
  matchConditions: [{{name: c, expression: \"{condition}\"}}]
"
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
pub(crate) fn check(lint: &'static LintMeta, manifests: &str, expected: &[(&str, &str)]) {
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

/// As [`check`], of findings that underline an expression as it is written.
#[track_caller]
pub(crate) fn check_whole(lint: &'static LintMeta, manifests: &str, expression: &str, messages: &[&str]) {
    let written = format!("\"{expression}\"");
    let expected: Vec<(&str, &str)> = messages
        .iter()
        .map(|message| (written.as_str(), *message))
        .collect();
    check(lint, manifests, &expected);
}

/// Valid from 2025-01-01 to 2026-01-01.
pub(crate) const CERTIFICATE: &str = include_str!("../../testdata/ca.pem");
pub(crate) const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
const YEAR: u64 = 365 * 24 * 60 * 60;

/// So many years after 1970.
pub(crate) fn year(years: u64) -> Option<SystemTime> {
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(years * YEAR + YEAR / 2))
}

#[track_caller]
/// Compares all warnings about webhooks with a bundle: their names, and a part of the messages.
pub(crate) fn check_bundle(now: Option<SystemTime>, bundle: &[u8], expected: &[(&str, &str)]) {
    check_injected_bundle("{}", now, bundle, expected);
}

#[track_caller]
pub(crate) fn check_injected_bundle(
    annotations: &str,
    now: Option<SystemTime>,
    bundle: &[u8],
    expected: &[(&str, &str)],
) {
    for kind in ["Validating", "Mutating"] {
        let bundle = pratique_json::base64::encode(bundle);
        let set = load(&format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: {kind}WebhookConfiguration
metadata: {{name: w.static.k8s.io, annotations: {annotations}}}
webhooks:
- name: a.example.com
  clientConfig: {{url: 'https://example.com', caBundle: '{bundle}'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
"
        ));
        let warnings = match now {
            Some(now) => crate::lint_with(&[&set], &crate::LintOptions::default().at(now)),
            None => crate::lint(&[&set]),
        };
        let fits = |(warning, (name, part)): (&crate::Warning, &(&str, &str))| {
            warning.lint.name == *name
                && warning.message.contains(part)
                && warning.field == "webhooks[0].clientConfig.caBundle"
        };
        let all = warnings.len() == expected.len() && warnings.iter().zip(expected).all(fits);
        assert!(all, "expected {expected:#?}\nfound {warnings:#?}");
    }
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
            ManifestPlugin::ValidatingAdmissionPolicy,
        ),
        (
            "kind: MutatingAdmissionPolicy",
            ManifestPlugin::MutatingAdmissionPolicy,
        ),
        (
            "kind: ValidatingWebhook",
            ManifestPlugin::ValidatingAdmissionWebhook,
        ),
        ("kind: MutatingWebhook", ManifestPlugin::MutatingAdmissionWebhook),
    ];
    let plugin = kinds.iter().find(|(kind, _)| manifests.contains(kind)).unwrap().1;
    let options = LoadOptions::new(&UncheckedExpressions);
    match Loader::for_plugin(plugin, &options).load_files(&[file]) {
        Ok(set) => set,
        Err(errors) => panic!("{errors}\nin {manifests}"),
    }
}

fn indented(spec: &str) -> String {
    spec.lines().map(|line| format!("  {line}\n")).collect()
}

/// The help of the first finding of a lint in a validation of Pods; empty if it has none.
#[track_caller]
pub(crate) fn first_help(lint: &'static LintMeta, expression: &str) -> String {
    let spec = format!("validations:\n- expression: >-\n    {expression}\n");
    let set = load(&policy("CREATE", &spec));
    let warnings = crate::lint(&[&set]).into_iter();
    let mut of_lint = warnings.filter(|warning| warning.lint == lint);
    let help = of_lint.next().unwrap().help;
    help.map_or_else(String::new, |help| help.text)
}
