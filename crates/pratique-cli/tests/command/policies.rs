//! Policies of the API: read from files, directories, lists and standard input; checked and evaluated.

use crate::story::{CLEAN, PRIVILEGED};
use crate::support::Directory;

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replica-limit}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: object.spec.replicas <= int(params.data.max)
    messageExpression: \"'at most ' + params.data.max + ' replicas'\"
";

const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replica-limit}
spec:
  policyName: replica-limit
  paramRef: {name: limits, namespace: policies, parameterNotFoundAction: Allow}
  validationActions: [Deny]
";

const PARAM: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: policies}
data: {max: '3'}
";

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
";

const STATIC: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: object.metadata.name != 'web', message: not web}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names.static.k8s.io}
spec: {policyName: names.static.k8s.io, validationActions: [Deny]}
";

const WEBHOOKS: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: inject}
webhooks:
- name: inject.example.com
  clientConfig: {service: {namespace: mesh, name: inject}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  admissionReviewVersions: [v1]
  sideEffects: None
";

/// Policies of the API and a Deployment that they deny.
fn files() -> Directory {
    Directory::new()
        .with("policies/policy.yaml", POLICY)
        .with("policies/more/binding.yaml", BINDING)
        .with("policies/values.txt", "no manifest")
        .with("param.yaml", PARAM)
        .with("static.yaml", STATIC)
        .with("deployment.yaml", DEPLOYMENT)
}

#[test]
fn policies_with_params_are_evaluated() {
    files()
        .run(&[
            "review",
            "--policies",
            "policies",
            "--objects",
            "param.yaml",
            "deployment.yaml",
        ])
        .is("policies-params.txt");
}

#[test]
fn params_that_were_not_given_leave_it_undecided() {
    let run = files().run(&["review", "--policies", "policies", "deployment.yaml"]);
    run.exits(3)
        .stdout_has("params of kind '/v1, Kind=ConfigMap' named \"limits\"");
}

#[test]
fn paths_are_lists_files_and_standard_input() {
    let files = files();
    let one = format!("{POLICY}---\n{BINDING}");
    let items = [POLICY, BINDING, PARAM].map(|text| text.trim_end().replace('\n', "\n  "));
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", items.join("\n- "));
    for (arguments, input) in [
        (&["--policies", "-"][..], one.as_str()),
        (&["--policies", "-"], &list),
        (&["--policies", "policies/policy.yaml,policies/more"], ""),
        (
            &[
                "--policies",
                "policies/policy.yaml",
                "--policies",
                "policies/more",
            ],
            "",
        ),
    ] {
        let more = ["--objects", "param.yaml", "deployment.yaml"];
        let run = files.run_with(&[&["review"], arguments, &more].concat(), input, &[]);
        run.exits(1).stdout_has("denied request: at most 3 replicas");
        assert_eq!(
            run.stderr
                .contains("skipped 1 object of other kinds: ConfigMap (1)"),
            input == list,
            "{run}"
        );
    }
}

#[test]
fn both_origins_are_evaluated_static_manifests_first() {
    let run = files().run(&[
        "review",
        "--policies",
        "static.yaml,policies",
        "--objects",
        "param.yaml",
        "deployment.yaml",
        "--explain",
    ]);
    run.exits(1);
    let place = |text: &str| run.stdout.find(text).unwrap_or_else(|| panic!("{text} in {run}"));
    assert!(
        place("policy names.static.k8s.io static.yaml:1:1")
            < place("policy replica-limit policies/policy.yaml:1:1")
    );
}

/// The policy and the binding, in other versions.
fn older(policy: &str, binding: &str) -> (String, String) {
    (
        POLICY.replace("k8s.io/v1\n", &format!("k8s.io/{policy}\n")),
        BINDING
            .replace("k8s.io/v1\n", &format!("k8s.io/{binding}\n"))
            .replace(", parameterNotFoundAction: Allow", ""),
    )
}

#[test]
fn versions_that_are_not_served_are_refused() {
    let suite = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [old]
tests:
- {name: it, object: deployment.yaml, expect: allowed}
";
    let (policy, binding) = older("v1beta1", "v1alpha1");
    let files = files()
        .with("old/policy.yaml", policy)
        .with("old/binding.yaml", binding)
        .with("suite.yaml", suite);
    let check = files.run(&["check", "old"]);
    check.exits(1).shows(&[
        "the server could not find the requested resource (post validatingadmissionpolicies.admissionregistration.k8s.io)",
        "v1beta1 ValidatingAdmissionPolicy is not served since Kubernetes 1.34: write it in admissionregistration.k8s.io/v1",
        "v1alpha1 ValidatingAdmissionPolicyBinding is not served since Kubernetes 1.32",
    ]);
    let missing = "the server could not find the requested resource";
    for (command, more) in [
        ("review", &[][..]),
        ("review", &["--chain"]),
        ("review", &["--kubernetes-version", "1.36"]),
        ("scan", &[]),
    ] {
        let run = files.run(&[&[command, "--policies", "old"], more, &["deployment.yaml"]].concat());
        assert_ne!(run.code, Some(0), "{run}");
        run.shows(&[missing]);
        assert!(!run.stdout.contains("1 allowed"), "{run}");
    }
    let run = files.run(&["test", "suite.yaml"]);
    assert_ne!(run.code, Some(0), "{run}");
    run.shows(&[missing]);
}

/// A kind that is written wrong is no object of another kind, which may stand among policies.
#[test]
fn kinds_that_no_server_has_are_refused() {
    let directory = files()
        .with(
            "policies/typo.yaml",
            STATIC.replace(".static.k8s.io", "").replace(
                "kind: ValidatingAdmissionPolicy\n",
                "kind: ValidatingAdmisionPolicy\n",
            ),
        )
        .with(
            "suite.yaml",
            "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies]
tests:
- {name: it, object: deployment.yaml, expect: allowed}
",
        );
    let missing = "the server could not find the requested resource (post validatingadmisionpolicies.admissionregistration.k8s.io)";
    let help = "did you mean \"ValidatingAdmissionPolicy\"?";
    directory
        .run(&["check", "policies"])
        .exits(1)
        .shows(&[missing, help, "policies/typo.yaml:2:7"]);
    for command in ["review", "scan"] {
        let run = directory.run(&[command, "--policies", "policies", "deployment.yaml"]);
        assert!(run.code != Some(0) && !run.stdout.contains("1 allowed"), "{run}");
        run.shows(&[missing, help]);
    }
    let run = directory.run(&["test", "suite.yaml"]);
    assert!(run.code != Some(0), "{run}");
    run.shows(&[missing]);
    // In a list, in another case.
    let list = "apiVersion: v1
kind: List
items:
- {apiVersion: admissionregistration.k8s.io/v1, kind: validatingadmissionpolicy, metadata: {name: a}}
";
    directory
        .with("list.yaml", list)
        .run(&["check", "list.yaml"])
        .exits(1)
        .shows(&["no kind \"validatingadmissionpolicy\" is registered for version \"admissionregistration.k8s.io/v1\""]);
}

/// A policy of a version that a server can be told to serve, and that sets what a plugin has computed before it.
#[test]
fn versions_that_can_be_served_are_evaluated_with_a_warning() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: class}
spec:
  reinvocationPolicy: IfNeeded
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConditions: [{name: none, expression: '!has(object.spec.priorityClassName)'}]
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{spec: Object.spec{priorityClassName: params.data.class}}'}
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata: {name: class}
spec: {policyName: class, paramRef: {name: classes, namespace: shop, parameterNotFoundAction: Deny}}
";
    let state = "apiVersion: v1
