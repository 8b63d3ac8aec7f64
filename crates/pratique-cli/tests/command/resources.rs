//! Which resource an object is: kinds that no server serves, kinds that are not known, and definitions that define nothing.

use serde_json::Value;

use crate::support::{Directory, Run};

/// A policy that refuses everything of some resources.
fn policy(group: &str, resource: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: refuses}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: ['{group}'], apiVersions: ['*'], operations: ['*'], resources: ['{resource}']}}
  validations: [{{expression: 'false', message: refused}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: refuses}}
spec: {{policyName: refuses, validationActions: [Deny]}}
"
    )
}

fn definition(group: &str, kind: &str, plural: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.{group}
  annotations: {{api-approved.kubernetes.io: 'https://example.com/1'}}
spec:
  group: '{group}'
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{data: {{type: object}}}}}}}}
"
    )
}

const GATEWAY: &str = "{apiVersion: example.com/v1, kind: Gateway, metadata: {name: g, namespace: shop}}\n";
const MISSING: &str = "the server could not find the requested resource";

/// Kinds of groups of Kubernetes that are not served, with the answer of the server and the help beside it.
const UNSERVED: [(&str, &str, &str, &str); 12] = [
    (
        "extensions/v1beta1",
        "Deployment",
        MISSING,
        "not served since Kubernetes 1.16: use apps/v1 Deployment",
    ),
    (
        "apps/v1beta2",
        "Deployment",
        MISSING,
        "not served since Kubernetes 1.16: use apps/v1 Deployment",
    ),
    (
        "policy/v1beta1",
        "PodSecurityPolicy",
        MISSING,
        "not served since Kubernetes 1.25, and nothing took its place",
    ),
    (
        "batch/v1beta1",
        "CronJob",
        MISSING,
        "not served since Kubernetes 1.25: use batch/v1 CronJob",
    ),
    (
        "networking.k8s.io/v1beta1",
        "Ingress",
        MISSING,
        "not served since Kubernetes 1.22: use networking.k8s.io/v1 Ingress",
    ),
    (
        "autoscaling/v2beta2",
        "HorizontalPodAutoscaler",
        MISSING,
        "not served since Kubernetes 1.26: use autoscaling/v2 HorizontalPodAutoscaler",
    ),
    (
        "rbac.authorization.k8s.io/v1beta1",
        "Role",
        MISSING,
        "not served since Kubernetes 1.22: use rbac.authorization.k8s.io/v1 Role",
    ),
    (
        "apiextensions.k8s.io/v1beta1",
        "CustomResourceDefinition",
        MISSING,
        "not served since Kubernetes 1.22: use apiextensions.k8s.io/v1 CustomResourceDefinition",
    ),
    ("apps/v2", "Deployment", MISSING, "use apps/v1 Deployment"),
    ("v1", "Podd", MISSING, "did you mean Pod?"),
    (
        "apps/v1",
        "deployment",
        "deployment in version \"v1\" cannot be handled as a Deployment: no kind \"deployment\" is registered for version \
         \"apps/v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        "the objects of deployments.apps are of kind Deployment",
    ),
    (
        "resource.k8s.io/v1beta1",
        "DeviceClass",
        MISSING,
        "only with --runtime-config=resource.k8s.io/v1beta1=true",
    ),
];

fn object(version: &str, kind: &str) -> String {
    format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: a, namespace: shop}}}}\n")
}

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn kinds_that_no_server_serves_are_refused_with_its_answer() {
    for (version, kind, answer, help) in UNSERVED {
        let directory = Directory::new()
            .with("policies/p.yaml", policy("example.com", "nothing"))
            .with("a.yaml", object(version, kind));
        let review =
            |more: &[&str]| directory.run(&[&["review", "--policies", "policies", "a.yaml"], more].concat());
        review(&[]).exits(1).shows(&[
            answer,
            help,
            "denied by the server itself (40",
            "0 allowed, 1 denied",
        ]);
        directory
            .run(&["review", "--chain", "a.yaml"])
            .exits(1)
            .shows(&[answer, help]);
        let json = review(&["-o", "ndjson"]);
        let line = &lines(json.exits(1))[0];
        assert_eq!(line["decision"], "denied", "{line}");
        assert_eq!(line["message"], answer, "{line}");
        assert!(line["help"].as_str().unwrap().contains(help), "{line}");
        let part = if answer == MISSING {
            answer
        } else {
            "cannot be handled as a Deployment"
        };
        for format in ["sarif", "junit", "github"] {
            review(&["-o", format]).exits(1).shows(&[part, help]);
        }
    }
}

