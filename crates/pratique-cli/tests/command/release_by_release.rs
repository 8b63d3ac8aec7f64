//! What `--kubernetes-version` changes, tried for the releases from 1.34 to 1.38.

use crate::support::{Directory, Run};

/// Runs a command line as of the server of each release, from 1.34 to 1.38.
fn each(directory: &Directory, arguments: &[&str], check: impl Fn(u32, &Run)) {
    for minor in 34..=38 {
        let version = format!("1.{minor}");
        let run = directory.run(&[arguments, &["--kubernetes-version", &version]].concat());
        check(minor, &run);
    }
}

/// Exits with 1 where something is refused.
#[track_caller]
fn exits(minor: u32, run: &Run, is_refused: bool) {
    assert_eq!(run.code, Some(i32::from(is_refused)), "1.{minor}: {run}");
}

fn definition(rule: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gadgets.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          parts: {{type: array, maxItems: 5, items: {{type: string, maxLength: 9}}}}
        x-kubernetes-validations:
        - rule: \"{rule}\"
"
    )
}

#[test]
fn definitions_have_the_expressions_of_the_release_before() {
    for (rule, since) in [
        ("self.parts.distinct().size() > 0", 35),
        ("self.parts.includes('a')", 38),
        ("self.parts.size() > 0", 0),
    ] {
        let directory = Directory::new().with("definition.yaml", definition(rule));
        each(&directory, &["review", "definition.yaml"], |minor, run| {
            exits(minor, run, minor < since);
            if minor < since {
                run.stdout_has("spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule");
            }
        });
    }
}

const DEVICE_CLASS: &str = "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: parts}
spec: {selectors: [{cel: {expression: \"[1, 2].includes(1)\"}}]}
";

#[test]
fn selectors_of_devices_have_the_expressions_of_the_release_before() {
    let directory = Directory::new().with("class.yaml", DEVICE_CLASS);
    each(&directory, &["review", "class.yaml"], |minor, run| {
        exits(minor, run, minor < 38);
        if minor < 38 {
            run.stdout_has("undeclared reference to 'includes'");
        }
    });
}

const MUTATING: &str = "apiVersion: admissionregistration.k8s.io/VERSION
kind: MutatingAdmissionPolicy
metadata: {name: labels}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"a\": \"b\"}}}'}}
";

#[test]
fn mutating_policies_are_served_in_the_versions_of_the_release() {
    // As objects that are sent, and as policies: the latter are evaluated where a server can be told to serve them.
    for (version, served_since, read_since, told) in [
        ("v1", 36, 36, "is served since Kubernetes 1.36"),
        (
            "v1beta1",
            99,
            0,
            "is not served unless the server has --runtime-config=admissionregistration.k8s.io/v1beta1=true",
        ),
    ] {
        let directory = Directory::new().with("policy.yaml", MUTATING.replace("VERSION", version));
        each(&directory, &["check", "policy.yaml"], |minor, run| {
            exits(minor, run, minor < read_since);
            assert_eq!(
                run.stdout.contains(told) || run.stderr.contains(told),
                minor < served_since,
                "1.{minor}: {run}"
            );
        });
        each(&directory, &["review", "policy.yaml"], |minor, run| {
            exits(minor, run, minor < served_since);
        });
    }
}

const POLICIES: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: available}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets]}]
  validations:
  - expression: \"!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: available}
spec: {policyName: available, validationActions: [Deny]}
";
const OBJECT: &str = r#"{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop"},"spec":{"selector":{"matchLabels":{"a":"b"}},"updateStrategy":{"rollingUpdate":{"partition":0}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;
const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"1","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/shop/statefulsets","verb":"create","user":{"username":"ann"},"objectRef":{"resource":"statefulsets","namespace":"shop","name":"db","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},"requestObject":OBJECT,"requestReceivedTimestamp":"2026-11-23T09:01:00.000000Z","stageTimestamp":"2026-11-23T09:01:00.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
"#;
const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies.yaml]
tests:
- {name: set, object: set.json, expect: allowed}
";

/// 1.37 gives the field a default.
#[test]
fn every_command_completes_objects_as_the_release_does() {
    let directory = Directory::new()
        .with("policies.yaml", POLICIES)
        .with("set.json", OBJECT)
        .with("audit.log", EVENT.replace("OBJECT", OBJECT))
        .with("suite.yaml", SUITE);
    for command in [
        &["review", "--policies", "policies.yaml", "set.json"][..],
        &["scan", "--policies", "policies.yaml", "set.json"],
        &["replay", "--policies", "policies.yaml", "audit.log"],
        &["test", "suite.yaml"],
    ] {
        each(&directory, command, |minor, run| exits(minor, run, minor >= 37));
    }
}

#[test]
fn gates_are_those_of_the_release() {
    let directory = Directory::new().with("set.json", OBJECT);
    for (gates, is_refused) in [
        // It has one at all.
        ("EmptyDirVolumeMode=true", [true, true, true, false, false]),
        (
            "UserNamespacesPodSecurityStandards=true",
            [false, true, true, true, true],
        ),
        // It is locked.
        ("HPAGeneration=false", [true, true, true, false, true]),
    ] {
        each(
            &directory,
            &["review", "--feature-gates", gates, "set.json"],
            |minor, run| {
                let refused = is_refused[minor as usize - 34];
                assert_eq!(run.code == Some(2), refused, "1.{minor} {gates}: {run}");
            },
        );
    }
}

const RANGE: &str = "apiVersion: v1
kind: LimitRange
metadata: {name: least, namespace: shop}
spec: {limits: [{type: PersistentVolumeClaim, min: {storage: 10P}}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
";
const CLAIM: &str = "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 9999999999999999500m}}}
";
const RESTRICTED: &str = "apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/enforce-version: latest}
";
const OWN_USERS: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  hostUsers: false
  securityContext: {seccompProfile: {type: RuntimeDefault}}
  containers:
  - {name: web, image: web, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
";

/// Before 1.38, LimitRanger rounds amounts, and before 1.35 a gate says whether Pods with users of their own may be root.
#[test]
fn plugins_are_those_of_the_release() {
    let directory = Directory::new()
        .with("range.yaml", RANGE)
        .with("claim.yaml", CLAIM)
        .with("restricted.yaml", RESTRICTED)
        .with("pod.yaml", OWN_USERS);
    let line = ["review", "--chain", "--objects-complete", "--objects"];
    each(
        &directory,
        &[&line[..], &["range.yaml", "claim.yaml"]].concat(),
        |minor, run| {
            exits(minor, run, minor >= 38);
        },
    );
    let command = [&line[..], &["restricted.yaml", "pod.yaml"]].concat();
    each(&directory, &command, |minor, run| exits(minor, run, minor < 35));
    let gate = "UserNamespacesPodSecurityStandards=true";
    let more = ["--kubernetes-version", "1.34", "--feature-gates", gate];
    directory.run(&[&command[..], &more].concat()).exits(0);
}
