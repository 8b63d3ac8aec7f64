//! Sharing results between policies changes nothing: neither decisions, nor messages, nor where budgets end.
//!
//! Nothing is shared while a trace is attached, so that each case is evaluated with and without one, and by several
//! threads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop where it fails"
)]

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use pratique_cel::value::Evaluation;
use pratique_expression::Cache;
use pratique_policy::{
    EvalContext, ExpressionId, Origin, Policies, PolicyTrace, UnfinishedEvaluation, ValidationOutcome,
    Workers, validate,
};
use pratique_testkit::{CountingExecutor, NoOpinion, TestCluster};
use pratique_types::AdmissionRequest;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A cluster with a namespace and two ConfigMaps in it.
fn cluster() -> TestCluster {
    let param = |name: &str| json!({"metadata": {"name": name, "namespace": "shop"}, "data": {"name": name}});
    TestCluster::new()
        .with_namespace(
            &json!({"metadata": {"name": "shop", "labels": {"team": "red"}, "managedFields": []}}),
        )
        .with_params("ConfigMap", &[param("few"), param("many")])
}

/// Records the cost of each expression.
#[derive(Default)]
struct Costs(RefCell<Vec<u64>>);

impl PolicyTrace for Costs {
    fn end(&self, _: &Evaluation<'_>, cost: u64) {
        self.0.borrow_mut().push(cost);
    }

    fn begin(&self, _: ExpressionId<&str>, _: &str) {}
}