#[test]
fn all_tools_refuse_what_is_not_served() {
    let directory = Directory::new()
        .with("policies/p.yaml", policy("example.com", "nothing"))
        .with("a.yaml", object("extensions/v1beta1", "Deployment"))
        .with(
            "suite.yaml",
            "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies]
tests:
- name: gone
  object: {apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}
  expect: {verdict: denied, code: 404, message: the server could not find the requested resource}
- name: an allowed one
  object: {apiVersion: v1, kind: Podd, metadata: {name: a}}
  expect: allowed
",
        );
    directory
        .run(&["scan", "--policies", "policies", "a.yaml"])
        .exits(1)
        .shows(&[MISSING]);
    let compared = directory.run(&[
        "impact", "--old", "policies", "--new", "policies", "-o", "json", "a.yaml",
    ]);
    assert_eq!(compared.exits(0).json()["requests"], 1, "{compared}");
    directory
        .run(&["test", "suite.yaml"])
        .exits(1)
        .shows(&["1 passed", "1 failed", MISSING]);
    // What the server refuses, it refuses by both sets of policies.
    let row = directory.run(&[
        "impact", "--old", "policies", "--new", "policies", "-o", "human", "a.yaml",
    ]);
    row.exits(0).shows(&["1 the same"]);
}

#[test]
fn an_assumed_resource_never_decides() {
    let review = |group: &str, resource: &str, more: &[&str]| {
        let directory = Directory::new()
            .with("policies/p.yaml", policy(group, resource))
            .with(
                "definition.yaml",
                definition("example.com", "Gateway", "gateways"),
            )
            .with("g.yaml", GATEWAY.to_owned() + "---\n" + GATEWAY);
        directory.run(&[&["review", "--policies", "policies", "g.yaml"], more].concat())
    };
    for (group, resource) in [
        ("example.com", "gateways"),
        ("*", "gateways"),
        ("example.com", "gatewaies"),
    ] {
        let run = review(group, resource, &[]);
        run.exits(3).shows(&[
            "0 allowed, 0 denied, 2 undecided",
            "the resource of kind Gateway of example.com/v1 is not known",
            "--resource",
            "CustomResourceDefinition",
        ]);
        let told =
            "kind Gateway of example.com/v1 is not known, so that it is undecided what matches its resource";
        assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    }
    // A rule for all resources matches whatever it is called.
    review("example.com", "*", &[])
        .exits(1)
        .shows(&["0 allowed, 2 denied"]);
    review("*", "*", &[]).exits(1).shows(&["0 allowed, 2 denied"]);
    // What cannot match it allows it, and the kind is counted.
    for (group, resource) in [("other.com", "gateways"), ("*", "pods"), ("", "*")] {
        review(group, resource, &[]).exits(0).shows(&[
            "2 allowed",
            "not known: 1 kind (Gateway of example.com/v1); no decision depends on its resource",
        ]);
    }
    for more in [&["--resource", "gateways"], &["--objects", "definition.yaml"]] {
        review("example.com", "gateways", more)
            .exits(1)
            .shows(&["0 allowed, 2 denied"]);
    }
    review("example.com", "gatewaies", &["--objects", "definition.yaml"])
        .exits(0)
        .shows(&["2 allowed"]);
}

