//! Objects as an API server sees them: defaulted, prepared, and custom resources validated.

use std::sync::Arc;

use pratique::api_objects::{ApiObjects, DefaultedBy, ReceiveOptions, ReceivedRequest};
use pratique::authorization::NoAuthorizer;
use pratique::manifest::ManifestPlugin;
use pratique::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};
use pratique::{Admission, EvalContext, Objects, Outcome};
use pratique_json::Value;

use crate::world::{file, run};

fn value(text: &str) -> Value<'static> {
    pratique_json::parse(text.as_bytes()).unwrap().into_owned()
}

fn request(kind: (&str, &str, &str), resource: &str, object: &str) -> AdmissionRequest<'static> {
    let object = value(object);
    let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
    AdmissionRequest {
        uid: "u".to_owned(),
        kind: GroupVersionKind::new(kind.0, kind.1, kind.2),
        resource: GroupVersionResource::new(kind.0, kind.1, resource),
        name: name.unwrap_or_default().to_owned(),
        namespace: "shop".to_owned(),
        operation: Operation::Create,
        object,
        ..AdmissionRequest::default()
    }
}

fn pod() -> AdmissionRequest<'static> {
    let object = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-","namespace":"shop","uid":"mine"},
        "spec":{"containers":[{"name":"app","image":"app:1"}]},"status":{"phase":"Running"}}"#;
    request(("", "v1", "Pod"), "pods", object)
}

/// The first adds a container, of which the second reads what it was defaulted to.
const POLICIES: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: a-sidecar.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{spec: Object.spec{containers: [Object.spec.containers{name: \"side\", image: \"side\"}]}}'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: a-sidecar.static.k8s.io}
spec: {policyName: a-sidecar.static.k8s.io}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: b-label.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: |-
        [JSONPatch{op: 'add', path: '/metadata/labels', value: {'pull': object.spec.containers[1].imagePullPolicy}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: b-label.static.k8s.io}
spec: {policyName: b-label.static.k8s.io}
";

fn text(object: Option<&Value<'_>>, path: &[&str]) -> String {
    object
        .and_then(|object| object.at(path))
        .map_or_else(String::new, |value| {
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        })
}

#[test]
fn a_live_admission_defaults_between_its_own_mutations() {
    let files = [file("m.yaml", POLICIES)];
    let builder = || Admission::builder().files(files.clone(), ManifestPlugin::MutatingAdmissionPolicy);
    let live = builder()
        .live()
        .object_model(ApiObjects::default())
        .start()
        .unwrap();
    let outcome = run(live.admit(&pod())).unwrap();
    assert_eq!(outcome.status, None);
    assert_eq!(
        text(outcome.object.as_ref(), &["metadata", "labels", "pull"]),
        "Always"
    );
    // It was sent as a server has it, so it is not prepared.
    assert_eq!(outcome.prepared, None);
    assert_eq!(text(outcome.object.as_ref(), &["metadata", "uid"]), "mine");
    // Without a model the container has no policy.
    let live = builder().live().start().unwrap();
    let status = run(live.admit(&pod())).unwrap().status.unwrap();
    assert!(
        status.message.contains("no such key: imagePullPolicy"),
        "{}",
        status.message
    );
}

fn admit(admission: &Admission, request: &AdmissionRequest<'_>, received: &ReceivedRequest<'_>) -> Outcome {
    let mut cluster = Objects::new();
    cluster.assume_namespaces();
    let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer)).with_object_model(Some(received));
    admission.admit_policies(request, context, &mut ()).unwrap()
}

#[test]
fn what_is_defaulted_is_recorded() {
    let builder = Admission::builder().files(
        [file("m.yaml", POLICIES)],
        ManifestPlugin::MutatingAdmissionPolicy,
    );
    let admission = builder.build().unwrap();
    let objects = ApiObjects::default();
    let mut request = pod();
    let received = objects
        .receive_with(
            &mut request,
            ReceiveOptions {
                records_defaults: true,
                ..ReceiveOptions::default()
            },
        )
        .unwrap();
    assert_eq!(text(Some(&request.object), &["spec", "restartPolicy"]), "Always");
    assert_eq!(text(Some(&request.object), &["metadata", "uid"]), "");
    let outcome = admit(&admission, &request, &received);
    let prepared = outcome.prepared.as_ref();
    assert_eq!(text(prepared, &["metadata", "name"]), "p-xxxxx");
    assert_eq!(text(prepared, &["status", "phase"]), "Pending");
    let shown: Vec<_> = received
        .defaults()
        .into_iter()
        .map(|step| (step.by, step.paths))
        .collect();
    let [server, side, prepared] = shown.as_slice() else {
        panic!("{shown:?}");
    };
    assert_eq!(server.0, DefaultedBy::Server);
    assert!(
        server
            .1
            .contains(&"spec.containers[0].imagePullPolicy".to_owned()),
        "{server:?}"
    );
    assert_eq!(side.0, DefaultedBy::Policy("a-sidecar.static.k8s.io".to_owned()));
    assert!(
        side.1.contains(&"spec.containers[1].imagePullPolicy".to_owned()),
        "{side:?}"
    );
    assert_eq!(prepared.0, DefaultedBy::Preparation);
    assert!(prepared.1.contains(&"metadata.uid".to_owned()), "{prepared:?}");
}

const DEFINITION: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.example.com"},
    "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
            "spec":{"type":"object","properties":{
                "size":{"type":"integer","default":1,"maximum":10},"parts":{"type":"integer"}},
                "x-kubernetes-validations":[{"rule":"self.parts <= self.size","message":"too many parts"}]}}}}}]}}"#;