kind: ConfigMap
metadata: {name: classes, namespace: shop}
data: {class: high}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
";
    let suite = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policy.yaml]
cluster: {objects: [state.yaml]}
tests:
- {name: it, object: pod.yaml, expect: {verdict: allowed, policies: {class: mutated}}}
";
    let files = Directory::new()
        .with("policy.yaml", policy)
        .with("state.yaml", state)
        .with("pod.yaml", CLEAN)
        .with("suite.yaml", suite);
    let told = "admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy is not served unless the server has \
        --runtime-config=admissionregistration.k8s.io/v1beta1=true";
    files
        .run(&["check", "policy.yaml"])
        .exits(0)
        .shows(&[told, "[optional-version]", "[plugin-field]"]);
    let state = [
        "--objects",
        "state.yaml",
        "--objects-complete",
        "--policies",
        "policy.yaml",
    ];
    files
        .run(&[&["review", "pod.yaml"], &state[..]].concat())
        .exits(0)
        .stderr_has(told);
    files
        .run(&[&["review", "--chain", "pod.yaml"], &state[..]].concat())
        .exits(1)
        .shows(&[
            told,
            "denied by Priority",
            "the integer value of priority (0) must not be provided in pod spec; priority admission controller computed 1000",
        ]);
    files.run(&["test", "suite.yaml"]).exits(0).shows(&[told]);
    // A static manifest is of a version that the server decodes.
    let of_static = policy
        .replace("name: class}", "name: class.static.k8s.io}")
        .replace("Name: class,", "Name: class.static.k8s.io,");
    files
        .with("static.yaml", of_static)
        .run(&["check", "static.yaml"])
        .exits(1)
        .shows(&["unsupported resource type *v1beta1.MutatingAdmissionPolicy"]);
}