#[test]
fn a_definition_says_all_versions() {
    let gone = GATEWAY.replace("/v1,", "/v1alpha1,");
    let of_v2 = GATEWAY.replace("/v1,", "/v2,");
    let definition = definition("example.com", "Gateway", "gateways")
        + "  - name: v2
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {data: {type: object}}}}
";
    for group in ["example.com", "*", "other.com"] {
        let directory = Directory::new()
            .with("policies/p.yaml", policy(group, "gateways"))
            .with("others/p.yaml", policy("other.com", "widgets"))
            .with("definition.yaml", &definition)
            .with("gone.yaml", &gone)
            .with("v2.yaml", &of_v2)
            .with("all.yaml", format!("{definition}---\n{gone}"));
        let help = |version: &str| {
            format!(
                "the CustomResourceDefinition gateways.example.com serves no example.com/{version} Gateway: use example.com/v1"
            )
        };
        let with = ["--policies", "policies", "--objects", "definition.yaml"];
        for (command, more, input, version) in [
            ("review", &with[..], "gone.yaml", "v1alpha1"),
            ("review", &with, "v2.yaml", "v2"),
            ("review", &["--policies", "policies"], "all.yaml", "v1alpha1"),
            (
                "review",
                &["--policies", "policies", "--webhooks"],
                "all.yaml",
                "v1alpha1",
            ),
            (
                "review",
                &["--chain", "--policies", "policies"],
                "all.yaml",
                "v1alpha1",
            ),
            ("scan", &with, "gone.yaml", "v1alpha1"),
            (
                "review",
                &["--objects", "definition.yaml", "--resource", "gateways"],
                "gone.yaml",
                "v1alpha1",
            ),
        ] {
            let run = directory.run(&[&[command], more, &[input]].concat());
            run.exits(1).shows(&[MISSING]);
            // A scan tells what was refused, and no help.
            assert!(
                command == "scan" || run.to_string().contains(&help(version)),
                "{run}"
            );
        }
        let compared = directory.run(&[
            "impact",
            "--old",
            "others",
            "--new",
            "policies",
            "--objects",
            "definition.yaml",
            "gone.yaml",
        ]);
        compared.exits(0).shows(&["1 the same"]);
    }
}

#[test]
fn expressions_do_not_read_an_assumed_name() {
    let policy = policy("*", "*").replace("'false'", "request.resource.resource != 'gateways'");
    let directory = Directory::new()
        .with("policies/p.yaml", policy)
        .with("g.yaml", GATEWAY);
    let review =
        |more: &[&str]| directory.run(&[&["review", "--policies", "policies", "g.yaml"], more].concat());
    review(&[])
        .exits(3)
        .shows(&["the resource of the request is not known"]);
    review(&["--resource", "gateways"]).exits(1).shows(&["refused"]);
    // Nor do they read the namespace that it may be in.
    for expression in ["namespaceObject == null", "!has(request.namespace)"] {
        let policy = self::policy("*", "*").replace("'false'", &format!("'{expression}'"));
        let directory = Directory::new()
            .with("policies/p.yaml", policy)
            .with("g.yaml", GATEWAY.replace(", namespace: shop", ""));
        directory
            .run(&["review", "--policies", "policies", "g.yaml"])
            .exits(3)
            .shows(&["the resource of the request is not known"]);
    }
}

#[test]
fn scans_and_comparisons_do_not_guess() {
    let directory = Directory::new()
        .with("policies/p.yaml", policy("example.com", "gateways"))
        .with("others/p.yaml", policy("other.com", "gateways"))
        .with(
            "definition.yaml",
            definition("example.com", "Gateway", "gateways"),
        )
        .with("g.yaml", GATEWAY);
    let not_known = "the resource of kind Gateway of example.com/v1 is not known";
    let run = directory.run(&["scan", "--policies", "policies", "-o", "ndjson", "g.yaml"]);
    run.exits(3).shows(&[not_known]);
    directory
        .run(&["scan", "--policies", "others", "g.yaml"])
        .exits(0)
        .shows(&["not known: 1 kind (Gateway of example.com/v1)"]);
    directory
        .run(&[
            "scan",
            "--policies",
            "policies",
            "--objects",
            "definition.yaml",
            "g.yaml",
        ])
        .exits(1)
        .shows(&["refused"]);
    let compared = |more: &[&str]| {
        let arguments = [
            "impact", "--old", "others", "--new", "policies", "-o", "json", "g.yaml",
        ];
        directory.run(&[&arguments, more].concat())
    };
    let run = compared(&[]);
    run.shows(&["kind Gateway of example.com/v1 is not known, so that it is undecided"]);
    assert_ne!(run.code, Some(0), "{run}");
    compared(&["--objects", "definition.yaml"]).shows(&["refused"]);
    // A test of a suite has no result; a request that was made says its resource.
    let suite = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies]
