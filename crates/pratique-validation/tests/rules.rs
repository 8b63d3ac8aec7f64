//! What is said of objects that were decoded and defaulted.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// The texts of the errors, each with its field.
fn errors(refused: Result<(), Rejection>) -> Vec<String> {
    match refused {
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

#[track_caller]
fn check_create(kind: (&str, &str, &str), object: &str, expected: &[&str]) {
    let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
    let object = pratique_json::parse(object.as_bytes()).unwrap();
    assert_eq!(
        errors(Validator::new().create(&Candidate::new(&kind, &object))),
        expected
    );
}

#[track_caller]
fn check_update(kind: (&str, &str, &str), object: &str, old: &str, expected: &[&str]) {
    let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
    let (object, old) = (object.as_bytes(), old.as_bytes());
    let object = pratique_json::parse(object).unwrap();
    let old = pratique_json::parse(old).unwrap();
    let refused = Validator::new().update(&Candidate::new(&kind, &object), &old);
    assert_eq!(errors(refused), expected);
}

const POD: (&str, &str, &str) = ("", "v1", "Pod");

fn pod(name: &str, containers: &str, rest: &str) -> String {
    format!(
        r#"{{"metadata": {{"name": "{name}", "namespace": "default", "resourceVersion": "1"}}, "spec": {{
            "terminationGracePeriodSeconds": 30, "restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
            "containers": [{containers}]{rest}}}}}"#
    )
}

const CONTAINER: &str =
    r#"{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}"#;

#[test]
fn a_valid_pod_has_no_errors() {
    check_create(POD, &pod("web", CONTAINER, ""), &[]);
}

#[test]
fn all_errors_of_a_pod_are_listed_in_order() {
    let container = r#"{"name": "a", "image": "", "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
        "ports": [{"containerPort": 99999, "protocol": "TCP"}],
        "volumeMounts": [{"name": "gone", "mountPath": "/x"}]}"#;
    check_create(
        POD,
        &pod("Foo_Bar", &format!("{container}, {CONTAINER}"), ""),
        &[
            "metadata.name: Invalid value: \"Foo_Bar\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
             characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
             validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "spec.containers[0].image: Required value",
            "spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
            "spec.containers[0].volumeMounts[0].name: Not found: \"gone\"",
            "spec.containers[1].name: Duplicate value: \"a\"",
        ],
    );
}

#[test]
fn values_are_printed_as_internal_types() {
    let rest =
        r#", "securityContext": {"seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"}}"#;
    check_create(
        POD,
        &pod("web", CONTAINER, rest),
        &[
            "spec.securityContext.seccompProfile.localhostProfile: Invalid value: \
           {\"Type\":\"RuntimeDefault\",\"LocalhostProfile\":\"x\"}: can only be set when seccomp type is Localhost",
        ],
    );
}

#[test]
fn a_pod_may_not_change_but_for_a_few_fields() {
    let changed = CONTAINER.replace(r#""image": "i""#, r#""image": "j""#);
    check_update(POD, &pod("web", &changed, ""), &pod("web", CONTAINER, ""), &[]);
    let old = pod("web", CONTAINER, "");
    let new = pod("web", CONTAINER, r#", "nodeName": "n""#);
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let (new, old) = (new.as_bytes(), old.as_bytes());
    let new = pratique_json::parse(new).unwrap();
    let old = pratique_json::parse(old).unwrap();
    let messages = errors(Validator::new().update(&Candidate::new(&kind, &new), &old));
    let [message] = messages.as_slice() else {
        panic!("{messages:?}");
    };
    assert!(message.starts_with(
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    ));
    assert!(
        message.contains("\n- \"NodeName\": \"\",\n+ \"NodeName\": \"n\",\n"),
        "{message}"
    );
}

#[test]
fn an_empty_list_of_containers_is_none_where_changes_are_printed() {
    let old = pod("web", CONTAINER, "");
    let new = pod("web", CONTAINER, r#", "nodeName": "n", "initContainers": []"#);
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let (new, old) = (
        pratique_json::parse(new.as_bytes()).unwrap(),
        pratique_json::parse(old.as_bytes()).unwrap(),
    );
    let messages = errors(Validator::new().update(&Candidate::new(&kind, &new), &old));
    let [message] = messages.as_slice() else {
        panic!("{messages:?}");
    };
    assert!(message.contains("\n+ \"NodeName\": \"n\",\n"), "{message}");
    assert!(!message.contains("\"InitContainers\": []"), "{message}");
}

#[test]
fn the_name_of_a_controller_is_validated_once() {
    let controller = r#"{"metadata": {"name": "a/b", "namespace": "default"}, "spec": {"replicas": 1, "selector": {"a": "b"}, "template":
        {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30,
        "containers": [{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}]}}}}"#;
    let object = pratique_json::parse(controller.as_bytes()).unwrap();
    let kind = GroupVersionKind::new("", "v1", "ReplicationController");
    let messages = errors(Validator::new().create(&Candidate::new(&kind, &object)));
    let [message] = messages.as_slice() else {
        panic!("{messages:?}");
    };
    assert!(
        message.starts_with("metadata.name: Invalid value: \"a/b\": a lowercase RFC 1123 subdomain"),
        "{message}"
    );
}

