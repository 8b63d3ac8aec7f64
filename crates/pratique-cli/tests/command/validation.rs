//! The server's own validation of built-in kinds, in the commands that review objects.

use crate::support::{Directory, Run};

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  restartPolicy: Allways
  containers:
  - name: a
    image: nginx
    ports:
    - containerPort: 99999
    volumeMounts:
    - {name: date, mountPath: /x}
  volumes:
  - {name: data, emptyDir: {}}
";

const SMALL: &str = "apiVersion: v1
kind: Pod
metadata: {name: small, namespace: shop}
spec:
  containers:
  - name: a
    image: nginx
    resources: {requests: {cpu: 100m}}
    volumeMounts:
    - {name: data, mountPath: /x}
  volumes:
  - {name: data, emptyDir: {}}
";

const LIMITS: &str = "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, \
    spec: {limits: [{type: Container, default: {cpu: 10m}}]}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}
";

/// A policy that takes the volumes away.
pub(crate) const REMOVAL: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: no-volumes}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: \"remove\", path: \"/spec/volumes\"}]'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: no-volumes}
spec: {policyName: no-volumes}
";

fn directory() -> Directory {
    Directory::new()
        .with("pod.yaml", POD)
        .with("small.yaml", SMALL)
        .with("limits.yaml", LIMITS)
        .with("removal.yaml", REMOVAL)
}

#[track_caller]
fn shows(run: &Run, texts: &[&str]) {
    for text in texts {
        run.stdout_has(text);
    }
}

#[test]
fn invalid_objects_are_denied_with_their_causes() {
    let run = directory().run(&["review", "pod.yaml"]);
    run.exits(1);
    shows(
        &run,
        &[
            "pod.yaml:1:1: CREATE pods shop/web: denied (422 Invalid)\n  Pod \"web\" is invalid: [spec.containers[0].ports[0]",
            "    pod.yaml:10:22: spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between",
            "    10 |     - containerPort: 99999\n       |                      ^^^^^\n",
            "      = help: no volume is named \"date\": did you mean \"data\"?\n",
            "      = help: did you mean \"Always\"?\n",
        ],
    );
    directory()
        .run(&["review", "--validation", "off", "pod.yaml"])
        .exits(0)
        .shows(&["not evaluated: built-in plugins, webhooks, validation of built-in kinds"]);
}

#[test]
fn the_step_that_made_an_object_invalid_is_told() {
    let chain = [
        "review",
        "--chain",
        "--objects-complete",
        "--objects",
        "limits.yaml",
        "small.yaml",
    ];
    let run = directory().run(&chain);
    run.exits(1);
    shows(
        &run,
        &[
            "small.yaml:1:1: CREATE pods shop/small: denied (422 Invalid)",
            "must be less than or equal to cpu limit of 10m",
            "      = step: LimitRanger set spec.containers[a].resources.limits to {\"cpu\":\"10m\"}\n",
            "  step validation: refused: ",
        ],
    );
    let run = directory().run(&["review", "--policies", "removal.yaml", "small.yaml"]);
    run.exits(1);
    shows(
        &run,
        &[
            "small.yaml:10:14: spec.containers[0].volumeMounts[0].name: Not found: \"data\"",
            "      = step: policy no-volumes removed spec.volumes\n",
            "      = help: no volume is named \"data\": there is no volume at all\n",
        ],
    );
}

#[test]
fn all_outputs_have_the_line_of_the_field() {
    let review = |output: &str| directory().run(&["review", "-o", output, "pod.yaml"]);
    shows(
        &review("github"),
        &["::error file=pod.yaml,line=10,endLine=10,col=22,endColumn=27,title=invalid::"],
    );
    shows(
        &review("junit"),
        &["pod.yaml:10:22: spec.containers[0].ports[0].containerPort: "],
    );
    shows(
        &review("sarif"),
        &["\"startLine\": 10", "\"ruleId\": \"invalid\""],
    );
    let decision = review("ndjson").json();
    let cause = &decision["causes"][0];
    assert_eq!(
        (&cause["field"], &cause["reason"], &cause["line"]),
        (
            &"spec.containers[0].ports[0].containerPort".into(),
            &"FieldValueInvalid".into(),
            &10.into()
        ),
        "{decision}"
    );
}

