//! Suites read, run and measured through the library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_manifest::ManifestFile;
use pratique_suite::{Coverage, Suite, read_suites};

const POLICY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  matchConditions: [{name: c, expression: "request.operation != 'DELETE' || request.name == 'kept'"}]
  validations:
  - expression: "request.operation == 'DELETE' ? false : object.data.a == '1'"
    message: it is kept
  auditAnnotations: [{key: who, valueExpression: "request.userInfo.username"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b.static.k8s.io}
spec: {policyName: p.static.k8s.io, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: w.static.k8s.io}
spec: {policyName: p.static.k8s.io, validationActions: [Warn]}
"#;

/// A temporary directory, removed on drop.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pratique-suite-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("policy.yaml"), POLICY).unwrap();
        Directory(path)
    }

    fn suite(&self, tests: &str) -> Result<Suite, Vec<String>> {
        let head = "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policy.yaml]\ntests:\n";
        let file = ManifestFile {
            path: self.0.join("suite.yaml").to_string_lossy().into_owned(),
            content: format!("{head}{tests}").into_bytes(),
        };
        match read_suites(&file) {
            Ok(mut suites) => Ok(suites.remove(0)),
            Err(problems) => Err(problems
                .into_iter()
                .map(|problem| {
                    let start = problem.location.unwrap().start;
                    format!("{}:{}: {}", start.line, start.column, problem.message)
                })
                .collect()),
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The differences of each case: `name: field expected/actual`.
#[track_caller]
fn check(tests: &str, expected: &[&str]) {
    let directory = Directory::new();
    let suite = directory.suite(tests).unwrap();
    let policies = suite.policies().unwrap();
    let mut problems = Vec::new();
    for case in &suite.cases {
        let result = suite.test(case, &policies, None);
        problems.extend(result.actual.err().map(|why| format!("{}: {why}", case.name)));
        let differences = result.differences.iter();
        problems.extend(differences.map(|difference| {
            format!(
                "{}: {} {}/{}",
                case.name, difference.field, difference.expected, difference.actual
            )
        }));
    }
    assert_eq!(problems, expected);
}

#[test]
fn requests_of_all_kinds() {
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {a: '1'}}";
    check(
        &format!(
            "- {{name: create, object: {map}, expect: allowed}}
- name: delete
  operation: DELETE
  object: {map}
  user: {{name: ann, groups: [ops]}}
  expect:
    verdict: denied
    message: >-
      configmaps \"kept\" is forbidden: ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'b.static.k8s.io' denied request: it is kept
    warnings: [\"Validation failed for ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'w.static.k8s.io': it is kept\"]
    auditAnnotations: {{p.static.k8s.io/who: ann}}
- name: a whole request
  request:
    apiVersion: admission.k8s.io/v1
    kind: AdmissionReview
    request:
      operation: CREATE
      kind: {{version: v1, kind: ConfigMap}}
      resource: {{version: v1, resource: configmaps}}
      object: {{data: {{a: '2'}}}}
  expect: {{verdict: denied, code: 500}}
- name: no such kind
  object: {{apiVersion: example.com/v1, kind: Widget}}
  expect: allowed
- name: another resource
  object: {map}
  resource: secrets
  expect: allowed
- name: no such type
  object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: 1}}}}
  expect: denied
- name: no such field
  object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: '1'}}, dta: {{}}}}
  expect: {{verdict: allowed, warnings: ['unknown field \"dta\"']}}
"
        ),
        &[
            "a whole request: code 500/422",
            "no such kind: kind Widget of example.com/v1 is not known: name its resource, or give its \
             CustomResourceDefinition among the cluster's objects",
            "another resource: secrets was requested, but the resource of kind ConfigMap of v1 is configmaps",
            "no such type: the server refuses the object, and no policy sees it: ConfigMap in version \"v1\" cannot be \
             handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ],
    );
}

#[track_caller]
fn check_problems(tests: &str, expected: &[&str]) {
    let directory = Directory::new();
    assert_eq!(directory.suite(tests).map(|_| ()).unwrap_err(), expected);
}

#[test]
fn faults_have_places() {
    check_problems(
        "- name: a\n  objekt: {}\n  expect: {verdict: maybe, code: x}\n",
        &[
            "6:3: unknown field `objekt`",
            "7:21: expected `allowed`, `denied`, `error` or `undecided`, not `maybe`",
            "7:34: expected a whole number",
        ],
    );
    check_problems("- object: {}\n- name: b\n", &["5:3: field `name` is missing"]);
    check_problems("- name: b\n", &["5:3: a test needs an `object` or a `request`"]);
    check_problems(
        "- name: a\n  object: policy.yaml\n- name: b\n  object: policy.yaml#none\n",
        &[
            "6:11: policy.yaml has 3 objects: name one of them as policy.yaml#NAME",
            "8:11: policy.yaml#none has no such object",
        ],
    );
}

#[test]
fn points_that_are_not_covered_are_reported() {
    let directory = Directory::new();
    let suite = directory
        .suite("- name: a\n  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1'}}\n  expect: allowed\n")
        .unwrap();
    let policies = suite.policies().unwrap();
    let mut coverage = Coverage::new();
    let recorder = coverage.recorder(&policies);
    assert!(suite.test(&suite.cases[0], &policies, Some(&recorder)).passed());
    // Another suite that loads the same file adds no points.
    coverage.recorder(&policies);
    let report = coverage.report();
    let missing: Vec<String> = report.policies[0]
        .missing
        .iter()
        .map(|missing| {
            let expression = missing.expression.as_deref().unwrap_or_default();
            format!("{} {} {expression}", missing.field, missing.what)
        })
        .collect();
    assert_eq!(
        missing,
        [
            "matchConditions[0] never false request.operation != \"DELETE\" || request.name == \"kept\"",
            "matchConditions[0] never false request.operation != \"DELETE\"",
            "matchConditions[0] never true request.name == \"kept\"",
            "matchConditions[0] never false request.name == \"kept\"",
            "validations[0] never false request.operation == \"DELETE\" ? false : object.data.a == \"1\"",
            "validations[0] never true request.operation == \"DELETE\"",
        ]
    );
    assert_eq!(
        (report.covered(), report.total(), report.percent()),
        (8, 14, Some(57.1))
    );
    assert_eq!(report.policies.len(), 1);
}
