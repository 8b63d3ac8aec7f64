//! What is said where a server has features turned on or off.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use pratique_schema::{FeatureGates, Release};
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// An object in a version of its kind, perhaps with the stored one and a part of it.
struct Case<'c> {
    kind: (&'c str, &'c str, &'c str),
    subresource: &'c str,
    object: String,
    old: Option<String>,
}

fn errors(validator: &Validator, case: &Case<'_>) -> Vec<String> {
    let kind = GroupVersionKind::new(case.kind.0, case.kind.1, case.kind.2);
    let object = pratique_json::parse(case.object.as_bytes()).unwrap();
    let candidate = Candidate::new(&kind, &object).of_subresource(case.subresource);
    let result = match &case.old {
        Some(old) => validator.update(&candidate, &pratique_json::parse(old.as_bytes()).unwrap()),
        None => validator.create(&candidate),
    };
    match result {
        Ok(()) => Vec::new(),
        Err(Rejection::Invalid(status)) => {
            let causes = status.details.unwrap_or_default().causes.into_iter();
            causes
                .map(|cause| format!("{}: {}", cause.field, cause.message))
                .collect()
        }
        Err(rejection) => vec![rejection.to_string()],
    }
}

/// What is said by default, and what where a gate has the other value.
#[track_caller]
fn check(gate: (&str, bool), case: &Case<'_>, by_default: &[&str], otherwise: &[&str]) {
    assert_eq!(errors(&Validator::new(), case), by_default);
    let gates = FeatureGates::default()
        .with(gate.0, gate.1)
        .with("NoRuleKnowsIt", true);
    let validator = Validator::new().with_gates(gates);
    assert_eq!(errors(&validator, case), otherwise);
}

fn pod(annotations: &str, rest: &str, status: &str) -> String {
    format!(
        r#"{{"metadata": {{"name": "a", "namespace": "default", "resourceVersion": "1", "annotations": {annotations}}},
            "spec": {{"terminationGracePeriodSeconds": 30, "restartPolicy": "Never", "dnsPolicy": "ClusterFirst",
                "containers": [{{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}}]
                {rest}}}, "status": {status}}}"#
    )
}

fn new_pod(annotations: &str, rest: &str) -> Case<'static> {
    Case {
        kind: ("", "v1", "Pod"),
        subresource: "",
        object: pod(annotations, rest, "{}"),
        old: None,
    }
}