#[test]
fn older_versions_are_those_of_clusters_that_serve_them() {
    let (policy, binding) = older("v1beta1", "v1alpha1");
    let index = "apiVersion: pratique/v1alpha1
kind: Snapshot
taken: 2026-11-23T06:00:00Z
kinds:
- {apiVersion: admissionregistration.k8s.io/v1beta1, kind: ValidatingAdmissionPolicy, objects: 1, extent: all}
- {apiVersion: admissionregistration.k8s.io/v1alpha1, kind: ValidatingAdmissionPolicyBinding, objects: 1, extent: all}
- {apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, objects: 0, extent: all}
- {apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, objects: 0, extent: all}
- {apiVersion: v1, kind: ConfigMap, objects: 1, extent: all}
";
    let snapshot = |name: &str| {
        files()
            .with("saved/snapshot.yaml", index)
            .with(&format!("saved/{name}.yaml"), &policy)
            .with("saved/validatingadmissionpolicybindings.yaml", &binding)
            .with("saved/param.yaml", PARAM)
            .run(&["review", "--snapshot", "saved", "deployment.yaml"])
    };
    snapshot("validatingadmissionpolicies")
        .exits(1)
        .stdout_has("at most 3 replicas");
    // In a file of another name it would not be found, though the index counts it.
    snapshot("renamed")
        .exits(2)
        .stderr_has("saved/renamed.yaml:1:1: a ValidatingAdmissionPolicy is in a file that is not named after its resource");
}

#[test]
fn all_kinds_may_be_in_one_directory() {
    files()
        .with("policies/webhooks.yaml", WEBHOOKS)
        .run(&["check", "policies"])
        .is("policies-check.txt");
}

#[test]
fn what_the_api_refuses() {
    let directory = Directory::new().with(
        "policy.yaml",
        POLICY
            .replace("apiVersion: v1, kind: ConfigMap", "apiVersion: v1")
            .replace("operations", "operation"),
    );
    directory
        .run(&["check", "policy.yaml"])
        .is("policies-refused.txt");
    let run = directory.run(&["review", "--policies", "policy.yaml", "policy.yaml"]);
    run.exits(1).stderr_has("unknown field");
}

#[test]
fn origins_can_be_named() {
    let files = files();
    let run = files.run(&["check", "--origin", "static", "policies/policy.yaml"]);
    run.exits(1);
    for text in [
        "must have a name ending with",
        "spec.paramKind is not supported for static manifests",
    ] {
        run.stdout_has(text);
    }
    let run = files.run(&["check", "--origin", "api", "static.yaml"]);
    run.exits(0)
        .stderr_has("static.yaml: checked as objects of the API");
}

