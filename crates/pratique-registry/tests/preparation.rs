//! What is said of an object beside its answer: warnings, and fields that are dropped without one.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{
    Placeholders, Prepared, Refusal, Registry, Request, Store, Target, Verb, take_managed_fields,
};
use pratique_schema::{FeatureGates, Release};
use pratique_types::{Reason, Status, warnings};

/// Nothing exists.
struct NoObjects;

impl Store for NoObjects {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        None
    }
}

/// A Pod that is prepared by a server with these gates; `is_valid` is what its validation says.
fn prepare(pod: &str, gates: FeatureGates, is_valid: bool) -> Result<Prepared<'static>, Refusal> {
    prepare_in("/api/v1/namespaces/web/pods", pod, gates, is_valid)
}

/// The same of an object of another collection.
fn prepare_in(
    collection: &str,
    body: &str,
    gates: FeatureGates,
    is_valid: bool,
) -> Result<Prepared<'static>, Refusal> {
    let placeholders = Placeholders::default();
    let objects = ObjectCodec::with_placeholder(placeholders.time.clone())
        .with_gates(gates)
        .keeping_empty();
    let registry = Registry {
        scheme: &objects,
        store: &NoObjects,
        placeholders: &placeholders,
        release: Some((1, 37)),
    };
    let request = Request {
        target: Target::parse(collection).unwrap(),
        body: body.as_bytes(),
        without_managed_fields: true,
        without_stored: true,
        ..Request::default()
    };
    let validate = |_: &Prepared<'_>| {
        if is_valid {
            Ok(())
        } else {
            Err(Box::new(Status::failure(Reason::Invalid, "no".to_owned())))
        }
    };
    registry.prepare_valid(registry.receive(request)?, &validate)
}

#[test]
fn what_is_warned_of_is_bounded() {
    let env = vec![r#"{"name": "A"}"#; 5_000].join(",");
    let variables = format!(
        r#"{{"metadata": {{"name": "a"}}, "spec": {{"containers": [{{"name": "a", "env": [{env}]}}]}}}}"#
    );
    let prepared = prepare(&variables, FeatureGates::default(), true).unwrap();
    let bytes: usize = prepared.warnings.iter().map(String::len).sum();
    assert!(bytes < 20_000 && !prepared.warnings.is_empty(), "{bytes}");
    // A server shows no more of them.
    let shown = warnings::passed_on(prepared.warnings.iter().map(String::as_str));
    assert!(shown.len() > 10, "{shown:?}");
}

#[test]
fn an_invalid_object_is_warned_of_as_far_as_it_was_prepared() {
    let annotation = "container.apparmor.security.beta.kubernetes.io/a";
    let pod = format!(
        r#"{{"metadata": {{"name": "a", "annotations": {{"{annotation}": "unconfined"}}}},
            "spec": {{"hostAliases": [{{"ip": "1.2.3.4"}}, {{"ip": "1.2.3.4"}}], "containers": [{{"name": "a"}}]}}}}"#
    );
    let valid = prepare(&pod, FeatureGates::default(), true).unwrap().warnings;
    let invalid = prepare(&pod, FeatureGates::default(), false)
        .unwrap_err()
        .warnings;
    assert_eq!((valid.len(), invalid.len()), (2, 1), "{valid:?}");
    assert!(
        invalid.iter().all(|warning| warning.contains(annotation)),
        "{invalid:?}"
    );
}