#[test]
fn scans_validate() {
    let run = directory().run(&["scan", "pod.yaml", "-o", "ndjson"]);
    run.exits(1);
    run.stdout_has("\"causes\":[{\"field\":\"spec.containers[0].ports[0].containerPort\"");
    // An output with lines has the fields, their places and what helps; what is counted is the same without.
    run.stdout_has("did you mean")
        .stdout_has("\"line\":10,\"column\":22");
    let directory_of_both = directory();
    let outputs = ["-o", "sarif=out.sarif", "-o", "json=both.json"];
    directory_of_both.run(&[&["scan", "pod.yaml"], &outputs[..]].concat());
    let both = std::fs::read_to_string(directory_of_both.path().join("both.json")).unwrap();
    let alone = directory_of_both.run(&["scan", "pod.yaml", "-o", "json"]);
    assert_eq!(alone.stdout.trim(), both.trim());
    assert!(
        std::fs::read_to_string(directory_of_both.path().join("out.sarif"))
            .unwrap()
            .contains("did you mean")
    );
    directory()
        .run(&["scan", "pod.yaml", "--validation", "off"])
        .exits(0);
    directory()
        .run(&[
            "impact",
            "--old",
            "removal.yaml",
            "--new",
            "removal.yaml",
            "--validation",
            "off",
            "pod.yaml",
        ])
        .exits(0);
}

#[test]
fn a_test_expects_fields() {
    let suite = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [removal.yaml]
tests:
- name: a mount without its volume
  object: small.yaml
  expect:
    verdict: denied
    invalid: {'spec.containers[0].volumeMounts[0].name': FieldValueNotFound}
- name: another reason
  object: small.yaml
  expect: {verdict: denied, invalid: {'spec.volumes': FieldValueRequired}}
";
    let directory = directory().with("suite.yaml", suite);
    let run = directory.run(&["test", "suite.yaml"]);
    run.exits(1);
    shows(&run, &["1 passed, 1 failed", "invalid[spec.volumes]"]);
}

#[test]
fn a_scale_is_that_of_the_stored_object_with_its_name() {
    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stalls.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: stalls, singular: stall, kind: Stall, listKind: StallList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 5}}}
          status: {type: object, properties: {size: {type: integer}}}
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
";
    let scale = |replicas: &str| {
        format!(
            "{{apiVersion: autoscaling/v1, kind: Scale, metadata: {{name: web, namespace: shop}}, spec: {{{replicas}}}}}\n"
        )
    };
    let directory = Directory::new()
        .with("definition.yaml", DEFINITION)
        .with("web.yaml", GATED.replace("mode: 448", ""))
        .with(
            "stall.yaml",
            "{apiVersion: example.com/v1, kind: Stall, metadata: {name: web, namespace: shop}, spec: {size: 1}}\n",
        )
        .with("few.yaml", scale("replicas: 3"))
        .with("many.yaml", scale("replicas: 9"))
        .with("negative.yaml", scale("replicas: -3"))
        .with("old.yaml", scale("replicas: 1"));
    let of_deployment = |file| directory.run(&["review", "--old", "web.yaml", file]);
    of_deployment("few.yaml")
        .exits(0)
        .shows(&["UPDATE deployments.apps/scale shop/web: allowed"]);
    of_deployment("negative.yaml")
        .exits(1)
        .shows(&["spec.replicas: Invalid value: -3: must be greater than or equal to 0"]);
    let of_stall = |old, file| {
        let state = ["--objects", "definition.yaml", "--old", old];
        let part = ["--resource", "stalls.example.com", "--subresource", "scale"];
        let named = if old == "old.yaml" { &part[..] } else { &[] };
        directory.run(&[&["review"][..], &state, named, &[file]].concat())
    };
    of_stall("stall.yaml", "few.yaml")
        .exits(0)
        .shows(&["UPDATE stalls.example.com/scale shop/web: allowed"]);
    of_stall("stall.yaml", "many.yaml").exits(1).shows(&[
        "UPDATE stalls.example.com/scale shop/web: denied (422 Invalid)",
        "Stall.example.com \"web\" is invalid: spec.size: Invalid value: 9: spec.size in body should be less than or equal to 5",
    ]);
    // Whether the object allows that is not known.
    of_stall("old.yaml", "many.yaml")
        .exits(3)
        .shows(&["UPDATE stalls.example.com/scale shop/web: undecided"]);
}

#[test]
fn scales_are_validated_beside_their_workloads_or_scales() {
    let scale = |replicas: i64| {
        format!(
            "{{apiVersion: autoscaling/v1, kind: Scale, metadata: {{name: web, namespace: shop}}, spec: {{replicas: {replicas}}}}}\n"
        )
    };
    let directory = Directory::new()
        .with("good.yaml", scale(3))
        .with("bad.yaml", scale(-3))
        .with("old.yaml", scale(1))
        .with("web.yaml", GATED.replace("mode: 448", ""));
    for old in ["old.yaml", "web.yaml"] {
        let review = |file| {
            directory.run(&[
                "review",
                "--resource",
                "deployments.apps",
                "--subresource",
                "scale",
                "--old",
                old,
                file,
            ])
        };
        review("good.yaml")
            .exits(0)
            .shows(&["UPDATE deployments.apps/scale shop/web: allowed"]);
        review("bad.yaml").exits(1).shows(&[
            "UPDATE deployments.apps/scale shop/web: denied (422 Invalid)",
            "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0",
        ]);
    }
}

