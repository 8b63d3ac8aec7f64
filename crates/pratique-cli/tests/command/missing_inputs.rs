//! Missing inputs: `review` reports what to give, `test` fails, `serve` does not start.

use crate::support::Directory;

const BINDING: &str = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p.static.k8s.io}
spec: {policyName: p.static.k8s.io, validationActions: [Deny]}
";

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, image: i}]}
";

const NAMESPACE: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {env: ENV}}
";

const RULES: &str = "authorizer:
- {users: [kubernetes-admin], verbs: [use], resources: [quotas]}
";

const ASKS: &str = "!authorizer.group('example.com').resource('quotas').check('use').allowed()";
const READS: &str = "namespaceObject.metadata.?labels[?'env'].orValue('dev') == 'dev'";

/// A directory with a policy of one validation for Pods, in `policies`.
fn policy(expression: &str) -> Directory {
    let policy = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p.static.k8s.io}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}
  validations:
  - expression: \"{expression}\"
{BINDING}"
    );
    Directory::new()
        .with("policies/p.yaml", policy)
        .with("pod.yaml", POD)
        .with("dev.yaml", NAMESPACE.replace("ENV", "dev"))
        .with("prod.yaml", NAMESPACE.replace("ENV", "prod"))
        .with("rules.yaml", RULES)
        .with("no-rules.yaml", "authorizer: []\n")
        .with("faulty-rules.yaml", "authorizer: [{user: ann}]\n")
        .with("empty.yaml", "")
        .with("other.yaml", "rules: []\n")
}

/// Reviews the Pod; checks the exit code, and that the output contains these texts.
#[track_caller]
fn review(directory: &Directory, more: &[&str], code: i32, words: &[&str]) {
    let arguments = [&["review", "--manifests", "policies", "pod.yaml"], more].concat();
    directory.run(&arguments).exits(code).shows(words);
}

#[test]
fn the_authorizer_is_asked_for() {
    let asks = policy(ASKS);
    let missing = "ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'p.static.k8s.io' is undecided: it is not known \
                   whether user \"kubernetes-admin\" may use quotas.example.com";
    let help = "= help: say with --authorizer FILE what users may do";
    review(
        &asks,
        &[],
        3,
        &[
            "CREATE pods shop/web: undecided",
            missing,
            help,
            "0 allowed, 0 denied, 1 undecided",
        ],
    );
    review(
        &asks,
        &["--explain"],
        3,
        &["undecided: it is not known whether user"],
    );
    review(
        &asks,
        &["--authorizer", "rules.yaml"],
        1,
        &["0 allowed, 1 denied\n"],
    );
    review(
        &asks,
        &["--authorizer", "no-rules.yaml"],
        0,
        &["1 allowed, 0 denied\n"],
    );
    review(
        &asks,
        &["--authorizer", "faulty-rules.yaml"],
        2,
        &["unknown field `user`"],
    );
    review(
        &asks,
        &["--authorizer", "empty.yaml"],
        2,
        &["expected a field `authorizer`"],
    );
    review(
        &asks,
        &["--authorizer", "other.yaml"],
        2,
        &["field `authorizer` is missing"],
    );
    review(&asks, &["--authorizer", "nowhere.yaml"], 2, &["nowhere.yaml"]);
}

#[test]
fn namespaces_are_asked_for() {
    let reads = policy(READS);
    let missing = "namespaceObject.metadata.labels.env of namespace \"shop\" is not known";
    let help =
        "= help: give the namespace as the cluster has it with --objects PATH or --namespace-object FILE";
    review(&reads, &[], 3, &[missing, help]);
    review(&reads, &["--objects", "dev.yaml"], 0, &["1 allowed, 0 denied\n"]);
    review(&reads, &["--objects", "prod.yaml"], 1, &["0 allowed, 1 denied\n"]);
    review(
        &reads,
        &["--namespace-object", "prod.yaml"],
        1,
        &["0 allowed, 1 denied\n"],
    );
    let named = policy("namespaceObject.metadata.name == 'shop'");
    review(&named, &[], 0, &["1 allowed, 0 denied\n"]);
}

/// A directory with a webhook at a port where nothing listens, in `hooks`.
fn webhook(more: &str) -> Directory {
    let hook = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: w.static.k8s.io}}
webhooks:
- name: w.example.com
  clientConfig: {{url: 'https://127.0.0.1:1/'}}
  rules:
  - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}
  admissionReviewVersions: [v1]
  sideEffects: None
  {more}
