//! Policies, requests and clusters for tests.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use pratique::authorization::{CheckDecider, PendingDecisions, Question};
use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::types::AdmissionRequest;
use pratique::{AdmissionBuilder, Outcome};
use pratique_json::Value;

/// Nobody to ask.
pub(crate) struct NoDecider;

impl CheckDecider for NoDecider {
    fn decide(&self, _: Vec<Question>) -> PendingDecisions<'_> {
        Box::pin(async { Vec::new() })
    }
}

/// Runs a future that never waits.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing waits"),
    }
}

/// The creation of a ConfigMap with this trail.
pub(crate) fn configmap(trail: &str) -> AdmissionRequest<'static> {
    let object = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{{"trail":"{trail}"}}}}"#
    );
    AdmissionRequest {
        uid: "u".to_owned(),
        kind: pratique::types::GroupVersionKind::new("", "v1", "ConfigMap"),
        resource: pratique::types::GroupVersionResource::new("", "v1", "configmaps"),
        name: "c".to_owned(),
        object: pratique_json::parse(object.as_bytes()).unwrap().into_owned(),
        ..AdmissionRequest::default()
    }
}

/// The same as an API server sends it: in a namespace.
pub(crate) fn configmap_in_shop(trail: &str) -> AdmissionRequest<'static> {
    AdmissionRequest {
        namespace: "shop".to_owned(),
        ..configmap(trail)
    }
}

/// The object with `name` added to its trail.
pub(crate) fn append(object: &Value<'_>, name: &str) -> Value<'static> {
    let mut object = object.clone().into_owned();
    let trail = object.at(&["data", "trail"]).and_then(Value::as_str);
    let trail = format!("{}{name}", trail.unwrap_or_default());
    if let Some(Value::Object(data)) = object.get_mut("data") {
        data.insert("trail", Value::from(trail));
    }
    object
}

/// The trail of an outcome's object.
pub(crate) fn trail(outcome: &Outcome) -> String {
    assert_eq!(outcome.status, None);
    let object = outcome.object.as_ref().unwrap();
    let trail = object.at(&["data", "trail"]).and_then(Value::as_str);
    trail.unwrap().to_owned()
}

const RULES: &str = "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: ['*']}]}";
const HEAD: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind:";

pub(crate) fn file(name: &str, text: &str) -> ManifestFile {
    ManifestFile {
        path: name.to_owned(),
        content: text.as_bytes().to_vec(),
    }
}

/// A validating policy with a binding that denies.
pub(crate) fn validating_policy(name: &str, expression: &str) -> String {
    format!(
        "---\n{HEAD} ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  {RULES}\n  validations:\n  - expression: |-\n      {expression}\n\
         ---\n{HEAD} ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}, validationActions: [Deny]}}\n"
    )
}

/// A mutating policy with a binding, which adds `mark` to the trail.
pub(crate) fn mutating_policy(name: &str, mark: &str, reinvocation: &str) -> String {
    format!(
        "---\n{HEAD} MutatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  {RULES}\n  reinvocationPolicy: {reinvocation}\n  mutations:\n  - patchType: JSONPatch\n    jsonPatch:\n      expression: |-\n        [JSONPatch{{op: 'replace', path: '/data/trail', value: object.data.trail + '{mark}'}}]\n\
         ---\n{HEAD} MutatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}}}\n"
    )
}

/// With static mutating policies of these names and reinvocation policies, each adding its name to the trail.
pub(crate) fn mutating(builder: AdmissionBuilder, policies: &[(&str, &str)]) -> AdmissionBuilder {
    let text: String = policies
        .iter()
        .map(|(name, reinvocation)| mutating_policy(&format!("{name}.static.k8s.io"), name, reinvocation))
        .collect();
    builder.files([file("m.yaml", &text)], ManifestPlugin::MutatingAdmissionPolicy)
}

/// With a static validating policy.
pub(crate) fn validating(builder: AdmissionBuilder, expression: &str) -> AdmissionBuilder {
    let text = validating_policy("v.static.k8s.io", expression);
    builder.files([file("v.yaml", &text)], ManifestPlugin::ValidatingAdmissionPolicy)
}
