//! Suites read, run and measured through the library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

#[path = "suites/chain.rs"]
mod chain;
#[path = "suites/servers.rs"]
mod servers;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_manifest::ManifestFile;
use pratique_suite::{Case, Coverage, Suite, assert_passes, read_suites, run_suites};

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

/// Runs a suite: the name of each case, with its error or its differences, as `field expected/actual`.
fn run(suite: &Suite) -> Vec<(String, Vec<String>)> {
    let policies = suite.policies().unwrap();
    let mut runner = suite.runner(&policies);
    let run = |case: &Case| {
        let result = runner.test(case, None);
        let error = result.actual.err().map(|error| error.to_string());
        let differences = result.differences.iter().map(|difference| {
            let (field, expected, actual) = (&difference.field, &difference.expected, &difference.actual);
            format!("{field} {expected}/{actual}")
        });
        (case.name.clone(), error.into_iter().chain(differences).collect())
    };
    suite.cases.iter().map(run).collect()
}

/// What is wrong with the cases of a suite, each with its name.
fn failures(suite: &Suite) -> Vec<String> {
    let cases = run(suite).into_iter();
    cases
        .flat_map(|(name, wrong)| wrong.into_iter().map(move |wrong| format!("{name}: {wrong}")))
        .collect()
}

#[track_caller]
fn check(tests: &str, expected: &[&str]) {
    let directory = Directory::new();
    let suite = directory.suite(tests).unwrap();
    assert_eq!(failures(&suite), expected);
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
      namespace: shop
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
    check_problems(
        "- name: b\n",
        &["5:3: a test needs an `object`, `objects` or a `request`"],
    );
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

const CHART: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
data: {a: '1'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {a: '2'}
---
apiVersion: v1
kind: Secret
metadata: {name: a}
";

impl Directory {
    fn with(self, path: &str, content: &str) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Each case with what is wrong with it.
    fn results(&self, tests: &str) -> Vec<String> {
        results(&self.suite(tests).unwrap())
    }
}

fn results(suite: &Suite) -> Vec<String> {
    let cases = run(suite).into_iter();
    cases
        .map(|(name, wrong)| {
            format!(
                "{name}:{}",
                wrong.iter().map(|wrong| format!(" {wrong}")).collect::<String>()
            )
        })
        .collect()
}

#[test]
fn whole_files_are_tested_object_by_object() {
    let directory = Directory::new().with("chart.yaml", CHART);
    let tests = "- name: chart
  objects: [chart.yaml, {apiVersion: v1, kind: Secret, metadata: {name: b}}]
  expect: allowed
  expectObjects:
    ConfigMap/default/a: denied
";
    let expected = [
        "chart / ConfigMap/shop/a:",
        "chart / ConfigMap/a:",
        "chart / Secret/a:",
        "chart / Secret/b:",
    ];
    assert_eq!(directory.results(tests), expected);
    // A choice among them, a directory of files, and rows for each.
    let directory = directory.with(
        "more/below/secret.yaml",
        "{apiVersion: v1, kind: Secret, metadata: {name: c}}",
    );
    let tests = "- name: some
  objects: [chart.yaml#ConfigMap/shop/a, chart.yaml#Secret/a, more]
  expect: allowed
  each:
  - name: as it is
  - {name: with data, set: {object.data.a: MzM=}}
";
    let expected = [
        "some / ConfigMap/shop/a / as it is:",
        "some / ConfigMap/shop/a / with data: verdict allowed/denied: configmaps \"a\" is forbidden: \
         ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'b.static.k8s.io' denied request: it is kept",
        "some / Secret/a / as it is:",
        "some / Secret/a / with data:",
        "some / Secret/c / as it is:",
        "some / Secret/c / with data:",
    ];
    assert_eq!(directory.results(tests), expected);
    let tests = "- {name: one, object: chart.yaml#ConfigMap/default/a, expect: denied}
- {name: in a namespace, namespace: ops, object: chart.yaml#ConfigMap/ops/a, expect: denied}
";
    assert_eq!(directory.results(tests), ["one:", "in a namespace:"]);
}

#[test]
fn choices_among_objects_fit_some() {
    let directory = Directory::new()
        .with("chart.yaml", CHART)
        .with("none/empty.yaml", "");
    let problems = |tests: &str| directory.suite(tests).map(|_| ()).unwrap_err();
    assert_eq!(
        problems("- {name: a, object: chart.yaml#a, expect: allowed}\n"),
        ["5:21: chart.yaml#a fits 3 objects: name one of them as FILE#KIND/NAMESPACE/NAME"]
    );
    assert_eq!(
        problems("- {name: a, objects: [chart.yaml#Pod/a], expect: allowed}\n"),
        ["5:23: chart.yaml#Pod/a has no such object"]
    );
    assert_eq!(
        problems("- {name: a, objects: [none], expect: allowed}\n"),
        ["5:23: none has no such object"]
    );
    assert_eq!(
        problems("- {name: a, objects: [chart.yaml#a/b/c/d], expect: allowed}\n"),
        ["5:23: `a/b/c/d` is no NAME, KIND/NAME or KIND/NAMESPACE/NAME"]
    );
    assert_eq!(
        problems("- {name: a, objects: [], expect: allowed}\n"),
        ["5:3: there is no object in `objects`"]
    );
    assert_eq!(
        problems(
            "- name: a\n  objects: [chart.yaml]\n  expectObjects: {Pod/a: denied, ConfigMap/a: denied, ConfigMap/shop/a: allowed}\n"
        ),
        [
            "7:19: none of `objects` is Pod/a",
            "7:55: ConfigMap/shop/a is ConfigMap/shop/a as well as ConfigMap/a",
        ]
    );
    assert_eq!(
        problems("- {name: a, object: chart.yaml#Secret/a, objects: [chart.yaml], expect: allowed}\n"),
        ["5:3: a test has either `objects` or `object`"]
    );
    assert_eq!(
        problems("- {name: a, object: chart.yaml#Secret/a, expectObjects: {a: denied}}\n"),
        ["5:3: `expectObjects` is about `objects`, and there are none"]
    );
}

#[test]
fn expectations_by_policy_and_binding() {
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {a: '2'}}";
    let tests = format!(
        "- name: denied
  object: {map}
  expect:
    verdict: denied
    policies: {{p.static.k8s.io: denied}}
    bindings: {{b.static.k8s.io: denied, w.static.k8s.io: warned}}
- name: allowed
  object: {map}
  each:
  - name: by all
    set: {{object.data.a: '1'}}
    expect: {{verdict: allowed, policies: {{p.static.k8s.io: allowed}}, bindings: {{b.static.k8s.io: allowed}}}}
  - name: as it does not match
    operation: DELETE
    set: {{object.metadata.name: other}}
    expect: {{verdict: allowed, policies: {{p.static.k8s.io: skipped}}, bindings: {{w.static.k8s.io: skipped}}}}
- name: another resource
  object: {{apiVersion: v1, kind: Secret, metadata: {{name: a}}}}
  expect: {{verdict: allowed, policies: {{p.static.k8s.io: skipped}}, bindings: {{b.static.k8s.io: skipped}}}}
- name: an error
  object: {map}
  remove: []
  expect: {{verdict: error, policies: {{p.static.k8s.io: error}}}}
- name: wrong
  object: {map}
  expect: {{verdict: allowed, policies: {{p.static.k8s.io: allowed, q: denied}}, bindings: {{w.static.k8s.io: audited}}}}
"
    );
    let tests = tests.replace("  remove: []\n", "").replacen(
        &format!("- name: an error\n  object: {map}"),
        "- name: an error\n  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        1,
    );
    let denial = "configmaps \"kept\" is forbidden: ValidatingAdmissionPolicy 'p.static.k8s.io' with binding \
                  'b.static.k8s.io' denied request: it is kept";
    let wrong = format!(
        "wrong: verdict allowed/denied: {denial} policies[p.static.k8s.io] allowed/denied policies[q] denied/no such \
         name bindings[w.static.k8s.io] audited/warned"
    );
    let expected = [
        "denied:",
        "allowed / by all:",
        "allowed / as it does not match:",
        "another resource:",
        "an error:",
        &wrong,
    ];
    assert_eq!(Directory::new().results(&tests), expected);
}

const AUTHORIZED: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: secrets.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
  validations:
  - expression: "authorizer.group('').resource('secrets').namespace(object.metadata.namespace).check('use').allowed()"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: secrets.static.k8s.io}
spec: {policyName: secrets.static.k8s.io, validationActions: [Deny]}
"#;

const ROLES: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: user, namespace: shop}
rules: [{apiGroups: [''], resources: [secrets], verbs: [use]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: users, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: user}
subjects: [{kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}]
";

#[test]
fn roles_answer_what_no_rule_does() {
    let directory = Directory::new()
        .with("policy.yaml", AUTHORIZED)
        .with("state/namespaced/roles.yaml", ROLES);
    let tests = "- name: nothing is known
  object: {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}
  user: ann
  expect: undecided
- name: roles
  object: {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}
  user: ann
  cluster: {objects: [state]}
  each:
  - {name: of the user, expect: allowed}
  - {name: of others, user: bob, expect: denied}
  - {name: elsewhere, set: {object.metadata.namespace: other}, expect: denied}
  - name: and a rule beside them
    user: bob
    cluster: {authorizer: [{users: [bob]}]}
    expect: allowed
  - name: and a rule before them
    cluster: {authorizer: [{users: [ann], allow: false}]}
    expect: denied
  - name: and a rule about others
    cluster: {authorizer: [{users: [eve]}]}
    expect: allowed
";
    let expected = [
        "nothing is known:",
        "roles / of the user:",
        "roles / of others:",
        "roles / elsewhere:",
        "roles / and a rule beside them:",
        "roles / and a rule before them:",
        "roles / and a rule about others:",
    ];
    assert_eq!(directory.results(tests), expected);
}

#[test]
fn expectations_that_objects_share_are_not_updated() {
    let directory = Directory::new().with("chart.yaml", CHART);
    let updated = |tests: &str| {
        let suite = directory.suite(tests).unwrap();
        let policies = suite.policies().unwrap();
        let results = suite
            .cases
            .iter()
            .map(|case| (case, suite.test(case, &policies, None)));
        let results: Vec<_> = results
            .map(|(case, result)| (case, result.actual.unwrap()))
            .collect();
        let results: Vec<_> = results
            .iter()
            .map(|(case, actual)| (&suite, *case, actual))
            .collect();
        let head = "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policy.yaml]\ntests:\n";
        let file = ManifestFile {
            path: directory.0.join("suite.yaml").to_string_lossy().into_owned(),
            content: format!("{head}{tests}").into_bytes(),
        };
        pratique_suite::updated(&file, &results)
            .map(|text| text.map(|text| text.strip_prefix(head).unwrap().to_owned()))
            .map_err(|error| error.to_string())
    };
    let shared = "- name: chart\n  objects: [chart.yaml]\n  expect: allowed\n";
    assert_eq!(
        updated(shared),
        Err(
            "chart / ConfigMap/a: other objects have the same expectation: give those that differ one of their own in \
             `expectObjects`"
                .to_owned()
        )
    );
    let single = "- name: chart\n  objects: [chart.yaml]\n  expect: allowed\n  expectObjects:\n    ConfigMap/default/a: \
                  {verdict: denied, policies: {p.static.k8s.io: allowed}}\n";
    assert_eq!(
        updated(single),
        Ok(Some(
            single.replace("p.static.k8s.io: allowed", "p.static.k8s.io: denied")
        ))
    );
}

/// What `run_suites` says of a suite file beside a policy, with `$DIR` for its directory.
fn run_file(suite: &str) -> Result<usize, String> {
    let directory = Directory::new();
    let hidden = directory.0.join(".tests");
    fs::create_dir_all(&hidden).unwrap();
    fs::write(hidden.join("suite.yaml"), suite).unwrap();
    let path = directory.0.to_str().unwrap();
    run_suites(&directory.0)
        .map(|passed| passed.cases)
        .map_err(|failures| failures.to_string().replace(path, "$DIR"))
}

#[test]
fn a_test_in_rust_fails_over_what_the_command_fails_over() {
    let head = "apiVersion: pratique/v1alpha1\nkind: Suite\n";
    let tests = |expect: &str| {
        format!(
            "tests:\n- name: a\n  object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: '1'}}}}\n  \
             expect: {expect}\n"
        )
    };
    // The root of the suite is the directory of the suite, as there is no repository.
    let policies = format!("policies: [policy.yaml]\n{}", tests("allowed"));
    let directory = Directory::new();
    fs::write(directory.0.join("suite.yaml"), format!("{head}{policies}")).unwrap();
    assert_passes(&directory.0);
    assert_eq!(run_suites(directory.0.join("suite.yaml")).unwrap().suites, 1);

    let failing = format!("{head}policies: [policy.yaml]\n{}", tests("denied"));
    fs::write(directory.0.join("suite.yaml"), failing).unwrap();
    let failures = run_suites(&directory.0).unwrap_err().to_string();
    assert!(
        failures.contains("suite.yaml:5: a:\n  verdict: expected denied, actual allowed"),
        "{failures}"
    );

    let error = |suite: &str, expected: &str| {
        let failures = run_file(suite).unwrap_err();
        assert!(failures.starts_with(expected), "{failures}");
    };
    error(
        &format!("{head}{}", tests("allowed")),
        "$DIR/.tests/suite.yaml:1:1: the suite names no policies: nothing would be tested",
    );
    error(
        &format!("{head}tests: []\n"),
        "$DIR/.tests/suite.yaml: the suite \"suite\" has no tests",
    );
    error(
        "apiVersion: pratique/v1alpha1\nkind: Suit\ntests: []\n",
        "$DIR/.tests/suite.yaml:1:1: there is no kind \"Suit\" in pratique/v1alpha1, only \"Suite\"",
    );
    error("kind: ConfigMap\n", "$DIR: there is no test suite");
    let missing = run_suites("/nowhere/suites").unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/suites: "), "{missing}");
}

#[test]
fn definitions_of_versions_that_are_gone_define_nothing() {
    let gone = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: stalls.example.com}\n";
    let directory = Directory::new().with("gone.yaml", gone);
    let tests = "- name: a
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {a: '2'}}
  cluster: {objects: [gone.yaml]}
  expect: allowed
";
    let told = "a: CustomResourceDefinition \"stalls.example.com\" is of apiextensions.k8s.io/v1beta1, a version that is gone since \
                Kubernetes 1.22: write it in apiextensions.k8s.io/v1";
    assert_eq!(failures(&directory.suite(tests).unwrap()), [told]);
}