"
    );
    Directory::new()
        .with("hooks/w.yaml", hook)
        .with("pod.yaml", POD)
        .with("dev.yaml", NAMESPACE.replace("ENV", "dev"))
        .with("prod.yaml", NAMESPACE.replace("ENV", "prod"))
        .with("no-rules.yaml", "authorizer: []\n")
}

const SELECTS: &str = "namespaceSelector: {matchLabels: {env: prod}}";
const CONDITION: &str =
    "matchConditions: [{name: c, expression: \"authorizer.path('/x').check('get').allowed()\"}]";

#[test]
fn webhooks_follow_the_same_rule() {
    let review = |more: &str, given: &[&str], code: i32, words: &str| {
        let arguments = ["review", "--manifests", "hooks", "--webhooks", "pod.yaml"];
        let run = webhook(more).run(&[&arguments, given].concat());
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stdout.contains(words), "{run:?}");
    };
    let missing = "ValidatingAdmissionWebhook 'w.example.com' is undecided: ";
    review(SELECTS, &[], 3, missing);
    review(SELECTS, &["--objects", "dev.yaml"], 0, "1 allowed");
    review(SELECTS, &["--objects", "prod.yaml"], 1, "failed calling webhook");
    review(CONDITION, &[], 3, missing);
    review(CONDITION, &["--authorizer", "no-rules.yaml"], 0, "1 allowed");
    for (more, words) in [
        (SELECTS, "error: w.example.com selects namespaces by their labels"),
        (CONDITION, "error: w.example.com asks the authorizer"),
    ] {
        let run = webhook(more).run(&["serve", "--listen", "127.0.0.1:0", "--manifests", "hooks"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
}

#[test]
fn json_has_what_is_missing() {
    let asks = policy(ASKS);
    review(
        &asks,
        &["--output", "json"],
        3,
        &[
            r#""allowed":false"#,
            r#""undecided":[{"plugin":"ValidatingAdmissionPolicy","name":"p.static.k8s.io","binding":"p.static.k8s.io","missing":"authorizer","message":"#,
        ],
    );
    let run = asks.run(&[
        "review",
        "--manifests",
        "policies",
        "--output",
        "diff",
        "pod.yaml",
    ]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
    assert!(run.stderr.contains("CREATE pods shop/web: undecided"), "{run:?}");
}

#[test]
fn a_denial_counts_for_more() {
    let reads = policy(READS).with("other.yaml", POD.replace("shop", "other"));
    let run = reads.run(&[
        "review",
        "--manifests",
        "policies",
        "--objects",
        "prod.yaml",
        "pod.yaml",
        "other.yaml",
    ]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.counts() == Some("0 allowed, 1 denied, 1 undecided"),
        "{run:?}"
    );
}

#[test]
fn tests_fail_unless_the_suite_gives_it() {
    let suite = |cluster: &str| {
        format!(
            "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies]
cluster: {{{cluster}}}
tests:
- {{name: a pod, object: pod.yaml, expect: denied}}
"
        )
    };
    let test = |expression: &str, cluster: &str, code: i32, words: &str| {
        let run = policy(expression)
            .with("suite.yaml", suite(cluster))
            .run(&["test", "suite.yaml"]);
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stdout.contains(words), "{run:?}");
    };
    test(ASKS, "", 1, "give the rules that apply as cluster.authorizer");
    test(ASKS, "authorizer: []", 1, "actual   allowed");
    test(ASKS, "authorizer: [{verbs: [use]}]", 0, "1 passed");
    test(
        READS,
        "",
        1,
        "give the namespace with its labels under cluster.namespaces",
    );
    test(READS, "namespaces: {shop: {env: prod}}", 0, "1 passed");
}

#[test]
fn servers_refuse_what_they_cannot_know() {
    let refused = |expression: &str, more: &[&str], words: &str| {
        let arguments = [
            &["serve", "--listen", "127.0.0.1:0", "--manifests", "policies"],
            more,
        ]
        .concat();
        let run = policy(expression).run(&arguments);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    };
    refused(
        READS,
        &[],
        "error: p.static.k8s.io reads namespaceObject beyond its name, and the namespaces of the cluster are not known: give \
         them with --cluster or --cluster-objects",
    );
    let asks = "error: p.static.k8s.io asks the authorizer, and there is no cluster to answer: name one with --cluster";
    refused(ASKS, &[], asks);
    refused(ASKS, &["--cluster-objects", "dev.yaml"], asks);
    // Regardless of whether a request matches.
    refused(&format!("true || {ASKS}"), &[], asks);
}
