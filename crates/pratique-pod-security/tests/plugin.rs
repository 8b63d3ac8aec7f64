//! What the plugin does besides answering: undecided requests, metrics, limits, older servers.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, Mutex};

use pratique_json::{Value, parse};
use pratique_plugin::StateObjects;
use pratique_pod_security::{
    Evaluator, Level, LevelVersion, Pod, PodCheckLimits, PodSecurity, PodSecurityObserver,
    PodSecuritySettings, PolicyEvaluation, Version, reasons, resource_label,
};
use pratique_testkit::validate;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

fn value(text: &str) -> Value<'static> {
    parse(text.as_bytes()).unwrap().into_owned()
}

fn namespace(enforce: &str) -> Value<'static> {
    value(&format!(
        r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "shop",
            "labels": {{"pod-security.kubernetes.io/enforce": "{enforce}"}}}}}}"#
    ))
}

fn pod(name: &str) -> Value<'static> {
    value(&format!(
        r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}", "namespace": "shop"}},
            "spec": {{"hostNetwork": true, "containers": [{{"name": "app", "image": "app:1"}}]}}}}"#
    ))
}

fn creating(pod: Value<'static>) -> AdmissionRequest<'static> {
    AdmissionRequest {
        kind: GroupVersionKind::new("", "v1", "Pod"),
        resource: GroupVersionResource::new("", "v1", "pods"),
        namespace: "shop".to_owned(),
        operation: Operation::Create,
        object: pod,
        ..AdmissionRequest::default()
    }
}

fn plugin() -> PodSecurity {
    PodSecurity::new(PodSecuritySettings::default())
}

#[test]
fn a_namespace_that_is_not_known_leaves_pods_undecided() {
    let rejection = validate(&plugin(), &StateObjects::default(), &creating(pod("web"))).unwrap_err();
    assert_eq!(
        rejection.to_string(),
        "Namespace objects named \"shop\" are not known"
    );
}

/// Notes evaluations.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl PodSecurityObserver for Notes {
    fn evaluated(&self, request: &AdmissionRequest<'_>, evaluation: PolicyEvaluation) {
        self.0.lock().unwrap().push(format!(
            "{} {} {} {}",
            evaluation.decision(),
            evaluation.mode.as_str(),
            evaluation.version_label(36),
            resource_label(request)
        ));
    }
}

#[test]
fn metrics_get_what_a_server_counts() {
    let mut cluster = StateObjects::whole();
    cluster.insert(namespace("baseline")).unwrap();
    let notes = Arc::new(Notes::default());
    let plugin = plugin().with_observer(notes.clone());
    assert!(validate(&plugin, &cluster, &creating(pod("web"))).is_err());
    assert_eq!(*notes.0.lock().unwrap(), ["deny enforce latest pod"]);
}

fn restricting(count: usize) -> (StateObjects, AdmissionRequest<'static>) {
    let mut cluster = StateObjects::whole();
    for index in 0..count {
        cluster.insert(pod(&format!("p{index}"))).unwrap();
    }
    let request = AdmissionRequest {
        kind: GroupVersionKind::new("", "v1", "Namespace"),
        resource: GroupVersionResource::new("", "v1", "namespaces"),
        name: "shop".to_owned(),
        namespace: "shop".to_owned(),
        operation: Operation::Update,
        object: namespace("baseline"),
        old_object: namespace("privileged"),
        ..AdmissionRequest::default()
    };
    (cluster, request)
}

#[test]
fn only_so_many_pods_are_checked() {
    let (cluster, request) = restricting(5);
    let limits = PodCheckLimits {
        pods: 3,
        ..PodCheckLimits::default()
    };
    let effects = validate(&plugin().with_limits(limits), &cluster, &request).unwrap();
    assert_eq!(
        effects.warnings,
        [
            "new PodSecurity enforce level only checked against the first 3 of 5 existing pods",
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"baseline:latest\"",
            "p0 (and 2 other pods): host namespaces",
        ]
    );
}

#[test]
fn pods_are_checked_for_so_long() {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    static SECONDS: AtomicU64 = AtomicU64::new(0);
    let (cluster, request) = restricting(5);
    let limits = PodCheckLimits {
        clock: Some(|| Duration::from_millis(600 * SECONDS.fetch_add(1, Ordering::Relaxed))),
        ..PodCheckLimits::default()
    };
    let effects = validate(&plugin().with_limits(limits), &cluster, &request).unwrap();
    assert_eq!(
        effects.warnings.first().map(String::as_str),
        Some("new PodSecurity enforce level only checked against the first 2 of 5 existing pods")
    );
}

#[test]
fn unknown_pods_are_reported() {
    let (_, request) = restricting(0);
    let effects = validate(&plugin(), &StateObjects::default(), &request).unwrap();
    assert_eq!(
        effects.warnings,
        ["failed to list pods while checking new PodSecurity enforce level"]
    );
}

#[test]
fn an_older_server_knows_no_later_checks() {
    let template = value(
        r#"{"spec": {"hostUsers": false, "containers": [{"name": "a", "securityContext": {"procMount": "Unmasked"}}]}}"#,
    );
    let pod = Pod::from_template(&template).unwrap();
    let baseline = |version| LevelVersion {
        level: Level::Baseline,
        version,
    };
    let current = Evaluator::new();
    let older = Evaluator::emulating(Version::Minor(34));
    assert_eq!(reasons(&current.violations(baseline(Version::Latest), &pod)), "");
    assert_eq!(
        reasons(&current.violations(baseline(Version::Minor(99)), &pod)),
        ""
    );
    assert_eq!(
        reasons(&current.violations(baseline(Version::Minor(34)), &pod)),
        "procMount"
    );
    assert_eq!(
        reasons(&older.violations(baseline(Version::Latest), &pod)),
        "procMount"
    );
}