#[test]
fn objects_of_the_api_among_static_manifests_are_reported() {
    let files = files().with("policies/static.yaml", STATIC);
    let run = files.run(&["check", "policies"]);
    run.exits(0);
    assert_eq!(run.stdout.matches("[mixed-origins]").count(), 2, "{run}");
    let run = files.run(&["check", "--deny", "mixed-origins", "policies"]);
    run.exits(1);
}

#[test]
fn exported_objects_have_no_faults() {
    let exported = POLICY.replace(
        "metadata: {name: replica-limit}",
        "metadata:
  name: replica-limit
  creationTimestamp: '2025-01-01T00:00:00Z'
  generation: 1
  resourceVersion: '123'
  uid: 0b1c9b0a-0000-4000-8000-000000000000
  managedFields:
  - {apiVersion: admissionregistration.k8s.io/v1, fieldsType: FieldsV1, manager: kubectl, operation: Update, time: '2025-01-01T00:00:00Z',
    fieldsV1: {'f:spec': {'f:failurePolicy': {}}}}",
    ) + "status: {observedGeneration: 1, typeChecking: {expressionWarnings: []}}\n";
    let list = format!(
        "apiVersion: v1\nkind: List\nmetadata: {{resourceVersion: ''}}\nitems:\n- {}\n",
        exported.trim_end().replace('\n', "\n  ")
    );
    let run =
        Directory::new()
            .with("all.yaml", list)
            .run(&["check", "--allow", "unbound-policy", "all.yaml"]);
    run.exits(0);
    assert!(!run.stdout.contains("warning"), "{run}");
}