tests:
- {name: guessed, object: g.yaml, expect: allowed}
- {name: named, object: g.yaml, resource: gateways, expect: denied}
";
    let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"1","stage":"ResponseComplete","requestURI":"/apis/example.com/v1/namespaces/shop/gateways","verb":"create","user":{"username":"ann"},"objectRef":{"resource":"gateways","namespace":"shop","name":"g","apiGroup":"example.com","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},"requestObject":{"apiVersion":"example.com/v1","kind":"Gateway","metadata":{"name":"g","namespace":"shop"}},"requestReceivedTimestamp":"2026-11-23T09:01:00.000000Z","stageTimestamp":"2026-11-23T09:01:00.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
"#;
    let directory = directory.with("suite.yaml", suite).with("audit.log", event);
    directory.run(&["test", "suite.yaml"]).exits(1).shows(&[
        "1 passed, 1 failed",
        "no decision: kind Gateway of example.com/v1 is not known",
    ]);
    directory
        .run(&["replay", "--policies", "policies", "audit.log"])
        .shows(&["refused now                      1"]);
}

#[test]
fn other_groups_are_refused_where_all_kinds_are_known() {
    let snapshot = "apiVersion: pratique/v1alpha1
kind: Snapshot
taken: 2026-11-23T06:00:00Z
discovered: true
unavailable: [metrics.k8s.io]
served: [{apiVersion: example.com/v1, kind: Widget, resource: widgets, namespaced: true}]
";
    let directory = Directory::new()
        .with("policies/p.yaml", policy("other.com", "gateways"))
        .with("saved/snapshot.yaml", snapshot)
        .with(
            "definition.yaml",
            definition("example.com", "Gateway", "gateways"),
        )
        .with(
            "shop.yaml",
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
        )
        .with("g.yaml", GATEWAY)
        .with("w.yaml", object("example.com/v1", "Widget"))
        .with("m.yaml", object("metrics.k8s.io/v1", "Gateway"));
    let review = |input: &str, more: &[&str]| {
        directory.run(&[&["review", "--policies", "policies", input], more].concat())
    };
    let saved = ["--snapshot", "saved"];
    review("g.yaml", &saved)
        .exits(1)
        .shows(&[MISSING, "the cluster serves no example.com/v1 Gateway"]);
    review("w.yaml", &saved).exits(0).shows(&["1 allowed"]);
    // What its server serves is not known.
    review("m.yaml", &saved).exits(0).shows(&["not known: 1 kind"]);
    review("g.yaml", &["--snapshot", "saved", "--objects", "definition.yaml"])
        .exits(0)
        .shows(&["1 allowed"]);
    let complete = ["--objects", "shop.yaml", "--objects-complete"];
    review("g.yaml", &complete).exits(1).shows(&[
        MISSING,
        "no CustomResourceDefinition of the objects defines example.com/v1 Gateway",
    ]);
    review(
        "g.yaml",
        &["--objects", "shop.yaml,definition.yaml", "--objects-complete"],
    )
    .exits(0)
    .shows(&["1 allowed"]);
}

/// Definitions that take the place of a built-in kind, or are none that a server takes.
#[test]
fn built_in_kinds_win_over_definitions() {
    let config_map = "apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
data: {a: b}
";
    let ingress = "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a, namespace: shop}
spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}
";
    let deployment = "apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: shop}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
";
    for (group, kind, plural, resource, object) in [
        ("apps", "Deployment", "foos", "deployments", deployment),
        ("apps", "Deployment", "deployments", "deployments", deployment),
        ("", "ConfigMap", "foos", "configmaps", config_map),
        ("networking.k8s.io", "Ingress", "foos", "ingresses", ingress),
        ("networking.k8s.io", "Foo", "ingresses", "ingresses", ingress),
    ] {
        let refuses_empty =
            policy(group, resource).replace("'false'", "'!has(object.spec) && !has(object.data)'");
        let directory = Directory::new()
            .with("policies/p.yaml", refuses_empty)
            .with("definition.yaml", definition(group, kind, plural))
            .with("a.yaml", object)
            .with("both.yaml", definition(group, kind, plural) + "---\n" + object);
        let told = "the definition defines nothing";
        for (arguments, place) in [
            (
                &["review", "--policies", "policies", "both.yaml"] as &[&str],
                "both.yaml:1:1",
            ),
            (
                &[
                    "review",
                    "--policies",
                    "policies",
                    "--objects",
                    "definition.yaml",
                    "a.yaml",
                ],
                "definition.yaml:1:1",
            ),
            (
                &[
                    "scan",
                    "--policies",
                    "policies",
                    "--objects",
                    "definition.yaml",
                    "a.yaml",
                ],
                "definition.yaml:1:1",
            ),
        ] {
            let run = directory.run(arguments);
            run.exits(1).shows(&["refused", told, place]);
            assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
        }
    }
}

