//! What the command line does otherwise than this crate once did.

use serde_json::{Value, json};

use super::{DEPLOYMENT, MUTATION, PODS, POLICY, evaluate, file};

#[test]
fn requests_are_those_that_the_command_line_makes() {
    let problem = |input: Value| {
        let answer = evaluate(&input);
        assert_eq!(answer.get("decision"), None, "{answer}");
        answer["problems"][0]["message"].clone()
    };
    let exec = "{apiVersion: v1, kind: PodExecOptions, command: [sh]}";
    assert_eq!(
        problem(json!({"object": exec, "subresource": "exec"})),
        "a connection is made to an object: give its name"
    );
    let named = evaluate(&json!({"object": exec, "subresource": "exec", "name": "web-0"}));
    assert_eq!(named["request"]["operation"], "CONNECT", "{named}");
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}}";
    assert_eq!(
        problem(json!({"object": pod, "subresource": "scale"})),
        "pods have no subresource scale"
    );
    let broken = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: 7}";
    let deleted = problem(json!({"object": broken, "operation": "DELETE"}));
    assert!(
        deleted.as_str().unwrap().starts_with("Pod in version"),
        "{deleted}"
    );
    let updated = problem(json!({"object": pod, "oldObject": broken}));
    assert!(
        updated.as_str().unwrap().starts_with("the old object: Pod in"),
        "{updated}"
    );
}

#[test]
fn what_types_add_is_no_change() {
    let policies = MUTATION
        .replace("deployments", "services")
        .replace("[apps]", "[\"\"]");
    let service = "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}";
    let answer = evaluate(&json!({"policies": [file("policies", &policies)], "object": service}));
    assert_eq!(answer["mutations"][0]["result"], "changed", "{answer}");
    let lines = answer["diff"].as_array().unwrap().iter();
    let added: Vec<&Value> = lines
        .filter(|line| line["tag"] == "+")
        .map(|line| &line["text"])
        .collect();
    assert_eq!(added, ["  labels:", "    stamp: \"yes\""], "{answer}");
    // The object itself has it.
    assert_eq!(
        answer["object"]["status"],
        json!({"loadBalancer": {}}),
        "{answer}"
    );
}

#[test]
fn failures_have_help() {
    let policies = POLICY
        .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        .replace("int(params.data.most)", "int(object.metadata.labels.most)");
    let answer =
        evaluate(&json!({"policies": [file("policies", &policies)], "object": DEPLOYMENT, "bind": true}));
    assert_eq!(answer["decision"], "error", "{answer}");
    assert!(answer["help"].as_str().unwrap().contains("has("), "{answer}");
    assert_eq!(
        evaluate(&json!({"policies": [], "object": DEPLOYMENT})).get("help"),
        None
    );
}

#[test]
fn pods_that_are_not_reviewed_are_told() {
    let notes = |object: &str, expand: &str| {
        let answer =
            evaluate(&json!({"policies": [file("policies", PODS)], "object": object, "expand": expand}));
        assert_eq!(answer["problems"], json!([]), "{answer}");
        answer["notes"].clone()
    };
    assert_eq!(notes(DEPLOYMENT, "auto"), json!([]));
    let told = notes(DEPLOYMENT, "off");
    assert!(
        told[0]
            .as_str()
            .unwrap()
            .starts_with("the Pods of the workload are not reviewed, nor are"),
        "{told}"
    );
    let rollout = DEPLOYMENT
        .replace("apps/v1", "argoproj.io/v1alpha1")
        .replace("Deployment", "Rollout");
    let told = notes(&rollout, "auto");
    assert!(
        told[1]
            .as_str()
            .unwrap()
            .starts_with("if a controller makes Pods of spec.template, they"),
        "{told}"
    );
}

/// The definitions that stand beside policies say what the fields are that these read.
#[test]
fn expressions_are_checked_with_definitions_beside_policies() {
    let policies = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], resources: [stalls], operations: [CREATE]}]
  validations: [{expression: object.spec.hight < 3}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
---
apiVersion: apiextensions.k8s.io/v1
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
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {height: {type: integer}}}}}}
";
    let answer = evaluate(&json!({"policies": [file("policies", policies)]}));
    let mut lints = answer["lints"].as_array().unwrap().iter();
    let told = lints.any(|lint| lint["message"].as_str().unwrap().contains("hight"));
    assert!(told, "{answer}");
}
