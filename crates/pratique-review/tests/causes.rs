//! Why a server's own validation refuses an object: texts, help, and what is undecided.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::sync::Arc;

use pratique::api_objects::ApiObjects;
use pratique::authorization::NoAuthorizer;
use pratique::{Admission, FeatureGates, Objects};
use pratique_request::{RequestTemplate, ResourceResolver};
use pratique_review::{Decision, GivenObject, Review, ReviewInput, Reviewer, read_decision};

fn review_in(cluster: &Objects, gates: FeatureGates, object: &str) -> Review {
    review_by(cluster, gates, object, |reviewer| reviewer)
}

fn review_by(
    cluster: &Objects,
    gates: FeatureGates,
    object: &str,
    change: fn(Reviewer<'_>) -> Reviewer<'_>,
) -> Review {
    let object = pratique_json::parse(object.as_bytes()).unwrap();
    let template = RequestTemplate {
        namespace: "shop".to_owned(),
        ..RequestTemplate::default()
    };
    let resolver = ResourceResolver::default();
    let given = GivenObject::decode(resolver.release(), object);
    let (mut input, _) = ReviewInput::from_object(given, &template, &resolver, |_, _| None, 1).unwrap();
    let admission = Admission::builder().build().unwrap();
    let objects = ApiObjects::default().with_gates(gates);
    let reviewer = Reviewer::policies(&admission, Arc::new(NoAuthorizer));
    change(reviewer)
        .review(cluster, Some(&objects), &mut input)
        .unwrap()
}

fn review(object: &str) -> Review {
    let mut cluster = Objects::new();
    cluster.assume_namespaces();
    review_in(&cluster, FeatureGates::default(), object)
}

/// The causes, each with its help.
#[track_caller]
fn check(object: &str, expected: &[&str]) {
    let causes: Vec<String> = review(object)
        .causes
        .iter()
        .map(|cause| {
            let help = cause.help.as_ref().map(|help| format!(" | {help}"));
            format!("{}: {}{}", cause.field, cause.message, help.unwrap_or_default())
        })
        .collect();
    assert_eq!(causes, expected);
}

fn pod(spec: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}}, "spec": {{
            "containers": [{{"name": "a", "image": "i"}}] {spec}}}}}"#
    )
}

#[test]
fn what_is_meant_is_told_of_every_enumeration() {
    check(
        &pod(r#", "restartPolicy": "Alway""#),
        &[
            "spec.restartPolicy: Unsupported value: \"Alway\": supported values: \"Always\", \"OnFailure\", \"Never\" | did you \
             mean \"Always\"?",
        ],
    );
    // A declarative rule.
    check(
        r#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"}, "spec": {"devices": {
            "requests": [{"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "Al"}}]}}}"#,
        &[
            "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"Al\": supported values: \"All\", \
             \"ExactCount\" | did you mean \"All\"?",
        ],
    );
    // The error is about the struct.
    check(
        r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {
            "strategy": {"type": "Recreat"}, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "i"}]}}}}"#,
        &[
            "spec.strategy: Unsupported value: {\"Type\":\"Recreat\",\"RollingUpdate\":null}: supported values: \"Recreate\", \
             \"RollingUpdate\" | did you mean \"Recreate\"?",
        ],
    );
}

