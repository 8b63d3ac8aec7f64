//! A Pod through the whole chain: after each plugin it is what kube-apiserver 1.36.3 makes of it, which
//! `testdata/admission/chain.json` has.

use std::collections::BTreeMap;

use pratique::FeatureGates;
use pratique::api_objects::ApiObjects;
use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::observer::{AdmissionPhase, ChainObserver, ChainStep};
use pratique::plugins::{PluginFactory, PluginSettings, StateObjects, default_plugins};
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionContext, Attributes, Objects, PluginChain, PluginInputs};
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use serde_json::{Value, json};

use crate::world::{NoDecider, run};

const MUTATING: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: [pods]}]
  reinvocationPolicy: IfNeeded
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'team': 'till'}}}"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team.static.k8s.io}
spec: {policyName: team.static.k8s.io}
"#;

/// Sees what plugins, the mutating policy and preparation made of the Pod.
const VALIDATING: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: whole.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: [pods]}]
  validations:
  - expression: >-
      object.metadata.labels.team == 'till' && object.metadata.generation == 1 && object.spec.priority == 1000 &&
      object.status.qosClass == 'Burstable' && object.spec.nodeSelector.runtime == 'sandbox'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: whole.static.k8s.io}
spec: {policyName: whole.static.k8s.io, validationActions: [Deny]}
"#;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/admission/chain.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The plugins that an API server runs by default.
fn plugins() -> PluginChain {
    let gates = FeatureGates::default();
    let make = |name: &str| {
        let others: [&'static PluginFactory; 2] = [&pratique_pod_security::FACTORY, &pratique_quota::FACTORY];
        let found = others.into_iter().find(|factory| factory.handler.name == name);
        let factory = found.or_else(|| pratique_plugins::factory(name)).unwrap();
        factory.start(&PluginSettings::new(gates)).unwrap()
    };
    PluginChain::new(default_plugins().map(make).collect())
}

fn value(json: &Value) -> pratique_json::Value<'static> {
    pratique_json::parse(json.to_string().as_bytes())
        .unwrap()
        .into_owned()
}

/// The object after each mutating step that changed it, and as it is stored, and the order of all steps.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    objects: BTreeMap<String, Value>,
    stored: Value,
    order: Vec<String>,
}

impl ChainObserver for Seen {
    fn step(&mut self, step: &ChainStep<'_>) {
        if step.phase == AdmissionPhase::Mutating && !step.is_reinvoked {
            let object = Value::from(step.attributes.object);
            self.objects.insert(step.name.to_owned(), object);
        }
        let round = if step.is_reinvoked { "again " } else { "" };
        self.order.push(format!("{round}{}", step.name));
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        self.stored = Value::from(attributes.object);
    }
}

#[test]
fn a_pod_is_after_each_step_what_a_server_makes_of_it() {
    let golden = golden();
    let policies = |content: &str| ManifestFile {
        path: "policies.yaml".into(),
        content: content.into(),
    };
    let admission = Admission::builder()
        .plugins(plugins())
        .files([policies(MUTATING)], ManifestPlugin::MutatingAdmissionPolicy)
        .files([policies(VALIDATING)], ManifestPlugin::ValidatingAdmissionPolicy)
        .build()
        .unwrap();
    let mut state = StateObjects::whole();
    let mut cluster = Objects::new();
    for object in golden["state"].as_array().unwrap() {
        state.insert(value(object)).unwrap();
        cluster.insert(value(object)).unwrap();
    }
    let text = golden["request"].to_string();
    let mut request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
    let mut given_request = request.clone();
    let objects = ApiObjects::default();
    let received = objects.receive(&mut request).unwrap();
    assert_eq!(Value::from(&request.object), golden["defaulted"]);

    let mut seen = Seen::default();
    let context = AdmissionContext::new(&cluster)
        .with_decider(&NoDecider)
        .with_object_model(&received)
        .with_plugins(PluginInputs::new(&state));
    let outcome = run(admission.admit(&request, context, &mut seen)).unwrap();
    for step in golden["steps"].as_array().unwrap() {
        let plugin = step["plugin"].as_str().unwrap();
        assert_eq!(seen.objects[plugin], step["object"], "after {plugin}");
    }
    // The second round, which the policy brings about, changes nothing more.
    let mut expected = golden["object"].clone();
    expected["metadata"]["labels"] = json!({"team": "till"});
    assert_eq!(Value::from(&outcome.object.clone().unwrap()), expected);
    assert!(outcome.allowed(), "{:?}", outcome.status);

    let place = |name: &str| seen.order.iter().position(|step| step == name).unwrap();
    let order = [
        "NamespaceLifecycle",
        "LimitRanger",
        "ServiceAccount",
        "Priority",
        "DefaultTolerationSeconds",
        "RuntimeClass",
        "MutatingAdmissionPolicy",
        "again LimitRanger",
        "again MutatingAdmissionPolicy",
        "preparation",
        "PodSecurity",
        "ValidatingAdmissionPolicy",
        "ResourceQuota",
    ];
    assert!(order.map(place).is_sorted(), "{:?}", seen.order);
    assert_eq!(place("ResourceQuota"), seen.order.len() - 1);

    let [booked] = outcome.booked.as_slice() else {
        panic!("{:?}", outcome.booked)
    };
    let used = Value::from(booked.status.get("used").unwrap());
    assert_eq!(used, golden["booked"][0]["used"]);
    assert_eq!(json!(outcome.audit_annotations), golden["auditAnnotations"]);

    // A request that is given away, with an object that is known to have its form, comes to the same.
    let written = golden["request"]["object"].to_string();
    let codec = ObjectCodec::with_placeholder("2000-01-01T00:00:00Z");
    let (json, strict) = (MediaType::Json, FieldValidation::Strict);
    let decoded = codec.decode(written.as_bytes(), json, &given_request.kind, strict);
    let decoded = decoded.unwrap();
    (given_request.object, given_request.form) = (decoded.value, decoded.form);
    let received = objects.receive(&mut given_request).unwrap();
    let context = AdmissionContext::new(&cluster)
        .with_decider(&NoDecider)
        .with_object_model(&received)
        .with_plugins(PluginInputs::new(&state));
    let mut seen_again = Seen::default();
    let given_outcome = run(admission.admit_owned(given_request, context, &mut seen_again)).unwrap();
    assert_eq!(seen_again, seen);
    let mut without_objects = outcome;
    (without_objects.object, without_objects.prepared) = (None, None);
    assert_eq!(given_outcome, without_objects);
}
