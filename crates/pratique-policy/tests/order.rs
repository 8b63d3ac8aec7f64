//! The outcome of a request does not depend on the order in which policies and bindings were loaded.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop where it fails"
)]

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_json::Value;
use pratique_policy::{Attributes, EvalContext, MutatingPolicies, Origin, Policies, mutate, validate};
use pratique_schema::Release;
use pratique_testkit::{NoOpinion, TestCluster};
use pratique_types::AdmissionRequest;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

fn spec(more: Json) -> Json {
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["nodes"]});
    let mut spec =
        json!({"matchConstraints": {"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}}});
    let members = spec.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    spec
}

/// Four policies that append their names to a label, of which some come back, and two bindings each.
fn mutating() -> (Vec<Json>, Vec<Json>) {
    let policy = |name: &str| {
        let append = format!(
            "Object{{metadata: Object.metadata{{labels: {{'order': object.metadata.labels.order + '{name}'}}}}}}"
        );
        let spec = spec(json!({
            "reinvocationPolicy": if name < "c" { "IfNeeded" } else { "Never" },
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": append}}],
        }));
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let names = ["a", "b", "c", "d"];
    (names.map(policy).to_vec(), bindings(&names, json!({})))
}

/// Four policies that all deny, warn and note, and two bindings each.
fn validating() -> (Vec<Json>, Vec<Json>) {
    let policy = |name: &str| {
        let spec = spec(json!({
            "validations": [{"expression": "object.spec.nothing", "message": name}, {"expression": "false"}],
            "auditAnnotations": [{"key": "order", "valueExpression": "object.metadata.labels.order"}],
        }));
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let names = ["a", "b", "c", "d"];
    let actions = json!({"validationActions": ["Deny", "Audit"]});
    (names.map(policy).to_vec(), bindings(&names, actions))
}

fn bindings(names: &[&str], more: Json) -> Vec<Json> {
    let binding = |name: &str, number: u8| {
        let mut spec = json!({"policyName": name});
        let members = spec.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({"metadata": {"name": format!("{name}-{number}")}, "spec": spec})
    };
    let both = names.iter().flat_map(|name| [binding(name, 1), binding(name, 2)]);
    both.collect()
}

fn read<T: DeserializeOwned>(objects: Vec<Json>) -> Vec<T> {
    let objects = objects.into_iter();
    objects
        .map(|json| serde_json::from_value(json).unwrap())
        .collect()
}

/// The outcome of creating a Node, as one text.
fn outcome((policies, bindings): (Vec<Json>, Vec<Json>), validating: (Vec<Json>, Vec<Json>)) -> String {
    let cache = Cache::new();
    let mutating = MutatingPolicies::compile(&read(policies), &read(bindings), Origin::Static, &cache);
    let (policies, bindings) = validating;
    let validating = Policies::compile(&read(policies), &read(bindings), Origin::Static, &cache);
    let request = json!({
        "kind": {"version": "v1", "kind": "Node"}, "resource": {"version": "v1", "resource": "nodes"},
        "operation": "CREATE", "object": {"metadata": {"name": "n", "labels": {"order": ""}}},
    })
    .to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&request).unwrap();
    let cluster = TestCluster::new();
    let context = EvalContext::new(&cluster, Arc::new(NoOpinion));
    let mutated = mutate(&[&mutating], &request, &context, &mut ()).unwrap();
    let attributes = Attributes::mutated(
        Release::latest(),
        &request,
        mutated.object.as_ref().expect("it changes"),
    );
    let verdict = validate(&[&validating], attributes, context, &mut ()).unwrap();
    let order = attributes
        .object
        .at(&["metadata", "labels", "order"])
        .and_then(Value::as_str);
    assert_eq!(order, Some("aabbccddaabb"), "{mutated:?}");
    format!("{mutated:?} {verdict:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn order_does_not_matter(
        policies in Just(mutating().0).prop_shuffle(),
        bindings in Just(mutating().1).prop_shuffle(),
        validating_policies in Just(validating().0).prop_shuffle(),
        bound in Just(validating().1).prop_shuffle(),
    ) {
        prop_assert_eq!(outcome((policies, bindings), (validating_policies, bound)), outcome(mutating(), validating()));
    }
}
