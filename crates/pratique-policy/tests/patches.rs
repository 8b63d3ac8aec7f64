//! Patches of mutating policies are bounded, and end when the caller wants no decision any more.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique_cel::Interrupt;
use pratique_expression::Cache;
use pratique_policy::{EvalContext, MutatedRequest, MutatingPolicies, Origin, UnfinishedEvaluation, mutate};
use pratique_testkit::{NoOpinion, TestCluster};
use pratique_types::AdmissionRequest;
use serde_json::json;

/// A request to create a ClusterRole with a long annotation.
struct Request(String);

/// What a policy with one mutation made of it, and how long that took.
struct Ended {
    result: Result<MutatedRequest, UnfinishedEvaluation>,
    took: Duration,
    computed: Duration,
}

/// The time for which this thread computed, where the system tells; others may have had the processor meanwhile.
fn computed() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

impl Request {
    fn new(rules: &serde_json::Value) -> Self {
        let request = json!({
            "kind": {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole"},
            "resource": {"group": "rbac.authorization.k8s.io", "version": "v1", "resource": "clusterroles"},
            "operation": "CREATE", "name": "r", "userInfo": {"username": "ann"},
            "object": {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rules,
                "metadata": {"name": "r", "annotations": {"long": "x".repeat(100_000)}},
            },
        });
        Request(request.to_string())
    }

    fn mutated(&self, patch_type: &str, expression: &str, interrupt: &Interrupt) -> Ended {
        self.mutated_by(patch_type, expression, || interrupt.clone())
    }

    /// The interrupt is made when all else is.
    fn mutated_by(&self, patch_type: &str, expression: &str, interrupt: impl FnOnce() -> Interrupt) -> Ended {
        let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]});
        let patch = match patch_type {
            "JSONPatch" => "jsonPatch",
            _ => "applyConfiguration",
        };
        let policy = json!({"metadata": {"name": "p"}, "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}},
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": patch_type, patch: {"expression": expression}}],
        }});
        let policy = serde_json::from_value(policy).unwrap();
        let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p"}});
        let binding = serde_json::from_value(binding).unwrap();
        let policies = MutatingPolicies::compile([&policy], [&binding], Origin::Api, &Cache::new());
        let request: AdmissionRequest<'_> = serde_json::from_str(&self.0).unwrap();
        let cluster = TestCluster::new();
        let interrupt = interrupt();
        let context = EvalContext::new(&cluster, Arc::new(NoOpinion)).with_interrupt(&interrupt);
        let (began, computed_before) = (Instant::now(), computed());
        let result = mutate(&[&policies], &request, &context, &mut ());
        Ended {
            result,
            took: began.elapsed(),
            computed: computed().saturating_sub(computed_before),
        }
    }
}

fn mutated(
    patch_type: &str,
    expression: &str,
    interrupt: &Interrupt,
) -> Result<MutatedRequest, UnfinishedEvaluation> {
    Request::new(&json!([]))
        .mutated(patch_type, expression, interrupt)
        .result
}

const LONG: &str = "object.metadata.annotations.long";

#[test]
fn what_becomes_a_patch_is_bounded() {
    // Ten times ten times … a list of ten texts.
    let shared = (0..8).fold(LONG.to_owned(), |inner, at| {
        format!(
            "[{inner}].map(x{at}, [{}])[0]",
            vec![format!("x{at}"); 10].join(", ")
        )
    });
    let patch = format!("[JSONPatch{{op: 'test', path: '/metadata/name', value: {shared}}}]");
    let merge = format!("Object{{metadata: Object.metadata{{finalizers: {shared}}}}}");
    let expected =
        "policy 'p' with binding 'b' denied request: the expression gives more than 33554432 bytes";
    for (patch_type, expression) in [("JSONPatch", patch), ("ApplyConfiguration", merge)] {
        let mutated = mutated(patch_type, &expression, &Interrupt::never()).unwrap();
        assert_eq!(mutated.status.unwrap().message, expected, "{patch_type}");
    }
}

#[test]
fn patches_are_interrupted() {
    let interrupt = Interrupt::new();
    let patch = format!("[JSONPatch{{op: 'add', path: '/metadata/annotations/copy', value: {LONG}}}]");
    let merge = format!("Object{{metadata: Object.metadata{{annotations: {{'copy': {LONG}}}}}}}");
    let all = [("JSONPatch", patch), ("ApplyConfiguration", merge)];
    for (patch_type, expression) in &all {
        let mutated = mutated(patch_type, expression, &interrupt).unwrap();
        assert_eq!(mutated.status, None, "{patch_type}");
    }
    interrupt.set();
    for (patch_type, expression) in &all {
        let mutated = mutated(patch_type, expression, &interrupt);
        assert_eq!(
            mutated.map(drop),
            Err(UnfinishedEvaluation::Interrupted),
            "{patch_type}"
        );
    }
}

/// Whatever is done to a large object ends soon after the deadline, which lies within another operation each time.
#[test]
fn work_on_large_objects_is_interrupted() {
    let rule = json!({"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "watch"], "x": 1});
    let rules = serde_json::Value::Array(vec![rule; 10_000]);
    let annotate = "Object{metadata: Object.metadata{annotations: {'a': 'b'}}}";
    let label = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]";
    let copy = "[JSONPatch{op: 'add', path: '/rules', value: object.rules + object.rules}]";
    for (patch_type, expression) in [
        ("ApplyConfiguration", annotate),
        ("JSONPatch", label),
        ("JSONPatch", copy),
    ] {
        let request = Request::new(&rules);
        let whole = request.mutated(patch_type, expression, &Interrupt::never());
        let ended = whole.result.unwrap();
        assert_eq!(ended.status, None, "{expression}");
        for part in [1, 3, 5, 7] {
            let after = whole.took * part / 8;
            let interrupted =
                request.mutated_by(patch_type, expression, || Interrupt::at(Instant::now() + after));
            let late = interrupted.computed.saturating_sub(after);
            // A machine may be faster than it was a moment ago.
            if let Err(unfinished) = interrupted.result {
                assert_eq!(unfinished, UnfinishedEvaluation::Interrupted, "{expression}");
            }
            assert!(
                late < whole.computed / 2 + Duration::from_secs(1),
                "{expression}: {part} {late:?}"
            );
        }
    }
}
