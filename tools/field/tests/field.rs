//! Warnings about the repositories of the test data reproduce, and those that are not so do not.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_field::{self as field, reproduce};
use pratique_harness::workspace;
use pratique_lint::LintOptions;
use pratique_manifest::{Loader, ManifestFile, ManifestSet, UncheckedExpressions};

#[test]
fn warnings_reproduce() {
    let mut report = field::look(&workspace::root().join("testdata/field")).unwrap();
    let counts = |name: &str, report: &mut field::report::WarningReport| {
        let counts = report.repository(name);
        (
            counts.files,
            counts.loaded,
            counts.templates,
            counts.refused.len(),
        )
    };
    assert_eq!(counts("sound", &mut report), (1, 2, 0, 0));
    assert_eq!(counts("mistaken", &mut report), (3, 1, 1, 1));
    let rows: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.place.as_str(), row.lint, row.field.as_str()))
        .collect();
    let field = "spec.validations[0].expression";
    assert_eq!(
        rows,
        [
            ("mistaken/policies/policies.yaml:16", "cost-limit", field),
            ("mistaken/policies/policies.yaml:27", "type-check", field),
        ],
        "{}",
        report.to_text(true)
    );
    assert_eq!(report.count(None, None), (2, 2), "{}", report.to_text(true));
    assert!(report.is_good(100));
    let text = report.to_text(true);
    assert!(text.contains("no such key: replica"), "{text}");
    assert!(
        !text.contains("charts/template.yaml") && text.contains("refused.json"),
        "{text}"
    );
}

fn policy(expression: &str) -> ManifestSet {
    let text = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
  validations: [{{expression: \"{expression}\"}}]
"
    );
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: text.into_bytes(),
    };
    Loader::for_api(&pratique_manifest::LoadOptions::new(&UncheckedExpressions))
        .load_files(&[file])
        .unwrap()
}

/// A warning about one expression does not reproduce over another policy, of which it is not true.
#[test]
fn what_is_not_so_does_not_reproduce() {
    for (mistaken, sound, lint) in [
        (
            "object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))",
            "object.spec.containers.all(c, object.spec.containers.size() > 0 && c.name != 'd.name')",
            "cost-limit",
        ),
        (
            "object.spec.hostNetwrk == true",
            "!has(object.spec.hostNetwork) || object.spec.hostNetwork in [true, false]",
            "type-check",
        ),
    ] {
        let set = policy(mistaken);
        let warnings = pratique_lint::lint_with(&[&set], &LintOptions::default());
        let warning = warnings.iter().find(|warning| warning.lint.name == lint).unwrap();
        let outcome = reproduce::reproduce(&set, warning);
        assert!(outcome.is_reproduced(), "{mistaken}: {outcome}");
        let outcome = reproduce::reproduce(&policy(sound), warning);
        assert!(!outcome.is_reproduced(), "{sound}: {outcome}");
    }
}

/// A Service may have no ports, and an update may make an object of any other one.
#[test]
fn what_few_requests_show_reproduces() {
    for (resources, expression, sound) in [
        (
            "services",
            "object.spec.ports.all(p, p.port != 22)",
            "object.spec.?ports.orValue([]).all(p, p.port != 22)",
        ),
        (
            "pods",
            "!has(oldObject.metadata.labels) || 'a' in object.metadata.labels",
            "!has(oldObject.metadata.labels) || 'a' in object.metadata.?labels.orValue({})",
        ),
    ] {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [{resources}]}}]
  validations: [{{expression: \"{{}}\"}}]
"
        );
        let load = |expression: &str| {
            let file = ManifestFile {
                path: "a.yaml".to_owned(),
                content: text.replace("{}", expression).into_bytes(),
            };
            Loader::for_api(&pratique_manifest::LoadOptions::new(&UncheckedExpressions))
                .load_files(&[file])
                .unwrap()
        };
        let set = load(expression);
        let warnings = pratique_lint::lint_with(&[&set], &LintOptions::default());
        let is_unguarded = |warning: &&pratique_lint::Warning| warning.lint.name == "unguarded-field";
        let warning = warnings.iter().find(is_unguarded).unwrap();
        let outcome = reproduce::reproduce(&set, warning);
        assert!(outcome.is_reproduced(), "{expression}: {outcome}");
        let outcome = reproduce::reproduce(&load(sound), warning);
        assert!(!outcome.is_reproduced(), "{sound}: {outcome}");
    }
}

/// The match conditions of webhooks are evaluated as those of policies.
#[test]
fn warnings_about_webhooks_reproduce() {
    let webhook = |condition: &str| {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: w}}
webhooks:
- name: a.example.com
  clientConfig: {{url: 'https://example.com'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
  matchConditions: [{{name: c, expression: \"{condition}\"}}]
"
        );
        let file = ManifestFile {
            path: "a.yaml".to_owned(),
            content: text.into_bytes(),
        };
        Loader::for_api(&pratique_manifest::LoadOptions::new(&UncheckedExpressions))
            .load_files(&[file])
            .unwrap()
    };
    let set = webhook("object.metadata.labels['a'] == 'b'");
    let warnings = pratique_lint::lint_with(&[&set], &LintOptions::default());
    let is_about_labels = |warning: &&pratique_lint::Warning| warning.lint.name == "unguarded-field";
    let warning = warnings.iter().find(is_about_labels).unwrap();
    let outcome = reproduce::reproduce(&set, warning);
    assert!(outcome.is_reproduced(), "{outcome}");
    assert_eq!(
        reproduce::expression(&set, warning).as_deref(),
        Some("object.metadata.labels['a'] == 'b'")
    );
    let sound = webhook("object.metadata.?labels['a'].orValue('') == 'b'");
    assert!(!reproduce::reproduce(&sound, warning).is_reproduced());
}

/// The suites of a repository are run, and what differs is named.
#[test]
fn tests_of_repositories_come_to_what_they_expect() {
    let mut report = field::look(&workspace::root().join("testdata/field")).unwrap();
    let found = &report.repository("sound").expectations;
    assert_eq!(
        (
            found.tests(),
            found.equal,
            found.not_evaluated.values().sum::<usize>()
        ),
        (3, 2, 1),
        "{found:?}"
    );
    let differing = &found.differing[0];
    assert!(
        differing.contains("policies[images]: expected allowed or mutated, actual denied"),
        "{differing}"
    );
    let text = report.to_text(false);
    assert!(
        text.contains("differs: ") && text.contains("not evaluated"),
        "{text}"
    );
}