#[test]
fn parts_of_resources_are_validated() {
    let pod = |rest: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: web, namespace: shop}}, spec: {{nodeName: node, containers: \
             [{{name: a, image: b}}]{rest}}}}}"
        )
    };
    let directory = Directory::new()
        .with("old.yaml", pod(""))
        .with("resized.yaml", pod("").replace("image: b", "image: b, resources: {requests: {cpu: '-1'}}"))
        .with("ephemeral.yaml", pod(", ephemeralContainers: [{name: a, image: b}]"))
        .with(
            "token.yaml",
            "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default, namespace: shop}, \
             spec: {expirationSeconds: 1}}",
        );
    for (part, file, cause) in [
        (
            "resize",
            "resized.yaml",
            "spec.containers[0].resources.requests[cpu]: Invalid value",
        ),
        (
            "ephemeralcontainers",
            "ephemeral.yaml",
            "spec.ephemeralContainers[0].name: Duplicate value: \"a\"",
        ),
        (
            "token",
            "token.yaml",
            "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
        ),
    ] {
        let run = match part {
            "token" => directory.run(&["review", "--subresource", part, file]),
            _ => directory.run(&["review", "--subresource", part, "--old", "old.yaml", file]),
        };
        run.exits(1);
        shows(&run, &["denied (422 Invalid)", cause]);
    }
}

/// A Deployment with a field that no server stores whose feature is off.
const GATED: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: a, image: nginx}
      volumes:
      - name: data
        emptyDir: {mode: 448}
";

#[test]
fn fields_of_features_that_are_off_are_told() {
    let directory = Directory::new()
        .with("gated.yaml", GATED)
        .with("limits.yaml", LIMITS);
    let run = directory.run(&["review", "gated.yaml"]);
    run.exits(0);
    shows(
        &run,
        &[
            "  warning: gated.yaml:13:26: spec.template.spec.volumes[0].emptyDir.mode is dropped without a word: the feature gate \
             EmptyDirVolumeMode is off in Kubernetes 1.37 (alpha)\n",
            "    13 |         emptyDir: {mode: 448}\n",
            "      = help: a server with --feature-gates=EmptyDirVolumeMode=true keeps it",
            "1 warning",
        ],
    );
    // Once, and not for the Pod of the template again.
    assert_eq!(run.stdout.matches("is dropped").count(), 1, "{}", run.stdout);
    directory
        .run(&["review", "--fail-on", "warn", "gated.yaml"])
        .exits(1);
    let kept = directory.run(&[
        "review",
        "--feature-gates",
        "EmptyDirVolumeMode=true",
        "gated.yaml",
    ]);
    kept.exits(0);
    assert!(!kept.stdout.contains("dropped"), "{}", kept.stdout);
    let chain = [
        "review",
        "--chain",
        "--objects-complete",
        "--objects",
        "limits.yaml",
        "gated.yaml",
    ];
    directory
        .run(&chain)
        .stdout_has("emptyDir.mode is dropped without a word");
}

#[test]
fn dropped_fields_are_in_all_outputs() {
    let review = |output: &str| {
        Directory::new()
            .with("gated.yaml", GATED)
            .run(&["review", "-o", output, "gated.yaml"])
    };
    shows(
        &review("github"),
        &["::warning file=gated.yaml,line=13,endLine=13,col=26,endColumn=29,title=dropped-field::"],
    );
    shows(
        &review("junit"),
        &["gated.yaml:13:26: spec.template.spec.volumes[0].emptyDir.mode is dropped"],
    );
    shows(
        &review("sarif"),
        &["\"ruleId\": \"dropped-field\"", "\"startLine\": 13"],
    );
    let decision = review("ndjson").json();
    let dropped = &decision["dropped"][0];
    assert_eq!(
        (&dropped["field"], &dropped["gate"], &dropped["line"]),
        (
            &"spec.template.spec.volumes[0].emptyDir.mode".into(),
            &"EmptyDirVolumeMode".into(),
            &13.into()
        ),
        "{decision}"
    );
    let scan = Directory::new()
        .with("gated.yaml", GATED)
        .run(&["scan", "-o", "ndjson", "gated.yaml"]);
    scan.stdout_has("\"gate\":\"EmptyDirVolumeMode\"");
    let table = Directory::new()
        .with("gated.yaml", GATED)
        .run(&["scan", "gated.yaml"]);
    table.stdout_has("dropped-field");
}