#[test]
fn dropped_fields_are_told() {
    let pod = r#"{"metadata": {"name": "a"}, "spec": {"schedulingGroup": {"podGroupName": "g"},
        "volumes": [{"name": "b", "emptyDir": {}}, {"name": "v", "emptyDir": {"mode": 448}}], "containers": [{"name": "a"}]}}"#;
    let dropped = |gates: FeatureGates| -> Vec<(String, &str)> {
        let prepared = prepare(pod, gates, true).unwrap();
        prepared
            .dropped
            .into_iter()
            .map(|drop| (drop.path, drop.gate))
            .collect()
    };
    let group = ("spec.schedulingGroup".to_owned(), "GenericWorkload");
    let mode = ("spec.volumes[1].emptyDir.mode".to_owned(), "EmptyDirVolumeMode");
    let gates = FeatureGates::default();
    assert_eq!(dropped(gates), [group, mode.clone()]);
    assert_eq!(dropped(gates.with("GenericWorkload", true)), [mode]);
    assert_eq!(
        dropped(
            gates
                .with("GenericWorkload", true)
                .with("EmptyDirVolumeMode", true)
        ),
        []
    );
    // What a user did not write is not told, whatever is defaulted.
    let plain = r#"{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 1}}}],
        "volumes": [{"name": "v", "emptyDir": {}}]}}"#;
    assert_eq!(prepare(plain, gates, true).unwrap().dropped, []);
}

/// Of an older version, where that says whether the request is for exact devices.
#[test]
fn empty_lists_that_are_dropped_still_say_that_they_were_there() {
    let claim = r#"{"metadata": {"name": "a"}, "spec": {"devices": {"requests": [{"name": "r", "derivedAttributes": []}, {"name": "s"}]}}}"#;
    let collection = "/apis/resource.k8s.io/v1beta1/namespaces/web/resourceclaims";
    let outcome = prepare_in(collection, claim, FeatureGates::default(), true).unwrap();
    let requests = outcome.attributes.object.at(&["spec", "devices", "requests"]);
    let requests = requests.and_then(Value::as_array).unwrap();
    let has_list: Vec<bool> = requests
        .iter()
        .map(|request| request.get("derivedAttributes").is_some())
        .collect();
    assert_eq!(has_list, [true, false]);
    // Nobody misses anything in them.
    assert_eq!(outcome.dropped, []);
}

/// One object exists.
struct OneObject(Value<'static>);

impl Store for OneObject {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        Some(self.0.clone())
    }
}

#[test]
fn the_health_of_a_claim_is_dropped_unless_it_was_there() {
    let claim = |status: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {{"name": "a", "namespace": "web", "uid": "u", "resourceVersion": "1"}}, "spec": {{}}, "status": {status}}}"#
        )
    };
    let has_health = |old: &str| {
        let placeholders = Placeholders::default();
        let objects = ObjectCodec::with_placeholder(placeholders.time.clone());
        let old = claim(old);
        let registry = Registry {
            scheme: &objects,
            store: &OneObject(pratique_json::parse(old.as_bytes()).unwrap().into_owned()),
            placeholders: &placeholders,
            release: Some((1, 37)),
        };
        let body = claim(r#"{"healthStatus": {"healthConditions": []}}"#);
        let request = Request {
            verb: Verb::Update,
            target: Target::parse("/api/v1/namespaces/web/persistentvolumeclaims/a/status").unwrap(),
            body: body.as_bytes(),
            without_managed_fields: true,
            without_stored: true,
            ..Request::default()
        };
        let request = registry.receive(request).unwrap();
        let outcome = registry.prepare_valid(request, &|_| Ok(())).unwrap();
        outcome
            .attributes
            .object
            .at(&["status", "healthStatus"])
            .is_some()
    };
    assert!(!has_health("{}"));
    assert!(has_health(r#"{"healthStatus": {}}"#));
}

/// Of a release before the features were on.
#[test]
fn volumes_of_images_and_policies_of_containers_are_dropped_whole() {
    let pod = r#"{"metadata": {"name": "a"}, "spec": {
        "volumes": [{"name": "i", "image": {"reference": "r"}}, {"name": "e", "emptyDir": {}}],
        "initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "b", "restartPolicy": "OnFailure"}],
        "containers": [{"name": "a", "restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart"}],
            "volumeMounts": [{"name": "i", "mountPath": "/i"}]},
            {"name": "c", "volumeMounts": [{"name": "i", "mountPath": "/i"}, {"name": "e", "mountPath": "/e"}]}]}}"#;
    let gates = FeatureGates::new(Release::by_version("1.34").unwrap());
    let prepared = prepare(pod, gates, true).unwrap();
    let dropped: Vec<&str> = prepared.dropped.iter().map(|drop| drop.path.as_str()).collect();
    assert_eq!(
        dropped,
        [
            "spec.containers[0].restartPolicy",
            "spec.containers[0].restartPolicyRules",
            "spec.initContainers[1].restartPolicy",
            "spec.volumes[0]",
        ]
    );
    let at = |path: &[&str]| prepared.attributes.object.at(path).map(ToString::to_string);
    assert_eq!(
        at(&["spec", "volumes"]).unwrap(),
        r#"[{"emptyDir":{},"name":"e"}]"#
    );
    let containers = at(&["spec", "containers"]).unwrap();
    assert_eq!(containers.matches("mountPath").count(), 1, "{containers}");
    assert_eq!(containers.matches("volumeMounts").count(), 1, "{containers}");
    let on = gates
        .with("ImageVolume", true)
        .with("ContainerRestartRules", true);
    assert_eq!(prepare(pod, on, true).unwrap().dropped, []);
    assert_eq!(prepare(pod, FeatureGates::default(), true).unwrap().dropped, []);
}

