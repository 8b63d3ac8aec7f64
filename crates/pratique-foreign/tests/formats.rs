//! Tests of other programs, read and run.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::path::Path;

use pratique_foreign::READER;
use pratique_manifest::{ManifestFile, ProblemList};
use pratique_suite::{Roots, Suite, read_suites};
use tempfile::TempDir;

/// A temporary directory.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Directory(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn with(self, name: &str, content: &str) -> Self {
        fs::write(self.path().join(name), content).unwrap();
        self
    }

    /// The suites of a file of another program in it.
    fn read(&self, content: &str) -> Result<Vec<Suite>, ProblemList> {
        let path = self.path().join("theirs.yaml");
        let file = ManifestFile {
            path: path.to_string_lossy().into_owned(),
            content: content.as_bytes().to_vec(),
        };
        READER.read(&path, &file, &Roots::default())
    }
}

/// Each case of a suite with its error, or its differences as `field expected/actual`.
fn results(suite: &Suite) -> Vec<String> {
    let policies = suite.policies().unwrap();
    let mut runner = suite.runner(&policies);
    let cases = suite.cases.iter();
    cases
        .map(|case| {
            let result = runner.test(case, None);
            let mut line = format!("{}:", case.name);
            if let Err(error) = result.actual {
                line += &format!(" {error}");
            }
            for difference in &result.differences {
                let (expected, actual) = (&difference.expected, &difference.actual);
                line += &format!(" {} {expected}/{actual}", difference.field);
            }
            line
        })
        .collect()
}

/// The suites of a file of another program: the cases with their differences, and what is not evaluated.
#[track_caller]
fn foreign(directory: &Directory, content: &str, expected: &[&str]) {
    let mut lines = Vec::new();
    for suite in directory.read(content).unwrap() {
        lines.push(format!("# {}", suite.name));
        let not_evaluated = suite.not_evaluated.iter();
        lines.extend(not_evaluated.map(|test| format!("{} is not evaluated: {}", test.name, test.why)));
        if !suite.cases.is_empty() {
            lines.extend(results(&suite));
        }
    }
    assert_eq!(lines, expected);
}

const KYVERNO_POLICIES: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  matchConditions: [{name: c, expression: "object.metadata.name != 'system'"}]
  validations: [{expression: "object.spec.replicas <= int(params.data.most) || request.userInfo.username == 'boss'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec:
  policyName: few
  validationActions: [Audit]
  paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}
  matchResources: {namespaceSelector: {matchLabels: {limited: 'yes'}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}
"#;

const KYVERNO_RESOURCES: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: small}
spec: {replicas: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: large}
spec: {replicas: 9}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: system}
spec: {replicas: 9}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: large, namespace: other}
spec: {replicas: 9}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
";

#[test]
fn tests_of_kyverno_are_read() {
    let directory = Directory::new()
        .with("policies.yaml", KYVERNO_POLICIES)
        .with("resources.yaml", KYVERNO_RESOURCES)
        .with(
            "limits.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: default}, data: {most: '3'}}",
        )
        .with(
            "patched.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: b}}}",
        )
        .with(
            "values.yaml",
            "namespaceSelector: [{name: default, labels: {limited: 'yes'}}, {name: other, labels: {}}]\n\
             policies: [{name: valued, resources: []}]\n",
        )
        .with("user.yaml", "userInfo: {username: boss, groups: [bosses]}\n")
        .with(
            "theirs-policy.yaml",
            "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: theirs}}",
        );
    let test = "apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: kyverno}
policies: [policies.yaml, theirs-policy.yaml]
resources: [resources.yaml]
paramResources: [limits.yaml]
variables: values.yaml
results:
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [small], result: pass}
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [default/large], result: fail}
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [system, other/large], result: skip}
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [default/large], result: pass}
- {policy: label, isMutatingAdmissionPolicy: true, kind: ConfigMap, patchedResources: patched.yaml, result: pass}
- {policy: theirs, rule: a, kind: Pod, resources: [b], result: pass}
";
    let kinds = "it is of Kyverno's own kinds, no ValidatingAdmissionPolicy or MutatingAdmissionPolicy";
    let theirs = format!("theirs is not evaluated: {kinds}");
    foreign(
        &directory,
        test,
        &[
            "# kyverno / few",
            "few / Deployment/small / pass:",
            "few / Deployment/large / fail:",
            "few / Deployment/system / skip:",
            "few / Deployment/other/large / skip:",
            "few / Deployment/large / pass: policies[few] allowed or mutated/audited",
            "# kyverno / label",
            "label / ConfigMap/a / pass:",
            "# kyverno",
            &theirs,
        ],
    );
    // A user, and a result that no policy of ours has.
    let (head, _) = test.split_once("results:").unwrap();
    let test = format!(
        "{head}userinfo: user.yaml\nresults:\n- {{policy: few, kind: Deployment, resources: [large], result: pass}}\n"
    );
    foreign(
        &directory,
        &test,
        &[
            "# kyverno / few",
            "few / Deployment/large / pass:",
            "few / Deployment/other/large / pass: policies[few] allowed or mutated/skipped",
        ],
    );
    let problems = directory.read(&test.replace("[large]", "[none]")).unwrap_err();
    assert_eq!(problems[0].message, "there is no Deployment none");
    // What only Kyverno knows is told.
    let values = test
        .replace("policy: few", "policy: label")
        .replace("variables: values.yaml", "values: {policies: [{name: label}]}");
    foreign(
        &directory,
        &values,
        &[
            "# kyverno / label",
            "label is not evaluated: its values are for variables of Kyverno",
        ],
    );
}

