//! Objects with very long lists: the time to validate them grows with their length, and what is told of them is bounded.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may stop")]

use std::time::{Duration, Instant};

use pratique_schema::{FeatureGates, Release};
use pratique_types::{GroupVersionKind, Status};
use pratique_validation::{Candidate, Rejection, Validator};

const COUNT: usize = 20_000;

/// A list whose comparison of each element with each takes minutes.
fn list(element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..COUNT).map(element).collect();
    format!("[{}]", elements.join(","))
}

#[track_caller]
fn validate(api_version: &str, kind: &str, body: &str) -> Option<Box<Status>> {
    validate_by(&Validator::new(), (api_version, kind), "", body)
}

/// Of an object, or of an update of a subresource.
#[track_caller]
fn validate_by(
    validator: &Validator,
    (api_version, kind): (&str, &str),
    subresource: &str,
    body: &str,
) -> Option<Box<Status>> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind::new(group, version, kind);
    let text = format!(r#"{{"metadata": {{"name": "a", "namespace": "a"}}, {body}}}"#);
    let object = pratique_json::parse(text.as_bytes()).unwrap();
    let begun = Instant::now();
    let candidate = Candidate::new(&kind, &object);
    let result = match subresource {
        "" => validator.create(&candidate),
        _ => validator.update(&candidate.of_subresource(subresource), &object),
    };
    let elapsed = begun.elapsed();
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
    match result {
        Err(Rejection::Invalid(status)) => Some(status),
        Err(other) => panic!("{other}"),
        Ok(()) => None,
    }
}

#[track_caller]
fn validate_pod(spec: &str) -> Status {
    let body = format!(r#""spec": {{"restartPolicy": "Always", "dnsPolicy": "Default", {spec}}}"#);
    *validate("v1", "Pod", &body).unwrap()
}

#[track_caller]
fn causes(status: Status) -> Vec<(String, String)> {
    let causes = status.details.unwrap_or_default().causes.into_iter();
    causes.map(|cause| (cause.field, cause.message)).collect()
}

#[test]
fn the_number_and_the_length_of_errors_are_bounded() {
    let ports = list(|_| r#"{"containerPort": 99999, "protocol": "TCP"}"#.to_owned());
    let spec = format!(r#""containers": [{{"name": "a", "image": "a", "ports": {ports}}}]"#);
    let causes_of_ports = causes(validate_pod(&spec));
    assert_eq!(causes_of_ports.len(), 10_001);
    let (_, last) = causes_of_ports.last().unwrap();
    assert!(last.starts_with("Invalid value: and 10"), "{last}");
    // Each error about a claim names all that there are.
    let known = list(|at| format!(r#"{{"name": "known-{at}", "resourceClaimName": "c"}}"#));
    let unknown = list(|at| format!(r#"{{"name": "other-{at}"}}"#));
    let spec = format!(
        r#""resourceClaims": {known}, "containers": [{{"name": "a", "image": "a", "resources": {{"claims": {unknown}}}}}]"#
    );
    let told: usize = causes(validate_pod(&spec))
        .iter()
        .map(|(_, message)| message.len())
        .sum();
    assert!((16 << 20..18 << 20).contains(&told), "{told}");
}

#[test]
fn claims_are_compared_by_their_names() {
    let claims = list(|at| format!(r#"{{"name": "a-{at}", "request": "r"}}"#));
    let spec =
        format!(r#""containers": [{{"name": "a", "image": "a", "resources": {{"claims": {claims}}}}}]"#);
    assert_eq!(causes(validate_pod(&spec)).len(), 10_001);
}

#[test]
fn volumes_are_found_by_their_names() {
    let variables = list(|at| {
        format!(
            r#"{{"name": "V{at}", "valueFrom": {{"fileKeyRef": {{"volumeName": "v{at}", "path": "p", "key": "k"}}}}}}"#
        )
    });
    let volumes = list(|at| format!(r#"{{"name": "v{at}", "emptyDir": {{}}}}"#));
    let spec =
        format!(r#""containers": [{{"name": "a", "image": "a", "env": {variables}}}], "volumes": {volumes}"#);
    let told = causes(validate_pod(&spec));
    assert!(told.iter().all(|(field, _)| !field.contains("env")), "{told:?}");
    let volumes =
        list(|at| format!(r#"{{"name": "v{at}", "persistentVolumeClaim": {{"claimName": "a-v{at}"}}}}"#));
    let spec = format!(r#""containers": [{{"name": "a", "image": "a"}}], "volumes": {volumes}"#);
    validate_pod(&spec);
}

#[test]
fn what_a_status_names_is_found_in_the_spec() {
    let claims = list(|at| format!(r#"{{"name": "c{at}", "resourceClaimName": "r{at}"}}"#));
    let volumes = list(|at| format!(r#"{{"name": "v{at}", "emptyDir": {{}}}}"#));
    let statuses = list(|at| format!(r#"{{"name": "c{}"}}"#, COUNT - 1 - at));
    let health = list(|at| format!(r#"{{"name": "v{}"}}"#, COUNT - at));
    let body = format!(
        r#""spec": {{"restartPolicy": "Always", "resourceClaims": {claims}, "volumes": {volumes}}},
            "status": {{"resourceClaimStatuses": {statuses}, "volumeHealth": {health}}}"#
    );
    let status = validate_by(&Validator::new(), ("v1", "Pod"), "status", &body).unwrap();
    let fields: Vec<String> = causes(*status).into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        ["metadata.resourceVersion", "status.volumeHealth[0].name"]
    );
}

#[test]
fn keys_of_labels_are_compared_by_their_names() {
    let keys = list(|at| format!(r#""k{at}""#));
    let expressions = list(|at| format!(r#"{{"key": "e{at}", "operator": "Exists"}}"#));
    let constraint = format!(
        r#"{{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": {keys},
            "labelSelector": {{"matchExpressions": {expressions}}}}}"#
    );
    let spec = format!(
        r#""containers": [{{"name": "a", "image": "a"}}], "topologySpreadConstraints": [{constraint}]"#
    );
    validate_pod(&spec);
}

#[test]
fn classes_are_compared_by_what_they_say() {
    let tolerations = list(|at| format!(r#"{{"key": "k{at}", "operator": "Exists"}}"#));
    let body = format!(r#""handler": "h", "scheduling": {{"tolerations": {tolerations}}}"#);
    validate("node.k8s.io/v1", "RuntimeClass", &body);
    let terms = list(|at| format!(r#"{{"matchLabelExpressions": [{{"key": "k", "values": ["v{at}"]}}]}}"#));
    let body = format!(
        r#""provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", "allowedTopologies": {terms}"#
    );
    validate("storage.k8s.io/v1", "StorageClass", &body);
}

#[test]
fn empty_terms_are_told_more_often_than_can_be_counted_up_to() {
    const TERMS: usize = 200_000;
    let terms = vec!["{}"; TERMS].join(",");
    let body = format!(
        r#""provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", "allowedTopologies": [{terms}]"#
    );
    // A release that drops no error that is there twice.
    let gates = FeatureGates::new(Release::by_version("1.34").unwrap());
    let validator = Validator::new().with_gates(gates);
    let status = validate_by(&validator, ("storage.k8s.io/v1", "StorageClass"), "", &body).unwrap();
    let causes = causes(*status);
    assert_eq!(causes.len(), 10_001);
    // Each of them as often as there are terms and equal ones before it.
    let (_, last) = causes.last().unwrap();
    assert!(last.starts_with("Invalid value: and 5999989000"), "{last}");
}