#[test]
fn files_of_a_directory_that_are_no_objects_are_counted() {
    let files = files()
        .with("policies/values.yaml", "replicas: 3\n")
        .with("policies/broken.yaml", "a: [\n");
    let arguments = [
        "review",
        "--policies",
        "policies",
        "--objects",
        "param.yaml",
        "deployment.yaml",
    ];
    let run = files.run(&arguments);
    run.exits(1).stdout_has("at most 3 replicas");
    let skipped = "policies: skipped 1 file that is no object, such as policies/broken.yaml";
    run.stderr_has(skipped)
        .stderr_has("policies/values.yaml: file of values");
    // What may be a policy is an error.
    let run = files
        .with(
            "policies/chart.yaml",
            "apiVersion: admissionregistration.k8s.io/v1\nspec: {{ x }}: y\n",
        )
        .run(&arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
}

#[test]
fn nothing_to_evaluate_is_an_error() {
    let run = files().run(&["review", "--policies", "param.yaml", "deployment.yaml"]);
    run.exits(2)
        .stderr_has("no policy, binding or webhook configuration among its 1 object\n");
}

#[test]
fn policies_without_a_binding_can_be_bound() {
    let policy = POLICY
        .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        .replace("int(params.data.max)", "3");
    let (policy, _) = policy.split_once("    messageExpression").unwrap();
    let files = files().with("alone.yaml", policy);
    let arguments = ["review", "--policies", "alone.yaml", "deployment.yaml"];
    let run = files.run(&arguments);
    run.exits(3)
        .stderr_has("ValidatingAdmissionPolicy replica-limit is not evaluated: no binding");
    let run = files.run(&[&arguments[..], &["--bind"]].concat());
    run.exits(1);
}

/// Of a library no policy has a binding: that is told once, with their number.
#[test]
fn a_library_of_policies_is_one_warning() {
    let policy = POLICY
        .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        .replace("int(params.data.max)", "3");
    let (policy, _) = policy.split_once("    messageExpression").unwrap();
    let library = |count: usize| {
        let policies = (0..count).map(|number| policy.replace("replica-limit", &format!("limit-{number}")));
        files().with("library.yaml", policies.collect::<Vec<_>>().join("---\n"))
    };
    let told = |count: usize, arguments: &[&str]| {
        let run = library(count).run(arguments);
        let text = run.to_string();
        (text.matches("no binding").count(), text)
    };
    let check = ["check", "library.yaml"];
    let review = ["review", "--policies", "library.yaml", "deployment.yaml"];
    assert_eq!(told(3, &check).0, 3);
    let (count, text) = told(5, &check);
    let expected =
        "no binding refers to 5 policies: they are never evaluated: limit-0, limit-1, limit-2 and 2 more";
    assert!(count == 1 && text.contains(expected), "{text}");
    let (_, text) = told(5, &review);
    let expected = "5 policies are not evaluated, as no binding refers to them: limit-0, limit-1, limit-2 and 2 more; --bind";
    assert!(text.contains(expected), "{text}");
    assert_eq!(text.matches("limit-0").count(), 1, "{text}");
    // One that is denied counts all the same.
    library(5)
        .run(&["check", "library.yaml", "--deny", "unbound-policy"])
        .exits(1);
}

#[test]
fn servers_evaluate_them() {
    let files = files();
    let print = [
        "serve",
        "--print-webhook-configuration",
        "--webhook-service",
        "admission/pratique",
        "--policies",
    ];
    let run = files.run(&[&print[..], &["policies"]].concat());
    run.exits(0).stdout_has("deployments");
    let run = files.run(&[&print[..], &["param.yaml"]].concat());
    run.exits(2);
    // Without the state that they need, a server does not start.
    let run = files.run(&["serve", "--listen", "127.0.0.1:0", "--policies", "policies"]);
    run.exits(1).stderr_has("replica-limit");
}

/// Policies among the inputs are reviewed as objects, and evaluated on request.
#[test]
fn policies_among_the_inputs() {
    let unknown = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\n";
    let directory = Directory::new()
        .with(
            "chart/policy.yaml",
            crate::story::POLICY.replace(".static.k8s.io", ""),
        )
        .with(
            "chart/binding.yaml",
            crate::story::BINDING.replace(".static.k8s.io", ""),
        )
        .with(
            "chart/pods.yaml",
            format!("{PRIVILEGED}---\n{CLEAN}---\n{unknown}"),
        );
    let run = directory.run(&["review", "--quiet", "--input-policies", "chart"]);
    assert_eq!(
        (run.code, run.counts()),
        (Some(1), Some("4 allowed, 1 denied")),
        "{run}"
    );
    run.stdout_has("'deny-privileged' with binding").stderr_has("policies, bindings and webhook configurations among the inputs are reviewed, and evaluated for all inputs\n");
    let run = directory.run(&["review", "--quiet", "chart"]);
    assert!(!run.stdout.contains("'deny-privileged'"), "{run}");
    run.stderr_has("reviewed as objects: --input-policies evaluates them for all inputs");
}

/// Policies that are bound and stand among other objects are a question that nobody answered.
#[test]
fn bound_policies_among_the_inputs_are_not_passed() {
    let policy = crate::story::POLICY.replace(".static.k8s.io", "");
    let binding = crate::story::BINDING.replace(".static.k8s.io", "");
    let param = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: shop}\n";
    let directory = Directory::new()
        .with("mixed/policy.yaml", policy.as_str())
        .with("mixed/binding.yaml", binding.as_str())
        .with("mixed/param.yaml", param)
        .with("deploy/pod.yaml", CLEAN)
        .with("one.yaml", format!("{policy}---\n{binding}---\n{CLEAN}"))
        .with("unbound.yaml", format!("{policy}---\n{CLEAN}"));
    const TOLD: &str = "there are policies with bindings in it, and they are reviewed as objects";
    for inputs in [["mixed", "deploy"].as_slice(), &["one.yaml"]] {
        for format in ["human", "json", "sarif", "junit", "github"] {
            let arguments = [&["review", "--output", format], inputs].concat();
            let run = directory.run(&arguments);
            run.exits(3);
            let output = if format == "human" {
                &run.stderr
            } else {
                &run.stdout
            };
            assert!(output.contains(TOLD), "{format}: {run}");
            assert!(
                !run.stdout.contains("no policy and no webhook is evaluated"),
                "{run}"
            );
            if format == "junit" {
                run.stdout_has("<skipped message=\"policies among the inputs are not evaluated\"/>");
            }
        }
        directory
            .run(&[&["review", "--input-policies"], inputs].concat())
            .exits(0);
        let named = directory.run(&[&["review", "--policies", "mixed"], inputs].concat());
        named.exits(0);
        assert!(!named.to_string().contains(TOLD), "{named}");
    }
    let run = directory.run(&["review", "unbound.yaml"]);
    run.exits(0)
        .stderr_has("reviewed as objects, and not evaluated: --input-policies evaluates them");
}