#[test]
fn what_nobody_reads_is_not_explained() {
    let mut cluster = Objects::new();
    cluster.assume_namespaces();
    let object = pod(r#", "restartPolicy": "Alway""#);
    let explained = review(&object);
    let stated = review_by(&cluster, FeatureGates::default(), &object, |reviewer| {
        reviewer.without_explained_causes()
    });
    assert_eq!(stated.outcome.status, explained.outcome.status);
    let [cause] = stated.causes.as_slice() else {
        panic!("{:?}", stated.causes);
    };
    assert_eq!((cause.field.as_str(), &cause.help), ("spec.restartPolicy", &None));
    assert!(explained.causes.iter().all(|cause| cause.help.is_some()));
}

#[test]
fn empty_lists_are_told_from_none() {
    let slice = |conditions: &str| {
        format!(
            r#"{{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {{"name": "a", "labels": {{}}}}, "spec": {{
                "driver": "a.b", "nodeName": "n", "pool": {{"name": "p", "generation": 0, "resourceSliceCount": 1}},
                "devices": [{{"name": "d" {conditions}, "bindingFailureConditions": ["c"]}}]}}}}"#
        )
    };
    let refused = |value: &str| {
        format!(
            "spec.devices[0].bindingConditions: Invalid value: {value}: bindingConditions are required to use \
             bindingFailureConditions"
        )
    };
    check(&slice(r#", "bindingConditions": []"#), &[&refused("[]")]);
    check(&slice(""), &[&refused("null")]);
}

#[test]
fn other_ends_of_references_are_told() {
    check(
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"volumes": [{"name": "data", "emptyDir": {}}],
            "containers": [{"name": "a", "image": "i", "volumeMounts": [{"name": "date", "mountPath": "/d"},
                {"name": "cache", "mountPath": "/c"}]}]}}"#,
        &[
            "spec.containers[0].volumeMounts[0].name: Not found: \"date\" | no volume is named \"date\": did you mean \"data\"?",
            "spec.containers[0].volumeMounts[1].name: Not found: \"cache\" | no volume is named \"cache\": there are data",
        ],
    );
}

#[test]
fn gates_are_told_by_which_a_server_takes_a_value() {
    let compared = pod(r#", "tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]"#);
    check(
        &compared,
        &[
            "spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\" | a \
             server with --feature-gates=TaintTolerationComparisonOperators=true does not refuse it",
        ],
    );
    check(
        &pod(r#", "hostUsers": false, "hostNetwork": true"#),
        &[
            "spec.hostNetwork: Forbidden: when `hostUsers` is false | a server with \
             --feature-gates=UserNamespacesHostNetworkSupport=true does not refuse it",
        ],
    );
    let gates = FeatureGates::default().with("TaintTolerationComparisonOperators", true);
    let review = review_in(&Objects::new(), gates, &compared);
    assert!(review.causes.is_empty(), "{:?}", review.causes);
}

#[test]
fn the_namespace_decides_about_administrators() {
    let claim = r#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"}, "spec": {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": true}}]}}}"#;
    let undecided = review(claim);
    assert_eq!(read_decision(&undecided.outcome), Decision::Undecided);
    assert_eq!(
        undecided.outcome.undecided[0].missing.kind(),
        "namespace",
        "{:?}",
        undecided.outcome
    );
    for (label, decision) in [("true", Decision::Allowed), ("false", Decision::Denied)] {
        let namespace = format!(
            r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "shop", "labels": {{
                "resource.kubernetes.io/admin-access": "{label}"}}}}}}"#
        );
        let mut cluster = Objects::new();
        let namespace = pratique_json::parse(namespace.as_bytes()).unwrap().into_owned();
        cluster.insert(namespace).unwrap();
        let review = review_in(&cluster, FeatureGates::default(), claim);
        assert_eq!(read_decision(&review.outcome), decision, "{label}");
        let fields: Vec<&str> = review.causes.iter().map(|cause| cause.field.as_str()).collect();
        let is_denied = decision == Decision::Denied;
        assert_eq!(
            fields == ["spec.devices.requests[0].adminAccess"],
            is_denied,
            "{fields:?}"
        );
    }
}

/// A server leaves them out, and writes its own.
#[test]
fn managed_fields_that_cannot_be_read_refuse_nothing() {
    let review = review(
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [
            {"manager": "x", "operation": "Foo", "fieldsType": "Bar", "apiVersion": "a/b/c"}, {"manager": "y"}]}}"#,
    );
    assert_eq!(read_decision(&review.outcome), Decision::Allowed);
    assert_eq!(review.outcome.warnings, Vec::<String>::new());
}