const TEMPLATE: &str = r#"apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: fewreplicas}
spec:
  crd: {spec: {names: {kind: FewReplicas}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source:
        variables: [{name: replicas, expression: "variables.anyObject.spec.replicas"}]
        validations:
        - expression: "request.operation == 'UPDATE' || variables.replicas <= variables.params.most"
          messageExpression: "'at most ' + string(variables.params.most)"
        - {expression: "variables.replicas > 0", message: none at all}
        - {expression: "!has(variables.anyObject.spec.template)", message: seen in the form of its kind}
"#;

const CONSTRAINT: &str = "apiVersion: constraints.gatekeeper.sh/v1beta1
kind: FewReplicas
metadata: {name: few}
spec:
  match: {kinds: [{apiGroups: [apps], kinds: [Deployment]}], excludedNamespaces: ['kube-*']}
  parameters: {most: 3}
";

#[test]
fn suites_of_gator_are_read() {
    let deployment = |name: &str, namespace: &str, replicas: i32| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{replicas: {replicas}}}}}"
        )
    };
    let directory = Directory::new()
        .with("template.yaml", TEMPLATE)
        .with("constraint.yaml", CONSTRAINT)
        .with("few.yaml", &deployment("a", "shop", 2))
        .with("many.yaml", &deployment("a", "shop", 5))
        .with("none.yaml", &deployment("a", "shop", 0))
        .with("system.yaml", &deployment("a", "kube-system", 5))
        .with(
            "update.yaml",
            &format!(
                "{{apiVersion: admission.k8s.io/v1beta1, kind: AdmissionReview, request: {{operation: UPDATE, object: {}}}}}",
                deployment("a", "shop", 5)
            ),
        )
        .with("secret.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}")
        .with(
            "rego.yaml",
            "{apiVersion: templates.gatekeeper.sh/v1, kind: ConstraintTemplate, metadata: {name: r}, spec: {targets: \
             [{target: admission.k8s.gatekeeper.sh, rego: 'package r'}]}}",
        );
    let suite = "kind: Suite
apiVersion: test.gatekeeper.sh/v1alpha1
metadata: {name: gator}
tests:
- name: replicas
  template: template.yaml
  constraint: constraint.yaml
  cases:
  - {name: few, object: few.yaml, assertions: [{violations: no}]}
  - {name: many, object: many.yaml, assertions: [{violations: yes}, {violations: 1, message: '^at most [0-9]$'}]}
  - {name: none, object: none.yaml, assertions: [{violations: 1, message: none at}, {message: at most, violations: 0}]}
  - {name: excluded, object: system.yaml, assertions: [{violations: 0}]}
  - {name: another kind, object: secret.yaml, assertions: [{violations: no}]}
  - {name: an update, object: update.yaml, assertions: [{violations: no}]}
  - {name: wrong, object: many.yaml, assertions: [{violations: no}]}
  - {name: left out, object: many.yaml, skip: true, assertions: [{violations: no}]}
  - {name: nothing, object: many.yaml}
- name: rego
  template: rego.yaml
  constraint: constraint.yaml
  cases: [{name: few, object: few.yaml, assertions: [{violations: no}]}]
";
    foreign(
        &directory,
        suite,
        &[
            "# gator / replicas",
            "left out is not evaluated: the case is skipped",
            "nothing is not evaluated: it asserts nothing",
            "few:",
            "many:",
            "none:",
            "excluded:",
            "another kind:",
            "an update:",
            "wrong: violations 0/1\nat most 3",
            "# gator / rego",
            "few is not evaluated: its template is written in Rego: there are no expressions in it",
        ],
    );
}

const SKIPPED: &str =
    "{kind: Suite, apiVersion: test.gatekeeper.sh/v1alpha1, tests: [{name: a, skip: true}]}";

#[test]
fn suites_of_our_format_are_read_beside_others() {
    let directory = Directory::new();
    let ours =
        "{apiVersion: pratique/v1alpha1, kind: Suite, tests: [{name: a, object: {}, expect: allowed}]}";
    let suites = directory.read(&format!("{SKIPPED}\n---\n{ours}\n")).unwrap();
    let kinds: Vec<(&str, bool)> = suites
        .iter()
        .map(|suite| {
            (
                suite.name.rsplit('/').next().unwrap_or_default(),
                suite.is_foreign(),
            )
        })
        .collect();
    assert_eq!(kinds, [(" a", true), ("theirs", false)]);
    assert!(READER.may_be_suite(ours.as_bytes()) && READER.may_be_suite(SKIPPED.as_bytes()));
    assert!(!READER.may_be_foreign(ours.as_bytes()) && READER.may_be_foreign(SKIPPED.as_bytes()));
}

#[test]
fn suites_alone_know_no_other_formats() {
    let file = ManifestFile {
        path: "theirs.yaml".to_owned(),
        content: SKIPPED.as_bytes().to_vec(),
    };
    assert!(read_suites(&file).unwrap().is_empty());
    let directory = Directory::new().with("theirs.yaml", SKIPPED);
    let failures = READER.run(directory.path()).unwrap_err().to_string();
    assert!(
        failures.ends_with(": a is not evaluated: the test is skipped"),
        "{failures}"
    );
    let failures = pratique_suite::run_suites(directory.path())
        .unwrap_err()
        .to_string();
    assert!(failures.ends_with(": there is no test suite"), "{failures}");
}
