//! Policies are linted for the release of the server that loads them.

#![allow(clippy::unwrap_used, reason = "tests")]

use pratique_lint::{LintOptions, lint_with};
use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};
use pratique_schema::{FeatureGates, Release};

/// The warnings about a policy for a resource, with and without what a release is to know.
fn lint(release: &str, rule: &str, expression: &str) -> Vec<String> {
    let policy = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  matchConstraints: {{resourceRules: [{{operations: [CREATE], {rule}}}]}}
  validations: [{{expression: \"{expression}\"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: p}}
spec: {{policyName: p, validationActions: [Deny]}}
"
    );
    let file = ManifestFile {
        path: "policy.yaml".to_owned(),
        content: policy.into_bytes(),
    };
    let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
        .load_files(&[file])
        .unwrap();
    let gates = FeatureGates::new(Release::by_version(release).unwrap());
    let options = LintOptions::default().feature_gates(gates);
    let warnings = lint_with(&[&set], &options);
    let texts = warnings.iter();
    texts
        .map(|warning| format!("{}: {}", warning.lint.name, warning.message))
        .collect()
}

#[test]
fn what_a_release_lacks_is_told_for_it_only() {
    let pods = "apiGroups: [''], apiVersions: [v1], resources: [pods]";
    let workloads = "apiGroups: [scheduling.k8s.io], apiVersions: ['*'], resources: [workloads]";
    for (rule, expression, (without, with), expected) in [
        (
            pods,
            "has(object.spec.evictionResponders)",
            ("1.36", "1.37"),
            "type-check: /v1, Kind=Pod: undefined field 'evictionResponders'",
        ),
        (
            workloads,
            "true",
            ("1.34", "1.35"),
            "unknown-resource: the API group \"scheduling.k8s.io\" has no resource \"workloads\"",
        ),
    ] {
        let warnings = lint(without, rule, expression);
        assert!(
            warnings.iter().any(|warning| warning.starts_with(expected)),
            "{without}: {warnings:#?}"
        );
        let warnings = lint(with, rule, expression);
        assert!(
            !warnings.iter().any(|warning| warning.starts_with(expected)),
            "{with}: {warnings:#?}"
        );
    }
}