#[test]
fn a_selector_of_a_job_without_members_is_another_than_none() {
    let job = |selector: &str| {
        format!(
            r#"{{"metadata": {{"name": "a", "namespace": "default", "resourceVersion": "1"}}, "spec": {{{selector}"template": {{}}}}}}"#
        )
    };
    let kind = GroupVersionKind::new("batch", "v1", "Job");
    let (new, old) = (job(""), job(r#""selector": {}, "#));
    let (new, old) = (
        pratique_json::parse(new.as_bytes()).unwrap(),
        pratique_json::parse(old.as_bytes()).unwrap(),
    );
    let messages = errors(Validator::new().update(&Candidate::new(&kind, &new), &old));
    let immutable = "spec.selector: Invalid value: null: field is immutable".to_owned();
    assert!(messages.contains(&immutable), "{messages:?}");
}

#[test]
fn the_health_of_volumes_names_them() {
    let status = r#"{"volumeHealth": [{"name": "data"}, {"name": "other", "healthConditions": [{"reason": "-"}]}, {}]}"#;
    let old = pod(
        "web",
        CONTAINER,
        r#", "volumes": [{"name": "data", "emptyDir": {}}]"#,
    );
    let new = old.replacen('{', &format!(r#"{{"status": {status}, "#), 1);
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let (new, old) = (
        pratique_json::parse(new.as_bytes()).unwrap(),
        pratique_json::parse(old.as_bytes()).unwrap(),
    );
    let candidate = Candidate::new(&kind, &new).of_subresource("status");
    let messages = errors(Validator::new().update(&candidate, &old));
    assert!(
        messages.contains(&"status.volumeHealth[1].name: Not found: \"other\"".to_owned()),
        "{messages:?}"
    );
    assert!(
        !messages
            .iter()
            .any(|message| message.starts_with("status.volumeHealth[0]")),
        "{messages:?}"
    );
    let is_reason = |message: &String| {
        message.starts_with("status.volumeHealth[1].healthConditions[0].reason: Invalid value: \"-\"")
    };
    assert!(messages.iter().any(is_reason), "{messages:?}");
}

#[test]
fn what_an_old_object_has_is_tolerated() {
    let rest = r#", "overhead": {"hugepages-2Mi": "3Mi", "cpu": "1"}"#;
    let deployment = |rest: &str| {
        format!(
            r#"{{"metadata": {{"name": "d", "namespace": "default", "resourceVersion": "1"}}, "spec": {{
                "selector": {{"matchLabels": {{"a": "b"}}}}, "strategy": {{"type": "Recreate"}},
                "template": {{"metadata": {{"labels": {{"a": "b"}}}}, "spec": {{"terminationGracePeriodSeconds": 30,
                    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "containers": [{CONTAINER}]{rest}}}}}}}}}"#
        )
    };
    let kind = ("apps", "v1", "Deployment");
    let refused = "spec.template.spec.overhead.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer \
                   multiple of hugepages-2Mi";
    check_create(kind, &deployment(rest), &[refused]);
    check_update(kind, &deployment(rest), &deployment(""), &[refused]);
    check_update(kind, &deployment(rest), &deployment(rest), &[]);
}

#[test]
fn declarative_rules_come_last() {
    check_create(
        ("rbac.authorization.k8s.io", "v1", "Role"),
        r#"{"metadata": {"name": "r", "namespace": "default"}, "rules": [{"verbs": null, "resources": ["pods"]}]}"#,
        &[
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].verbs: Required value",
        ],
    );
}