#[test]
fn an_invalid_definition_defines_nothing() {
    let valid = definition("example.com", "Gateway", "gateways");
    for (from, to, why) in [
        (
            "name: gateways.example.com",
            "name: others.example.com",
            "metadata.name",
        ),
        ("storage: true", "storage: false", "exactly one version"),
        ("plural: gateways", "plural: Gateways", "spec.names.plural"),
        (
            "type: object, properties",
            "type: nonsense, properties",
            "openAPIV3Schema",
        ),
    ] {
        let directory = Directory::new()
            .with("policies/p.yaml", policy("example.com", "gateways"))
            .with("definition.yaml", valid.replace(from, to))
            .with("g.yaml", GATEWAY);
        let run = directory.run(&[
            "review",
            "--policies",
            "policies",
            "--objects",
            "definition.yaml",
            "g.yaml",
        ]);
        run.exits(3).shows(&[
            "definition.yaml:1:1: the definition defines nothing",
            why,
            "1 undecided",
        ]);
        assert_eq!(
            run.stderr.matches("the definition defines nothing").count(),
            1,
            "{run}"
        );
    }
}

#[test]
fn an_object_needs_a_name_or_the_start_of_one() {
    let pod = "apiVersion: v1
kind: Pod
metadata: {NAME}
spec: {containers: [{name: c, image: i}]}
";
    let directory = Directory::new()
        .with("policies/p.yaml", policy("example.com", "nothing"))
        .with("none.yaml", pod.replace("NAME", "namespace: shop"))
        .with("generated.yaml", pod.replace("NAME", "generateName: a-"))
        .with(
            "map.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop}}\n",
        )
        .with(
            "custom.yaml",
            "{apiVersion: other.com/v1, kind: Widget, metadata: {}}\n",
        )
        .with(
            "review.yaml",
            "apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec: {user: ann, nonResourceAttributes: {path: /, verb: get}}
",
        )
        .with(
            "named.yaml",
            policy("", "pods")
                .replace("Validating", "Mutating")
                .replace(
                    "validations: [{expression: 'false', message: refused}]",
                    "reinvocationPolicy: Never
  failurePolicy: Fail
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{name: 'given'}}\"}",
                )
                .replace(", validationActions: [Deny]", ""),
        );
    let answer = "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required";
    let review = |policies: &str, input: &str| directory.run(&["review", "--policies", policies, input]);
    review("policies", "none.yaml")
        .exits(1)
        .shows(&["denied (422 Invalid)", answer]);
    review("policies", "generated.yaml").exits(0);
    review("policies", "review.yaml").exits(0);
    // A mutating policy may give it a name.
    review("named.yaml", "none.yaml").exits(0);
    for input in ["map.yaml", "custom.yaml"] {
        let unnamed = "is invalid: metadata.name: Required value: name or generateName is required";
        review("policies", input).exits(1).shows(&[unnamed]);
        directory
            .run(&["review", "--chain", "--policies", "policies", input])
            .exits(1)
            .shows(&[unnamed]);
    }
    directory
        .run(&["scan", "--policies", "policies", "none.yaml"])
        .exits(1)
        .shows(&[answer]);
    // Objects that stay as they are need a name as well.
    let as_given = |policies: &str, input: &str| {
        directory.run(&["review", "--defaults", "off", "--policies", policies, input])
    };
    as_given("policies", "none.yaml")
        .exits(1)
        .shows(&["denied (422 Invalid)", answer]);
    as_given("policies", "custom.yaml").exits(1);
    for (policies, input) in [
        ("policies", "generated.yaml"),
        ("policies", "review.yaml"),
        ("named.yaml", "none.yaml"),
    ] {
        as_given(policies, input).exits(0);
    }
    directory
        .run(&["scan", "--defaults", "off", "--policies", "policies", "none.yaml"])
        .exits(1)
        .shows(&[answer]);
}