fn changed_pod(subresource: &'static str, rest: [&str; 2], status: [&str; 2]) -> Case<'static> {
    Case {
        kind: ("", "v1", "Pod"),
        subresource,
        object: pod("{}", rest[1], status[1]),
        old: Some(pod("{}", rest[0], status[0])),
    }
}

#[test]
fn tolerations_may_compare() {
    check(
        ("TaintTolerationComparisonOperators", true),
        &new_pod(
            "{}",
            r#", "tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]"#,
        ),
        &[
            "spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\"",
        ],
        &[],
    );
}

#[test]
fn user_namespaces_may_be_on_the_network_of_the_host() {
    check(
        ("UserNamespacesHostNetworkSupport", true),
        &new_pod("{}", r#", "hostUsers": false, "hostNetwork": true"#),
        &["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
        &[],
    );
}

#[test]
fn costs_of_deletion_may_mean_nothing() {
    check(
        ("PodDeletionCost", false),
        &new_pod(r#"{"controller.kubernetes.io/pod-deletion-cost": "x"}"#, ""),
        &[
            "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"x\": must be a 32bit integer",
        ],
        &[],
    );
}

#[test]
fn bound_pods_may_be_nominated() {
    let bound = r#", "nodeName": "n""#;
    let status = [r#"{}"#, r#"{"nominatedNodeName": "m"}"#];
    check(
        ("ClearingNominatedNodeNameAfterBinding", false),
        &changed_pod("status", [bound, bound], status),
        &["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"],
        &[],
    );
}

#[test]
fn containers_may_have_policies_of_their_own() {
    let spec = r#", "initContainers": [{"name": "b", "image": "i", "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always", "restartPolicy": "OnFailure",
        "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [7]}}]}]"#;
    let status = [
        r#"{"containerStatuses": [{"name": "a", "state": {"terminated": {"exitCode": 0}}}],
            "initContainerStatuses": [{"name": "b", "state": {"terminated": {"exitCode": 1}}}]}"#,
        r#"{"containerStatuses": [{"name": "a", "state": {"running": {}}}],
            "initContainerStatuses": [{"name": "b", "state": {"running": {}}}]}"#,
    ];
    let case = changed_pod("status", [spec, spec], status);
    let of_container =
        "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
    let of_init_container =
        "status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
    check(
        ("RestartAllContainersOnContainerExits", false),
        &case,
        &[],
        &[of_container],
    );
    check(
        ("ContainerRestartRules", false),
        &case,
        &[],
        &[of_container, of_init_container],
    );
}

#[test]
fn pods_may_be_resized_as_a_whole() {
    let resources = |cpu: &str| format!(r#", "resources": {{"requests": {{"cpu": "{cpu}"}}}}"#);
    let (old, new) = (resources("1"), resources("2"));
    let burstable = r#"{"qosClass": "Burstable"}"#;
    check(
        ("InPlacePodLevelResourcesVerticalScaling", false),
        &changed_pod("resize", [&old, &new], [burstable, burstable]),
        &[],
        &[
            "[]: Forbidden: resize of pods with pod-level resources is forbidden when \
           InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled",
        ],
    );
}

#[test]
fn volumes_in_memory_may_be_resized() {
    let volume = |name: &str, medium: &str, limit: &str| {
        format!(
            r#", "volumes": [{{"name": "{name}", "emptyDir": {{"medium": "{medium}", "sizeLimit": "{limit}"}}}}]"#
        )
    };
    let check = |old: &str, new: &str, expected: &[&str]| {
        let status = r#"{"qosClass": "BestEffort"}"#;
        check(
            ("InPlacePodVerticalScalingMemoryBackedVolumes", true),
            &changed_pod("resize", [old, new], [status, status]),
            &[
                "spec.volumes: Forbidden: volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature \
               gate is disabled",
            ],
            expected,
        );
    };
    let memory = volume("v", "Memory", "1Gi");
    check(&memory, &volume("v", "Memory", "2Gi"), &[]);
    check(
        &volume("v", "", "1Gi"),
        &volume("v", "", "2Gi"),
        &[
            "spec.volumes[0].emptyDir.sizeLimit: Forbidden: sizeLimit is only mutable for memory-backed emptyDir volumes",
        ],
    );
    check(
        &memory,
        &volume("v", "Memory", "0"),
        &[
            "spec.volumes[0].emptyDir.sizeLimit: Forbidden: adding or removing sizeLimit on an existing volume is not allowed",
        ],
    );
    check(
        &memory,
        &volume("v", "", "1Gi"),
        &[
            "spec.volumes[0]: Forbidden: only sizeLimit of memory-backed emptyDir volumes is mutable on resize",
        ],
    );
    check(
        &memory,
        &volume("w", "Memory", "1Gi"),
        &["spec.volumes[0].name: Forbidden: volumes may not be renamed or reordered on resize"],
    );
    check(
        &memory,
        "",
        &["spec.volumes: Forbidden: volumes may not be added or removed on resize"],
    );
}

#[test]
fn sets_may_be_recreated() {
    let object = r#"{"metadata": {"name": "a", "namespace": "default"}, "spec": {"podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "Recreate"}, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"terminationGracePeriodSeconds": 30, "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst", "containers": [{"name": "a", "image": "i", "terminationMessagePolicy": "File",
            "imagePullPolicy": "Always"}]}}}}"#;
    let case = Case {
        kind: ("apps", "v1", "StatefulSet"),
        subresource: "",
        object: object.to_owned(),
        old: None,
    };
    check(
        ("StatefulSetRecreateStrategy", true),
        &case,
        &[
            "spec.updateStrategy: Invalid value: {\"Type\":\"Recreate\",\"RollingUpdate\":null}: must be 'RollingUpdate' or \
           'OnDelete'",
        ],
        &[],
    );
}

