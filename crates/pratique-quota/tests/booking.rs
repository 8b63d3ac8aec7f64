//! Quotas over the requests of one run.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pratique_json::parse;
use pratique_plugin::{Rejection, StateObjects};
use pratique_quota::{QuotaSettings, ResourceQuota};
use pratique_testkit::validate;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

fn plugin() -> ResourceQuota {
    ResourceQuota::new(QuotaSettings::default())
}

fn quota(name: &str, hard: &str, used: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {{"name": "{name}", "namespace": "shop"}},
            "status": {{"hard": {hard}, "used": {used}}}}}"#
    )
}

fn insert(cluster: &mut StateObjects, object: &str) {
    cluster
        .insert(parse(object.as_bytes()).unwrap().into_owned())
        .unwrap();
}

fn pod(name: &str) -> AdmissionRequest<'static> {
    let pod = format!(
        r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}"}}, "spec": {{"containers": [
            {{"name": "app", "resources": {{"requests": {{"cpu": "500m"}}}}}}]}}}}"#
    );
    AdmissionRequest {
        kind: GroupVersionKind::new("", "v1", "Pod"),
        resource: GroupVersionResource::new("", "v1", "pods"),
        name: name.to_owned(),
        namespace: "shop".to_owned(),
        operation: Operation::Create,
        object: parse(pod.as_bytes()).unwrap().into_owned(),
        ..AdmissionRequest::default()
    }
}

#[test]
fn booked_usage_counts_for_later_requests() {
    let mut cluster = StateObjects::whole();
    insert(
        &mut cluster,
        &quota(
            "cores",
            r#"{"requests.cpu": "1500m"}"#,
            r#"{"requests.cpu": "0"}"#,
        ),
    );
    let plugin = plugin();
    let mut allowed = Vec::new();
    for name in ["a", "b", "c", "d"] {
        match validate(&plugin, &cluster, &pod(name)) {
            Ok(effects) => {
                cluster.apply(&effects);
                allowed.push(name);
            }
            Err(rejection) => assert_eq!(
                rejection.to_string(),
                "pods \"d\" is forbidden: exceeded quota: cores, requested: requests.cpu=500m, used: requests.cpu=1500m, \
                 limited: requests.cpu=1500m"
            ),
        }
    }
    assert_eq!(allowed, ["a", "b", "c"]);
}

#[test]
fn a_dry_run_books_nothing() {
    let mut cluster = StateObjects::whole();
    insert(
        &mut cluster,
        &quota("one", r#"{"pods": "1"}"#, r#"{"pods": "0"}"#),
    );
    let request = AdmissionRequest {
        dry_run: Some(true),
        ..pod("a")
    };
    assert!(validate(&plugin(), &cluster, &request).unwrap().booked.is_empty());
    assert_eq!(validate(&plugin(), &cluster, &pod("a")).unwrap().booked.len(), 1);
}

#[test]
fn other_quotas_are_noticed() {
    let mut cluster = StateObjects::whole();
    insert(&mut cluster, &quota("q", r#"{"pods": "1"}"#, r#"{"pods": "1"}"#));
    let plugin = plugin();
    assert!(validate(&plugin, &cluster, &pod("a")).is_err());
    insert(&mut cluster, &quota("q", r#"{"pods": "2"}"#, r#"{"pods": "1"}"#));
    assert!(validate(&plugin, &cluster, &pod("a")).is_ok());
    insert(
        &mut cluster,
        &quota("another", r#"{"pods": "0"}"#, r#"{"pods": "0"}"#),
    );
    assert!(validate(&plugin, &cluster, &pod("a")).is_err());
}

#[test]
fn quotas_that_are_not_known_are_not_passed_over() {
    let rejection = validate(&plugin(), &StateObjects::default(), &pod("a")).unwrap_err();
    assert!(matches!(rejection, Rejection::Undecided(_)));
    assert_eq!(
        rejection.to_string(),
        "ResourceQuota objects in namespace \"shop\" are not known"
    );
}

#[test]
fn amounts_that_are_none_are_errors() {
    let mut cluster = StateObjects::whole();
    insert(
        &mut cluster,
        &quota("q", r#"{"pods": "many"}"#, r#"{"pods": "0"}"#),
    );
    let rejection = validate(&plugin(), &cluster, &pod("a")).unwrap_err();
    assert!(
        rejection
            .to_string()
            .starts_with("quantities must match the regular expression")
    );
}

#[test]
fn a_quota_without_status_limits_nothing_until_its_controller_has_seen_it() {
    let quota = r#"{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "cores", "namespace": "shop"},
        "spec": {"hard": {"requests.cpu": "1m"}}}"#;
    let mut cluster = StateObjects::whole();
    insert(&mut cluster, quota);
    let effects = validate(&plugin(), &cluster, &pod("a")).unwrap();
    assert!(effects.booked.is_empty());

    let mut written = StateObjects::whole().without_controllers();
    insert(&mut written, quota);
    let rejection = validate(&plugin(), &written, &pod("a")).unwrap_err();
    assert_eq!(
        rejection.to_string(),
        r#"status.hard of ResourceQuota "cores" in namespace "shop", which its controller writes, is not known"#
    );
    // It is about something else.
    insert(&mut written, &quota.replace("requests.cpu", "count/secrets"));
    assert!(validate(&plugin(), &written, &pod("a")).is_ok());
}