fn widget(spec: &str) -> AdmissionRequest<'static> {
    let object = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"w","namespace":"shop"}},"spec":{spec}}}"#
    );
    request(("example.com", "v1", "Widget"), "widgets", &object)
}

#[test]
fn custom_resources_are_pruned_defaulted_and_validated() {
    let admission = Admission::builder().build().unwrap();
    let mut objects = ApiObjects::default();
    objects.define(&value(DEFINITION)).unwrap();
    let mut good = widget(r#"{"parts":1,"colour":"red"}"#);
    let received = objects.receive(&mut good).unwrap();
    assert_eq!(text(Some(&good.object), &["spec"]), r#"{"parts":1,"size":1}"#);
    assert_eq!(received.unknown_fields(), [r#"unknown field "spec.colour""#]);
    let outcome = admit(&admission, &good, &received);
    assert!(outcome.allowed() && !received.is_refused());
    assert_eq!(text(outcome.prepared.as_ref(), &["metadata", "generation"]), "1");
    let mut bad = widget(r#"{"parts":2}"#);
    let received = objects.receive(&mut bad).unwrap();
    let outcome = admit(&admission, &bad, &received);
    assert!(received.is_refused());
    let status = outcome.status.unwrap();
    assert_eq!(status.code, 422);
    assert_eq!(
        status.message,
        r#"Widget.example.com "w" is invalid: spec: Invalid value: too many parts"#
    );
    assert_eq!(
        status.details.unwrap().causes.first().unwrap().reason,
        "FieldValueInvalid"
    );
    // Of what is not known nothing is changed.
    let nothing = ApiObjects::default();
    let mut unknown = widget("{}");
    let received = nothing.receive(&mut unknown).unwrap();
    assert_eq!(admit(&admission, &unknown, &received).prepared, None);
    assert_eq!(unknown, widget("{}"));
}

#[test]
fn updates_have_what_a_stored_object_has() {
    let admission = Admission::builder().build().unwrap();
    let objects = ApiObjects::default();
    let mut update = request(
        ("apps", "v1", "Deployment"),
        "deployments",
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"w","namespace":"shop"},"spec":{"replicas":2}}"#,
    );
    update.operation = Operation::Update;
    update.old_object = value(
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"w","namespace":"shop","generation":3},
            "status":{"replicas":1}}"#,
    );
    let received = objects.receive(&mut update).unwrap();
    assert_eq!(
        text(Some(&update.old_object), &["spec", "strategy", "type"]),
        "RollingUpdate"
    );
    let outcome = admit(&admission, &update, &received);
    let prepared = outcome.prepared.as_ref();
    assert_eq!(text(prepared, &["metadata", "generation"]), "4");
    assert_eq!(text(prepared, &["status", "replicas"]), "1");
    // A server refuses what is in another namespace than the request.
    let mut elsewhere = pod();
    elsewhere.namespace = "other".to_owned();
    let refused = objects.receive(&mut elsewhere).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the namespace of the provided object does not match the namespace sent on the request"
    );
}