#[test]
fn volumes_may_move() {
    let volume = |node: &str| {
        format!(
            r#"{{"metadata": {{"name": "a", "resourceVersion": "1"}}, "spec": {{"capacity": {{"storage": "1Gi"}},
                "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem",
                "csi": {{"driver": "d", "volumeHandle": "h"}}, "nodeAffinity": {{"required": {{"nodeSelectorTerms": [
                    {{"matchExpressions": [{{"key": "k", "operator": "In", "values": ["{node}"]}}]}}]}}}}}}}}"#
        )
    };
    let case = Case {
        kind: ("", "v1", "PersistentVolume"),
        subresource: "",
        object: volume("n"),
        old: Some(volume("m")),
    };
    check(
        ("MutablePVNodeAffinity", true),
        &case,
        &[
            "nodeAffinity: Invalid value: {\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":[{\"Key\":\"k\",\
           \"Operator\":\"In\",\"Values\":[\"n\"]}],\"MatchFields\":null}]}}: field is immutable, except for updating from \
           beta label to GA",
        ],
        &[],
    );
}

#[test]
fn autoscalers_may_scale_to_zero() {
    let object = r#"{"metadata": {"name": "a", "namespace": "default"}, "spec": {"minReplicas": 0, "maxReplicas": 1,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "metrics": [{"type": "External",
            "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}]}}"#;
    let case = Case {
        kind: ("autoscaling", "v2", "HorizontalPodAutoscaler"),
        subresource: "",
        object: object.to_owned(),
        old: None,
    };
    check(
        ("HPAScaleToZero", false),
        &case,
        &[],
        &["spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"],
    );
}

/// Where Pods of a suspended Job run may change, and what their labels and annotations are.
#[test]
fn suspended_jobs_change_where_they_run() {
    let job = |metadata: &str| {
        format!(
            r#"{{"metadata": {{"name": "a", "namespace": "default", "resourceVersion": "1"}},
            "spec": {{"suspend": true, "completions": 1, "parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed",
                "manualSelector": true, "podReplacementPolicy": "Failed", "selector": {{"matchLabels": {{"a": "b"}}}},
                "template": {{"metadata": {{"labels": {{"a": "b"}} {metadata}}},
                "spec": {{"terminationGracePeriodSeconds": 30, "restartPolicy": "Never", "dnsPolicy": "ClusterFirst",
                "containers": [{{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}}]
            }}}}}}}}"#
        )
    };
    let case = Case {
        kind: ("batch", "v1", "Job"),
        subresource: "",
        object: job(r#", "annotations": {"c": "d"}"#),
        old: Some(job("")),
    };
    let gate = ("MutablePodResourcesForSuspendedJobs", false);
    check(gate, &case, &[], &[]);
}

/// A seccomp profile of a registry, for which 1.38 has a gate that is off.
#[test]
fn profiles_may_be_of_registries() {
    let digest = "0123456789abcdef".repeat(4);
    let profile = format!(r#"{{"type": "OCI", "oci": {{"ref": "registry.example.com/a@sha256:{digest}"}}}}"#);
    let case = new_pod(
        "{}",
        &format!(r#", "securityContext": {{"seccompProfile": {profile}}}"#),
    );
    let gates = FeatureGates::new(Release::by_version("1.38").unwrap());
    let validator = |gates| Validator::new().with_gates(gates);
    let refusal = "spec.securityContext.seccompProfile.type: Unsupported value: \"OCI\": supported values: \"Localhost\", \
                   \"RuntimeDefault\", \"Unconfined\"";
    assert_eq!(errors(&validator(gates), &case), [refusal]);
    assert_eq!(
        errors(&validator(gates.with("SecurityProfileOCI", true)), &case),
        [""; 0]
    );
}