/// A policy of that name for Pods, with a binding for each param that it has or else one; `spec` is the rest of it.
fn policy(name: &str, spec: Json) -> (Json, Vec<Json>) {
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    let constraints = json!({"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}});
    let mut whole = json!({"matchConstraints": constraints});
    whole
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    let bind = |suffix: &str, param: Option<&str>| {
        let mut binding = json!({"policyName": name, "validationActions": ["Warn", "Audit"]});
        if let Some(param) = param {
            binding.as_object_mut().unwrap().insert(
                "paramRef".into(),
                json!({"name": param, "parameterNotFoundAction": "Deny"}),
            );
        }
        json!({"metadata": {"name": format!("{name}-{suffix}")}, "spec": binding})
    };
    let bindings = match spec.get("paramKind") {
        Some(_) => vec![
            bind("few", Some("few")),
            bind("many", Some("many")),
            bind("same", Some("many")),
        ],
        None => vec![bind("one", None), bind("other", None)],
    };
    (json!({"metadata": {"name": name}, "spec": whole}), bindings)
}

/// What an evaluation is done with.
#[derive(Clone, Copy)]
enum With<'t> {
    Nothing,
    Trace(&'t dyn PolicyTrace),
    Workers(&'t dyn Workers),
}

/// Several threads, for as little as can be.
fn executor() -> CountingExecutor {
    CountingExecutor::new(Duration::from_micros(1))
}

fn evaluated(
    policies: &[(Json, Vec<Json>)],
    with: With<'_>,
) -> Result<ValidationOutcome, UnfinishedEvaluation> {
    let read: Vec<_> = policies
        .iter()
        .map(|(policy, _)| serde_json::from_value(policy.clone()).unwrap())
        .collect();
    let bindings = policies.iter().flat_map(|(_, bindings)| bindings);
    let bindings: Vec<_> = bindings
        .map(|binding| serde_json::from_value(binding.clone()).unwrap())
        .collect();
    // The same expressions are in both sets.
    let (first, second) = read.split_at(read.len() / 2);
    let cache = Cache::new();
    let first = Policies::compile(first, &bindings, Origin::Static, &cache);
    let second = Policies::compile(second, &bindings, Origin::Api, &cache);
    let containers: Vec<_> = (0..48)
        .map(|at| json!({"name": format!("c{at}"), "image": "i"}))
        .collect();
    let request = json!({
        "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
        "namespace": "shop", "operation": "CREATE", "userInfo": {"username": "ann"},
        "object": {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {"containers": containers}},
    });
    let text = request.to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
    let cluster = cluster();
    let context = EvalContext::new(&cluster, Arc::new(NoOpinion));
    let context = match with {
        With::Nothing => context,
        With::Trace(trace) => context.with_trace(trace),
        With::Workers(workers) => context.with_workers(workers),
    };
    validate(&[&first, &second], &request, context, &mut ())
}

/// Checks that what is shared changes nothing; gives what came of it.
#[track_caller]
fn check(policies: &[(Json, Vec<Json>)]) -> ValidationOutcome {
    let shared = evaluated(policies, With::Nothing).unwrap();
    let alone = evaluated(policies, With::Trace(&Costs::default())).unwrap();
    assert_eq!(shared, alone);
    let parallel = evaluated(policies, With::Workers(&executor())).unwrap();
    assert_eq!(shared, parallel);
    shared
}

/// Costs most of what one evaluation may.
const DEAR: &str = "object.spec.containers.all(a, object.spec.containers.all(b, object.spec.containers.all(c, a.name != 'x' || b.name != c.name)))";

fn validations(expressions: &[&str]) -> Json {
    let all = expressions.iter().map(|text| json!({"expression": text}));
    json!({"validations": all.collect::<Vec<_>>()})
}

#[test]
fn work_is_given_to_others() {
    let many: Vec<_> = (0..4)
        .map(|at| {
            policy(
                &format!("p{at}"),
                validations(&[&format!("object.metadata.name != 'web-{at}'")]),
            )
        })
        .chain([policy("no", validations(&["object.metadata.name != 'web'"]))])
        .collect();
    let executor = executor();
    let verdict = evaluated(&many, With::Workers(&executor)).unwrap();
    assert_eq!(verdict.warnings.len(), 2);
    assert!(executor.asked() > 0);
}

#[test]
fn what_is_known_costs_what_it_did() {
    let costs = Costs::default();
    evaluated(&[policy("p", validations(&[DEAR]))], With::Trace(&costs)).unwrap();
    let cost = costs.0.borrow().first().copied().unwrap();
    assert!((500_000..1_000_000).contains(&cost), "{cost}");
    // The match conditions of a policy have a quarter of the budget of validations.
    let fits = 2_500_000 / cost;
    let of = |name: &str, count: u64| {
        let condition = |at| json!({"name": format!("c{at}"), "expression": DEAR});
        let mut spec = validations(&["true"]);
        let conditions = (0..count).map(condition).collect();
        spec.as_object_mut()
            .unwrap()
            .insert("matchConditions".into(), conditions);
        policy(name, spec)
    };
    for (count, failures) in [(fits, 0), (fits + 1, 2)] {
        let verdict = check(&[of("p", 1), of("q", count), of("r", 1)]);
        assert_eq!(verdict.warnings.len(), failures, "{:?}", verdict.warnings);
        assert!(
            verdict
                .warnings
                .iter()
                .all(|text| text.contains("'q'") && text.contains("cost budget"))
        );
    }
}

#[test]
fn variables_are_paid_for_by_each_policy() {
    let of = |count: usize| {
        let mut spec = validations(&vec!["variables.dear && variables.both"; count]);
        let variables = json!([
            {"name": "dear", "expression": DEAR},
            {"name": "both", "expression": format!("variables.dear || {DEAR}")},
        ]);
        spec.as_object_mut()
            .unwrap()
            .insert("variables".into(), variables);
        spec
    };
    check(&[policy("p", of(1)), policy("q", of(2))]);
    // The match conditions of a policy have a quarter of the budget, which the variables take up in each policy.
    let conditions = |name: &str| {
        let variables = (0..4).map(|at| json!({"name": format!("v{at}"), "expression": DEAR}));
        let spec = json!({
            "variables": variables.collect::<Vec<_>>(),
            "matchConditions": [{"name": "c", "expression": "variables.v0 && variables.v1 && variables.v2 && variables.v3"}],
            "validations": [{"expression": "true"}],
        });
        policy(name, spec)
    };
    let verdict = check(&[conditions("p"), conditions("q")]);
    assert_eq!(verdict.warnings.len(), 4, "{:?}", verdict.warnings);
}

#[test]
fn equal_names_with_different_definitions_are_not_mixed() {
    let of = |name: &str, low: &str, high: &str| {
        let spec = json!({
            "variables": [{"name": "low", "expression": low}, {"name": "high", "expression": high}],
            "validations": [{"expression": "variables.high == 2", "messageExpression": "'is ' + string(variables.high)"}],
        });
        policy(name, spec)
    };
    let verdict = check(&[
        of("p", "1", "variables.low + 1"),
        of("q", "5", "variables.low + 1"),
        of("r", "5", "variables.low + 1"),
        of("s", "1", "variables.low + 2"),
        of("t", "size(object.spec.none)", "variables.low + 1"),
    ]);
    let said = |name: &str| {
        let warning = verdict
            .warnings
            .iter()
            .find(|text| text.contains(&format!("'{name}'")));
        warning.map(|text| text.rsplit(": ").next().unwrap().to_owned())
    };
    assert_eq!(
        ["p", "q", "r", "s", "t"].map(said),
        [
            None,
            Some("is 6".to_owned()),
            Some("is 6".to_owned()),
            Some("is 3".to_owned()),
            Some("none".to_owned()),
        ]
    );
}

const VALUES: [&str; 9] = [
    "1",
    "object.spec.containers.size()",
    "object.metadata.labels.map(l, l)",
    "object.spec.none",
    "namespaceObject.metadata.labels.team",
    "request.userInfo.username",
    "has(variables.a) ? variables.a : 'none'",
    "variables.a",
    "[variables.a, variables.b]",
];

const TESTS: [&str; 12] = [
    "object.metadata.name != 'web'",
    "object.spec.containers.all(c, c.image == 'i')",
    "object.spec.none == 1",
    "variables.a == 1",
    "has(variables.b) && variables.b == 'red'",
    "object.metadata.name == 'web' || variables.c == 2",
    "variables.a == 1 ? variables.b == 1 : variables.c == 1",
    "variables.size() == 0",
    "dyn(variables) == 1",
    "variables['c'] == 48",
    "namespaceObject == null",
    "request.name == 'web'",
];

/// Selectors of bindings: one that selects the namespace, one that does not, and one that is none.
fn selectors() -> [Json; 3] {
    [
        json!({"matchLabels": {"team": "red"}}),
        json!({"matchLabels": {"team": "blue"}}),
        json!({"matchExpressions": [{"key": "team", "operator": "Near", "values": ["red"]}]}),
    ]
}

/// A policy whose bindings may have selectors.
fn any_bound_policy() -> impl Strategy<Value = (Json, Vec<Option<usize>>)> {
    let selectors = proptest::collection::vec(proptest::option::weighted(0.3, 0..3_usize), 0..4);
    (any_policy(), selectors)
}

/// Gives bindings their selectors; those for which there is none are left out.
fn bound((policy, bindings): (Json, Vec<Json>), chosen: &[Option<usize>]) -> (Json, Vec<Json>) {
    let bindings = bindings.into_iter().zip(chosen).map(|(mut binding, chosen)| {
        if let Some(chosen) = chosen {
            let selector = selectors().get(*chosen).unwrap().clone();
            let resources = json!({"namespaceSelector": selector, "objectSelector": {}});
            let spec = binding.get_mut("spec").and_then(Json::as_object_mut).unwrap();
            spec.insert("matchResources".into(), resources);
        }
        binding
    });
    (policy, bindings.collect())
}

fn any_policy() -> impl Strategy<Value = Json> {
    let variables = proptest::collection::vec(0..VALUES.len(), 0..4);
    let tests = proptest::collection::vec(0..TESTS.len(), 1..5);
    let conditions = proptest::collection::vec(0..TESTS.len(), 0..2);
    let messages = proptest::collection::vec(0..TESTS.len(), 0..2);
    (
        variables,
        tests,
        conditions,
        messages,
        any::<bool>(),
        proptest::bool::weighted(0.3),
        proptest::bool::weighted(0.3),
    )
        .prop_map(
            |(variables, tests, conditions, messages, ignores, params, annotated)| {
                let test = |at: &usize| *TESTS.get(*at).unwrap();
                let variables = variables.iter().zip(["a", "b", "c"]);
                let variables =
                    variables.map(|(at, name)| json!({"name": name, "expression": VALUES.get(*at).unwrap()}));
                let validations = tests.iter().enumerate().map(|(at, of)| {
                    let message = messages.get(at).map(|of| format!("string({})", test(of)));
                    json!({"expression": test(of), "messageExpression": message})
                });
                let mut validations: Vec<_> = validations.collect();
                if params {
                    validations.push(json!({"expression": "params.data.name == 'few'"}));
                }
                let conditions = conditions.iter().enumerate();
                let conditions =
                    conditions.map(|(at, of)| json!({"name": format!("c{at}"), "expression": test(of)}));
                let annotations = messages.iter().filter(|_| annotated).enumerate().map(|(at, of)| {
                json!({"key": format!("k{at}"), "valueExpression": format!("string({})", test(of))})
            });
                let mut spec = json!({
                    "failurePolicy": if ignores { "Ignore" } else { "Fail" },
                    "variables": variables.collect::<Vec<_>>(),
                    "matchConditions": conditions.collect::<Vec<_>>(),
                    "validations": validations,
                    "auditAnnotations": annotations.collect::<Vec<_>>(),
                });
                if params {
                    let kind = json!({"apiVersion": "v1", "kind": "ConfigMap"});
                    spec.as_object_mut().unwrap().insert("paramKind".into(), kind);
                }
                spec
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn policies_decide_together_as_they_do_apart(specs in proptest::collection::vec(any_bound_policy(), 1..8)) {
        let policies: Vec<_> = specs
            .into_iter()
            .enumerate()
            .map(|(at, (spec, chosen))| bound(policy(&format!("p{at}"), spec), &chosen))
            .collect();
        let shared = evaluated(&policies, With::Nothing).unwrap();
        prop_assert_eq!(&shared, &evaluated(&policies, With::Trace(&Costs::default())).unwrap());
        prop_assert_eq!(&shared, &evaluated(&policies, With::Workers(&executor())).unwrap());
        let apart = policies.iter().flat_map(|policy| evaluated(std::slice::from_ref(policy), With::Nothing).unwrap().warnings);
        prop_assert_eq!(shared.warnings, apart.collect::<Vec<_>>());
    }
}