#[test]
fn what_has_no_rules_is_told() {
    check_create(
        ("example.com", "v1", "Widget"),
        "{}",
        &["example.com/v1, Kind=Widget is not validated"],
    );
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let object = pratique_json::parse(b"{}").unwrap();
    let candidate = Candidate::new(&kind, &object).of_subresource("bogus");
    let refused = Validator::new().update(&candidate, &object);
    assert!(matches!(refused, Err(Rejection::NotValidated(_))));
}

#[test]
fn rules_by_hand_stand_where_their_twins_are_silent() {
    let binding = r#"{"metadata": {"name": "b", "resourceVersion": "1"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ""}}"#;
    let kind = ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding");
    let refused = ["roleRef.name: Required value"];
    check_create(kind, binding, &refused);
    check_update(kind, binding, binding, &refused);
}

#[test]
fn a_part_of_a_network_has_a_longer_prefix_as_it_is_written() {
    let policy = |cidr: &str, except: &str| {
        format!(
            r#"{{"metadata": {{"name": "p", "namespace": "default"}}, "spec": {{"podSelector": {{}}, "egress": [{{"to": [
                {{"ipBlock": {{"cidr": "{cidr}", "except": ["{except}"]}}}}]}}]}}}}"#
        )
    };
    let kind = ("networking.k8s.io", "v1", "NetworkPolicy");
    check_create(kind, &policy("10.0.0.0/8", "10.1.0.0/16"), &[]);
    check_create(
        kind,
        &policy("::ffff:10.0.0.0/104", "10.1.0.0/16"),
        &[
            "spec.egress[0].to[0].ipBlock.cidr: Invalid value: \"::ffff:10.0.0.0/104\": must not have an IPv4-mapped IPv6 address",
            "spec.egress[0].to[0].ipBlock.except[0]: Invalid value: \"10.1.0.0/16\": must be a strict subset of `cidr`",
        ],
    );
}

#[test]
fn claims_of_sets_are_volumes_that_are_not_empty() {
    let set = |volume: &str| {
        format!(
            r#"{{"metadata": {{"name": "a", "namespace": "default"}}, "spec": {{"podManagementPolicy": "OrderedReady",
                "updateStrategy": {{"type": "RollingUpdate", "rollingUpdate": {{"partition": 0}}}}, "replicas": 1,
                "persistentVolumeClaimRetentionPolicy": {{"whenDeleted": "Retain", "whenScaled": "Retain"}},
                "selector": {{"matchLabels": {{"a": "b"}}}}, "volumeClaimTemplates": [{{"metadata": {{"name": "data"}}, "spec": {{
                    "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", "resources": {{"requests": {{"storage": "1Gi"}}}}}}}}],
                "template": {{"metadata": {{"labels": {{"a": "b"}}}}, "spec": {{"terminationGracePeriodSeconds": 30,
                    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "volumes": [{{"name": "empty", "emptyDir": {{}}}}],
                    "containers": [{{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
                    "env": [{{"name": "A", "valueFrom": {{"fileKeyRef": {{"key": "K", "path": "p", "optional": false,
                        "volumeName": "{volume}"}}}}}}]}}]}}}}}}}}"#
        )
    };
    let kind = ("apps", "v1", "StatefulSet");
    let field = "spec.template.spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName";
    check_create(kind, &set("empty"), &[]);
    let no_empty_dir =
        format!("{field}: Invalid value: \"data\": referenced volume must be of type emptyDir");
    check_create(kind, &set("data"), &[&no_empty_dir]);
    check_create(kind, &set("none"), &[&format!("{field}: Not found: \"none\"")]);
}

#[test]
fn a_claim_with_a_slash_is_one_with_a_request() {
    let pod = r#"{"metadata": {"name": "a", "namespace": "default"}, "spec": {"terminationGracePeriodSeconds": 30,
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "resourceClaims": [{"name": "a", "resourceClaimName": "c"}],
        "containers": [{"name": "a", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
            "resources": {"claims": [{"name": "a/b"}, {"name": "a", "request": "b"}, {"name": "a"}]}}]}}"#;
    let claims = "spec.containers[0].resources.claims";
    check_create(
        ("", "v1", "Pod"),
        pod,
        &[
            &format!(
                "{claims}[0]: Not found: \"a/b\": must be one of the names in pod.spec.resourceClaims: a"
            ),
            &format!("{claims}[1]: Duplicate value: \"a/b\""),
            &format!("{claims}[2]: Duplicate value: \"a\""),
        ],
    );
}