#[test]
fn fields_of_drivers_are_dropped_by_release() {
    let driver = r#"{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "a"},
        "spec": {"seLinuxMount": true, "serviceAccountTokenInSecrets": true, "nodeAllocatableUpdatePeriodSeconds": 10,
            "preventPodSchedulingIfMissing": true}}"#;
    let dropped = |gates: FeatureGates| -> Vec<&str> {
        let prepared = prepare_in("/apis/storage.k8s.io/v1/csidrivers", driver, gates, true).unwrap();
        prepared.dropped.into_iter().map(|drop| drop.gate).collect()
    };
    let of = |version: &str| FeatureGates::new(Release::by_version(version).unwrap());
    assert_eq!(dropped(of("1.37")), [] as [&str; 0]);
    assert_eq!(dropped(of("1.36")), ["VolumeLimitScaling"]);
    assert_eq!(
        dropped(of("1.35").with("CSIServiceAccountTokenSecrets", false)),
        ["CSIServiceAccountTokenSecrets"],
        "1.35 does not have the other field"
    );
}

#[test]
fn managed_fields_that_cannot_be_read_are_those_of_before() {
    let object = |entries: &str| {
        let text = format!(r#"{{"metadata": {{"name": "a", "managedFields": {entries}}}}}"#);
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    };
    let taken_with = |entries: &str, live: &Value<'static>, subresource: &str| {
        let mut object = object(entries);
        take_managed_fields(live, &mut object, subresource);
        object.at(&["metadata", "managedFields"]).map(ToString::to_string)
    };
    let taken = |entries: &str, live: &Value<'static>| taken_with(entries, live, "");
    let readable = r#"[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"manager":"a","operation":"Update"}]"#;
    let live = object(readable);
    for entries in [
        r#"[{"manager": "a", "operation": "Foo", "apiVersion": "v1", "fieldsType": "FieldsV1"}]"#,
        r#"[{"manager": "a", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"q:a": 3}}]"#,
    ] {
        assert_eq!(taken(entries, &Value::Null), None, "{entries}");
        assert_eq!(taken(entries, &live).as_deref(), Some(readable), "{entries}");
    }
    // They ask for none.
    assert_eq!(taken("[{}]", &live), None);
    assert_eq!(taken(readable, &Value::Null).as_deref(), Some(readable));
    // Requests for parts of objects send none.
    let others = readable.replace("f:spec", "f:status");
    assert_eq!(taken(&others, &live).as_deref(), Some(others.as_str()));
    for entries in [others.as_str(), "[{}]"] {
        assert_eq!(taken_with(entries, &live, "status").as_deref(), Some(readable));
        assert_eq!(taken_with(entries, &Value::Null, "status"), None);
    }
}
