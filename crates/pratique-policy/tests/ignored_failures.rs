//! Failures that failure policies ignore: the request is allowed, and an observer is told.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_policy::authz::{Answer, Authorizer, AuthorizerDecision, Check};
use pratique_policy::{
    EvalContext, FailedPart, IgnoredFailure, MutatingPolicies, ObservedDecision, Origin, Policies,
    PolicyObserver, mutate, validate,
};
use pratique_testkit::TestCluster;
use pratique_types::AdmissionRequest;
use serde_json::{Value as Json, json};

#[derive(Debug)]
struct Nobody;

impl Authorizer for Nobody {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Decided(AuthorizerDecision::default())
    }
}

/// Records what is ignored.
#[derive(Default)]
struct Recorder {
    ignored: Vec<IgnoredFailure>,
    decided: Vec<(Option<usize>, String)>,
}

impl PolicyObserver for Recorder {
    fn ignored(&mut self, failure: &IgnoredFailure) {
        self.ignored.push(failure.clone());
    }

    fn decided(&mut self, decision: &ObservedDecision<'_>) {
        self.decided
            .push((decision.validation, decision.message.to_owned()));
    }
}

/// The request for a Pod, and a cluster without ConfigMaps.
fn evaluate(evaluate: impl FnOnce(&AdmissionRequest<'_>, EvalContext<'_>, &mut Recorder)) -> Recorder {
    let request = json!({
        "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
        "namespace": "shop", "operation": "CREATE", "object": {"metadata": {"name": "web"}, "spec": {}},
    });
    let request = request.to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&request).unwrap();
    let cluster = TestCluster::new()
        .with_namespace(&json!({"metadata": {"name": "shop"}}))
        .with_params("ConfigMap", &[]);
    let mut recorder = Recorder::default();
    let context = EvalContext::new(&cluster, Arc::new(Nobody));
    evaluate(&request, context, &mut recorder);
    recorder
}

/// A policy `p` that ignores failures, with more fields, and a binding `b`, with more fields.
fn objects<P: serde::de::DeserializeOwned, B: serde::de::DeserializeOwned>(
    policy: Json,
    binding: Json,
) -> (P, B) {
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    let mut policy_spec = json!({
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}},
    });
    let mut binding_spec = json!({"policyName": "p"});
    for (spec, more) in [(&mut policy_spec, policy), (&mut binding_spec, binding)] {
        let members = more.as_object().unwrap().clone();
        spec.as_object_mut().unwrap().extend(members);
    }
    let object = |name: &str, spec: Json| json!({"metadata": {"name": name}, "spec": spec});
    let policy = serde_json::from_value(object("p", policy_spec)).unwrap();
    let binding = serde_json::from_value(object("b", binding_spec)).unwrap();
    (policy, binding)
}

fn validating(policy: Json, binding: Json) -> Recorder {
    let (policy, binding) = objects(policy, binding);
    let policies = Policies::compile([&policy], [&binding], Origin::Api, &Cache::new());
    evaluate(|request, context, recorder| {
        let outcome = validate(&[&policies], request, context, recorder).unwrap();
        assert!(outcome.status.is_none());
    })
}

fn mutating(policy: Json, binding: Json) -> Recorder {
    let (policy, binding) = objects(policy, binding);
    let policies = MutatingPolicies::compile([&policy], [&binding], Origin::Api, &Cache::new());
    evaluate(|request, context, recorder| {
        let outcome = mutate(&[&policies], request, &context, recorder).unwrap();
        assert!(outcome.allowed());
    })
}

#[track_caller]
fn check(recorder: &Recorder, part: FailedPart, error: &str) {
    let [failure] = recorder.ignored.as_slice() else {
        panic!("{:?}", recorder.ignored);
    };
    assert_eq!((&*failure.policy, failure.binding.as_deref()), ("p", Some("b")));
    assert_eq!((failure.part, &*failure.error), (part, error));
    assert!(recorder.decided.is_empty(), "{:?}", recorder.decided);
}

const NO_PARAM: &str =
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";

/// Fields of a policy, and those of its binding, with a param that is not there.
fn with_param(mut policy: Json) -> (Json, Json) {
    let members = policy.as_object_mut().unwrap();
    members.insert(
        "paramKind".to_owned(),
        json!({"apiVersion": "v1", "kind": "ConfigMap"}),
    );
    let param = json!({"name": "none", "namespace": "shop", "parameterNotFoundAction": "Deny"});
    (policy, json!({"paramRef": param, "validationActions": ["Deny"]}))
}

#[test]
fn validating_policies() {
    let actions = || json!({"validationActions": ["Deny", "Audit"]});
    let (policy, binding) = with_param(json!({"validations": [{"expression": "false"}]}));
    check(&validating(policy, binding), FailedPart::Configuration, NO_PARAM);
    let conditions =
        json!([{"name": "c", "expression": "object.x == 1"}, {"name": "d", "expression": "true"}]);
    let policy = json!({"matchConditions": conditions, "validations": [{"expression": "false"}]});
    let error = "expression 'object.x == 1' resulted in error: no such key: x";
    check(&validating(policy, actions()), FailedPart::Conditions, error);
    let annotations =
        json!([{"key": "a", "valueExpression": "'a'"}, {"key": "b", "valueExpression": "string(object.x)"}]);
    let policy = json!({"auditAnnotations": annotations, "validations": [{"expression": "true"}]});
    let error = "expression 'string(object.x)' resulted in error: no such key: x";
    check(&validating(policy, actions()), FailedPart::Annotation(1), error);
    // What excludes the policy by itself is no failure.
    let conditions =
        json!([{"name": "c", "expression": "object.x == 1"}, {"name": "d", "expression": "false"}]);
    let policy = json!({"matchConditions": conditions, "validations": [{"expression": "false"}]});
    assert_eq!(validating(policy, actions()).ignored, []);
    // A validation is decided on, with its error.
    let policy = json!({"validations": [{"expression": "true"}, {"expression": "object.x == 1"}]});
    let recorder = validating(policy, actions());
    assert_eq!(recorder.ignored, []);
    let error = "expression 'object.x == 1' resulted in error: no such key: x".to_owned();
    assert_eq!(recorder.decided, [(Some(1), error)]);
}

#[test]
fn mutating_policies() {
    let labels = r#"Object{metadata: Object.metadata{labels: {"a": "b"}}}"#;
    let mutations =
        json!([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": labels}}]);
    let policy = json!({"mutations": mutations, "reinvocationPolicy": "IfNeeded"});
    let (with_kind, binding) = with_param(policy.clone());
    let mut binding = binding;
    binding.as_object_mut().unwrap().remove("validationActions");
    check(&mutating(with_kind, binding), FailedPart::Configuration, NO_PARAM);
    let mut with_condition = policy;
    with_condition.as_object_mut().unwrap().insert(
        "matchConditions".to_owned(),
        json!([{"name": "c", "expression": "object.x == 1"}]),
    );
    let error = "expression 'object.x == 1' resulted in error: no such key: x";
    check(
        &mutating(with_condition, json!({})),
        FailedPart::Conditions,
        error,
    );
}