/// Policies of other engines are nothing that is evaluated, and no workloads.
#[test]
fn policies_of_other_engines_among_the_inputs_are_told() {
    let kyverno = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {rules: [{validate: {pattern: \
                   {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}}]}\n";
    let gatekeeper = "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: K8sTeam\nmetadata: {name: b}\n";
    let directory = Directory::new()
        .with("other/kyverno.yaml", format!("{kyverno}---\n{kyverno}"))
        .with("other/gatekeeper.yaml", gatekeeper)
        .with("deploy/pod.yaml", CLEAN)
        .with("policies/policy.yaml", crate::story::POLICY)
        .with("policies/binding.yaml", crate::story::BINDING);
    const TOLD: [&str; 2] = [
        "ClusterPolicy is a kind of Kyverno, and not evaluated",
        "K8sTeam is a kind of Gatekeeper, and not evaluated",
    ];
    for format in ["human", "json", "sarif", "junit", "github"] {
        let run = directory.run(&["review", "other", "deploy", "--output", format]);
        run.exits(3);
        let output = if format == "human" {
            &run.stderr
        } else {
            &run.stdout
        };
        assert!(TOLD.iter().all(|told| output.contains(told)), "{format}: {run}");
        assert!(!run.to_string().contains("with a Pod template"), "{run}");
    }
    // Whoever names policies has said what is to be evaluated.
    let run = directory.run(&["review", "other", "deploy", "--policies", "policies"]);
    run.exits(0).stderr_has(TOLD[0]).stderr_has(TOLD[1]);
}

#[test]
fn policies_of_streams_count_for_what_stands_before_them() {
    let policy = crate::story::POLICY.replace(".static.k8s.io", "");
    let binding = crate::story::BINDING.replace(".static.k8s.io", "");
    let stream = format!("{PRIVILEGED}---\n{CLEAN}---\n{policy}---\n{binding}---\n{CLEAN}");
    let directory = Directory::new().with("stream.yaml", stream.as_str());
    let review = |path: &str, stream: &str| {
        let run = directory.run_with(&["review", "--input-policies", path], stream, &[]);
        let (counts, decisions) = (run.counts().map(str::to_owned), run.stdout.clone());
        assert_eq!(
            (run.code, counts.as_deref()),
            (Some(1), Some("4 allowed, 1 denied")),
            "{run}"
        );
        decisions
    };
    let of_file = review("stream.yaml", "");
    assert_eq!(review("-", &stream), of_file.replace("stream.yaml", "<stdin>"));
    #[cfg(target_os = "linux")]
    assert_eq!(
        review("/dev/stdin", &stream),
        of_file.replace("stream.yaml", "/dev/stdin")
    );
    // Namespaces and definitions count for all of them, too; a list is one.
    let items = [PRIVILEGED, CLEAN, policy.as_str(), binding.as_str(), CLEAN];
    let indented = |item: &str| format!("- {}\n", item.trim_end().replace('\n', "\n  "));
    let list = items.map(indented).concat();
    review("-", &format!("apiVersion: v1\nkind: List\nitems:\n{list}"));
    // A policy that does not load is reported at its place.
    let faulty = stream.replace("object.spec", "objekt.spec");
    assert_ne!(faulty, stream);
    let refused = |path: &str| directory.run_with(&["review", "--input-policies", path], &faulty, &[]);
    let run = refused("-");
    run.exits(1);
    let line = faulty.lines().position(|line| line.contains("objekt")).unwrap() + 1;
    run.stderr_has(&format!("<stdin>:{line}:"));
}
