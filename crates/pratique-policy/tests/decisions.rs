//! Decisions of policies on requests: statuses, warnings and audit annotations.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_policy::authz::{Answer, Authorizer, AuthorizerDecision, Check, Target};
use pratique_policy::{
    Conditions, DenialCause, EvalContext, MutatingPolicies, Origin, Policies, PolicyObserver,
    UnfinishedEvaluation, ValidationOutcome,
};
use pratique_policy::{mutate, settle_request, validate};
use pratique_schema::Release;
use pratique_testkit::TestCluster;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};
use serde_json::{Value as Json, json};

/// A cluster with one namespace and two ConfigMaps in it, and a kind of params that is not listed yet.
fn cluster() -> TestCluster {
    let param = |name: &str, max: u8| {
        let metadata = json!({"name": name, "namespace": "shop", "labels": {"use": "limits"}});
        json!({"metadata": metadata, "data": {"max": max.to_string()}})
    };
    TestCluster::new()
        .with_resource(
            GroupVersionResource::new("extensions", "v1beta1", "deployments"),
            GroupVersionKind::new("extensions", "v1beta1", "Deployment"),
        )
        .with_namespace(&json!({"metadata": {"name": "shop", "labels": {"team": "red"}}}))
        .with_params("ConfigMap", &[param("few", 1), param("many", 9)])
        .with_params_not_synced("Unlisted")
}

/// Allows Ann to get everything, and has to ask elsewhere about Bob.
#[derive(Debug)]
struct Gate;

impl Authorizer for Gate {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let asked = matches!(check.target, Target::Resource(_)) && check.verb == "get";
        match check.user.name.as_str() {
            "bob" => Answer::Pending,
            name => Answer::Decided(AuthorizerDecision {
                allowed: asked && name == "ann",
                ..AuthorizerDecision::default()
            }),
        }
    }
}

/// Puts the creation of a Pod before a policy `p` with a binding `b`, of the API, both changed as the test wants.
fn evaluate(policy: Json, binding: Json, request: Json) -> Result<ValidationOutcome, UnfinishedEvaluation> {
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    let constraints = json!({"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}});
    let policy = merged(json!({"matchConstraints": constraints}), policy);
    let binding = merged(json!({"policyName": "p", "validationActions": ["Deny"]}), binding);
    let policy = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": policy})).unwrap();
    let binding = serde_json::from_value(json!({"metadata": {"name": "b"}, "spec": binding})).unwrap();
    let policies = Policies::compile([&policy], [&binding], Origin::Api, &Cache::new());
    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "a"}, {"name": "b"}]}});
    let request = merged(
        json!({
            "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "namespace": "shop", "operation": "CREATE", "userInfo": {"username": "ann"}, "object": pod,
        }),
        request,
    )
    .to_string();
    let mut request: AdmissionRequest<'_> = serde_json::from_str(&request).unwrap();
    let cluster = cluster();
    let evaluate = |request: &AdmissionRequest<'_>| {
        let context = EvalContext::new(&cluster, Arc::new(Gate));
        validate(&[&policies], request, context, &mut ())
    };
    let verdict = evaluate(&request);
    // Objects that have their form already lead to the same decision.
    settle_request(Release::latest(), &mut request);
    assert_eq!(format!("{:?}", evaluate(&request)), format!("{verdict:?}"));
    verdict
}

fn merged(mut base: Json, over: Json) -> Json {
    let base_members = base.as_object_mut().unwrap();
    base_members.extend(over.as_object().unwrap().clone());
    base
}

/// Checks the message of a denial, after what all have in common; `""` for an allowed request.
#[track_caller]
fn check(policy: Json, expected: &str) {
    check_bound(policy, json!({}), expected);
}

#[track_caller]
fn check_bound(policy: Json, binding: Json, expected: &str) {
    let verdict = evaluate(policy, binding, json!({})).unwrap();
    let message = verdict.status.map(|status| status.message).unwrap_or_default();
    let start = "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";
    assert_eq!(message.strip_prefix(start).unwrap_or(&message), expected);
}

#[test]
fn messages() {
    let validation = |more: Json| json!({"validations": [merged(json!({"expression": "false"}), more)]});
    check(validation(json!({})), "failed expression: false");
    check(validation(json!({"message": " no\t"})), "no");
    check(
        validation(json!({"message": "no", "messageExpression": "'not ' + object.metadata.name"})),
        "not web",
    );
    check(
        validation(json!({"message": "no", "messageExpression": "'a\\nb'"})),
        "no",
    );
    check(
        validation(json!({"message": "no", "messageExpression": "object.nothing"})),
        "no",
    );
    check(
        validation(json!({"message": "no", "messageExpression": "1"})),
        "no",
    );
    check(json!({"validations": [{"expression": "true"}]}), "");
}

#[test]
fn reasons_and_codes() {
    for (reason, code) in [
        (json!(null), 422),
        (json!("Forbidden"), 403),
        (json!("RequestEntityTooLarge"), 413),
    ] {
        let policy = json!({"validations": [{"expression": "false", "reason": reason}]});
        let status = evaluate(policy, json!({}), json!({})).unwrap().status.unwrap();
        assert_eq!(status.code, code);
        assert_eq!(status.reason, reason.as_str().unwrap_or("Invalid"));
        let details = status.details.unwrap();
        assert_eq!((details.name.as_str(), details.kind.as_str()), ("web", "pods"));
        assert_eq!(details.causes.len(), 1);
    }
}

#[test]
fn errors_and_failure_policies() {
    let policy = |failure: &str, expression: &str| json!({"failurePolicy": failure, "validations": [{"expression": expression}]});
    check(
        policy("Fail", "object.nothing"),
        "compilation error: must evaluate to bool but got dyn",
    );
    check(
        policy("Fail", "object.nothing == 1"),
        "expression 'object.nothing == 1' resulted in error: no such key: nothing",
    );
    check(policy("Ignore", "object.nothing == 1"), "");
    check(policy("Ignore", "false"), "failed expression: false");
}

#[test]
fn variables_are_lazy_and_remembered() {
    let policy = |variables: Json, expression: &str| json!({"variables": variables, "validations": [{"expression": expression}]});
    let names = json!([
        {"name": "names", "expression": "object.spec.containers.map(c, c.name)"},
        {"name": "first", "expression": "variables.names[0]"},
        {"name": "bad", "expression": "object.nothing"},
    ]);
    check(
        policy(
            names.clone(),
            "variables.first == 'a' && variables.names.size() == 2",
        ),
        "",
    );
    check(
        policy(names.clone(), "variables.first == 'a' || variables.bad == 1"),
        "",
    );
    check(
        policy(names, "variables.bad == 1"),
        "expression 'variables.bad == 1' resulted in error: composited variable \"bad\" fails to evaluate: no such \
         key: nothing",
    );
    let itself = json!([{"name": "x", "expression": "1"}, {"name": "x", "expression": "variables.x + 1"}]);
    check(
        policy(itself, "variables.x == 2"),
        "expression 'variables.x == 2' resulted in error: composited variable \"x\" fails to evaluate: composited \
         variable \"x\" fails to evaluate: it refers to itself",
    );
}

#[test]
fn match_conditions() {
    let policy = |conditions: &[&str], failure: &str| {
        let conditions = conditions
            .iter()
            .map(|text| json!({"name": "c", "expression": text}));
        let conditions: Vec<Json> = conditions.collect();
        json!({"matchConditions": conditions, "failurePolicy": failure, "validations": [{"expression": "false"}]})
    };
    check(policy(&["false"], "Fail"), "");
    check(policy(&["object.x == 1", "false"], "Fail"), "");
    check(
        policy(&["true", "namespaceObject == null"], "Fail"),
        "failed expression: false",
    );
    let error = "expression 'object.x == 1' resulted in error: no such key: x";
    check(policy(&["object.x == 1", "object.x == 1"], "Fail"), error);
    check(policy(&["object.x == 1"], "Ignore"), "");
}

/// Counts the evaluations of match conditions, and how many conditions failed.
#[derive(Default)]
struct Counter(Vec<usize>);

impl PolicyObserver for Counter {
    fn conditions(&mut self, conditions: &Conditions<'_>) {
        assert_eq!(
            (conditions.policy, conditions.operation),
            ("p", Operation::Create)
        );
        self.0.push(conditions.errors);
    }
}

#[test]
fn match_conditions_are_counted() {
    #[track_caller]
    fn check(conditions: &[&str], bindings: usize, expected: &[usize]) {
        let conditions: Vec<Json> = conditions
            .iter()
            .map(|text| json!({"name": "c", "expression": text}))
            .collect();
        let rule =
            json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
        let policy = json!({"metadata": {"name": "p"}, "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": {}, "objectSelector": {}}, "matchConditions": conditions, "failurePolicy": "Ignore",
            "validations": [{"expression": "object.metadata.name == 'web'"}]}});
        let policy = serde_json::from_value(policy).unwrap();
        let bindings: Vec<_> = (0..bindings)
            .map(|at| json!({"metadata": {"name": format!("b{at}")}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}))
            .map(|binding| serde_json::from_value(binding).unwrap())
            .collect();
        let policies = Policies::compile([&policy], &bindings, Origin::Api, &Cache::new());
        let request = json!({
            "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "namespace": "shop", "operation": "CREATE", "object": {"metadata": {"name": "web"}},
        })
        .to_string();
        let request: AdmissionRequest<'_> = serde_json::from_str(&request).unwrap();
        let (cluster, mut counter) = (cluster(), Counter::default());
        let context = EvalContext::new(&cluster, Arc::new(Gate));
        validate(&[&policies], &request, context, &mut counter).unwrap();
        assert_eq!(counter.0, expected, "{conditions:?}");
    }
    check(&[], 1, &[]);
    check(&["true"], 0, &[]);
    check(&["true"], 1, &[0]);
    check(&["true", "object.metadata.name != 'web'"], 2, &[0, 0]);
    check(&["object.x == 1", "object.x == 1"], 1, &[2]);
    // Those after one that is false do not count.
    check(&["object.x == 1", "false", "object.y == 1"], 1, &[1]);
}

#[test]
fn unlisted_params_are_reported() {
    let policy = |failure: &str| {
        json!({
            "failurePolicy": failure,
            "paramKind": {"apiVersion": "rules.example.com/v1", "kind": "Unlisted"},
            "validations": [{"expression": "true"}],
        })
    };
    let binding = || json!({"paramRef": {"name": "few", "parameterNotFoundAction": "Allow"}});
    check_bound(
        policy("Fail"),
        binding(),
        "failed to configure binding: paramKind kind `&ParamKind{APIVersion:rules.example.com/v1,Kind:Unlisted,}` not \
         yet synced to use for admission",
    );
    check_bound(policy("Ignore"), binding(), "");
    check_bound(policy("Fail"), json!({}), "");
}

#[test]
fn what_expressions_see() {
    for expression in [
        "object.kind == 'Pod' && object.apiVersion == 'v1' && has(object.status) && oldObject == null",
        "namespaceObject.metadata.labels.team == 'red' && !has(namespaceObject.metadata.generateName)",
        "request.kind.kind == 'Pod' && request.operation == 'CREATE' && !has(request.subResource) && !request.dryRun",
        "request.name == 'web' && request.userInfo.username == 'ann' && request.resource.group == ''",
        "authorizer.requestResource.check('get').allowed()",
        "!authorizer.group('').resource('pods').check('list').allowed()",
    ] {
        check(json!({"validations": [{"expression": expression}]}), "");
    }
}

#[test]
fn actions() {
    let policy =
        || json!({"validations": [{"expression": "true"}, {"expression": "false", "message": "a <b>"}]});
    let verdict = evaluate(
        policy(),
        json!({"validationActions": ["Warn", "Audit"]}),
        json!({}),
    )
    .unwrap();
    assert!(verdict.allowed());
    assert_eq!(
        verdict.warnings,
        ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': a <b>"]
    );
    assert_eq!(
        verdict.audit_annotations["validation.policy.admission.k8s.io/validation_failure"],
        r#"[{"message":"a \u003cb\u003e","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Warn","Audit"]}]"#
    );
}

#[test]
fn audit_annotations() {
    let policy = |value: &str| json!({"auditAnnotations": [{"key": "name", "valueExpression": value}]});
    let published = |value: &str| {
        evaluate(policy(value), json!({}), json!({}))
            .unwrap()
            .audit_annotations
    };
    assert_eq!(published("' ' + object.metadata.name")["p/name"], "web");
    assert!(published("null").is_empty());
    assert!(published("' '").is_empty());
    check(
        policy("string(authorizer.requestResource.check('get').allowed())"),
        "expression 'string(authorizer.requestResource.check('get').allowed())' resulted in error: no such \
         attribute(s): authorizer.requestResource",
    );
}

#[test]
fn params() {
    let policy = || {
        json!({
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "params == null || object.spec.containers.size() <= int(params.data.max)",
                "messageExpression": "'more than ' + params.data.max"}],
        })
    };
    let by =
        |reference: Json| json!({"paramRef": merged(json!({"parameterNotFoundAction": "Deny"}), reference)});
    check_bound(policy(), json!({}), "");
    check_bound(policy(), by(json!({"name": "few"})), "more than 1");
    check_bound(policy(), by(json!({"name": "many"})), "");
    check_bound(
        policy(),
        by(json!({"selector": {"matchLabels": {"use": "limits"}}})),
        "more than 1",
    );
    let missing =
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
    check_bound(policy(), by(json!({"name": "none"})), missing);
    check_bound(
        policy(),
        by(json!({"name": "few", "namespace": "other"})),
        missing,
    );
    check_bound(
        policy(),
        json!({"paramRef": {"name": "none", "parameterNotFoundAction": "Allow"}}),
        "",
    );
}

#[test]
fn a_budget_is_spent() {
    // A check costs 350,000: one evaluation can afford two of them, a policy 28.
    let check_once = "authorizer.requestResource.check('get').allowed()";
    let twice = format!("{check_once} && {check_once}");
    let thrice = format!("{twice} && {check_once}");
    let error =
        format!("expression '{thrice}' resulted in error: operation cancelled: actual cost limit exceeded");
    check(json!({"validations": [{"expression": thrice}]}), &error);
    check(json!({"validations": vec![json!({"expression": twice}); 14]}), "");
    let many = vec![json!({"expression": twice}); 15];
    check(
        json!({"validations": many}),
        "validation failed due to running out of cost budget, no further validation rules will be run",
    );
}

#[test]
fn a_pending_check_ends_the_call() {
    let policy =
        json!({"validations": [{"expression": "authorizer.requestResource.check('get').allowed()"}]});
    let bob = json!({"userInfo": {"username": "bob"}});
    assert_eq!(
        evaluate(policy, json!({}), bob),
        Err(UnfinishedEvaluation::Pending)
    );
}

#[test]
fn what_policies_never_see() {
    let policy = json!({"matchConstraints": {"namespaceSelector": {}, "objectSelector": {}},
        "validations": [{"expression": "false"}]});
    let request = |group: &str, resource: &str| json!({"resource": {"group": group, "version": "v1", "resource": resource}});
    for (group, resource, allowed) in [
        ("authentication.k8s.io", "tokenreviews", true),
        (
            "admissionregistration.k8s.io",
            "validatingadmissionpolicies",
            true,
        ),
        (
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations",
            false,
        ),
    ] {
        let verdict = evaluate(policy.clone(), json!({}), request(group, resource)).unwrap();
        assert_eq!(verdict.allowed(), allowed, "{resource}");
    }
}

#[test]
fn the_namespace_of_a_request_exists() {
    let policy = json!({"validations": [{"expression": "true"}]});
    let status = evaluate(policy, json!({}), json!({"namespace": "gone"}))
        .unwrap()
        .status
        .unwrap();
    assert_eq!(
        (status.code, status.message.as_str()),
        (404, "namespaces \"gone\" not found")
    );
}

#[test]
fn what_led_to_a_denial() {
    let cause = |policy: Json, binding: Json| evaluate(policy, binding, json!({})).unwrap().cause;
    let validation = |expression: &str| json!({"validations": [{"expression": expression}]});
    assert_eq!(cause(validation("true"), json!({})), None);
    assert_eq!(cause(validation("false"), json!({})), Some(DenialCause::Rule));
    assert_eq!(
        cause(validation("object.spec.nothing"), json!({})),
        Some(DenialCause::Failure)
    );
    // The first denial is the one that is told.
    let both =
        |first: &str, second: &str| json!({"validations": [{"expression": first}, {"expression": second}]});
    assert_eq!(
        cause(both("false", "object.nothing"), json!({})),
        Some(DenialCause::Rule)
    );
    assert_eq!(
        cause(both("object.nothing", "false"), json!({})),
        Some(DenialCause::Failure)
    );
    let condition = json!({
        "matchConditions": [{"name": "c", "expression": "object.nothing"}], "validations": [{"expression": "false"}],
    });
    assert_eq!(cause(condition, json!({})), Some(DenialCause::Failure));
    let annotation = json!({
        "validations": [{"expression": "true"}], "auditAnnotations": [{"key": "k", "valueExpression": "object.nothing"}],
    });
    assert_eq!(cause(annotation, json!({})), Some(DenialCause::Failure));
    let ignored = merged(validation("object.nothing"), json!({"failurePolicy": "Ignore"}));
    assert_eq!(cause(ignored, json!({})), None);
    // A binding may say that missing params deny; that there is no such kind of params is a fault.
    let params = merged(
        validation("true"),
        json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}),
    );
    let missing = json!({"paramRef": {"name": "none", "parameterNotFoundAction": "Deny"}});
    assert_eq!(cause(params, missing.clone()), Some(DenialCause::Rule));
    let unknown = merged(
        validation("true"),
        json!({"paramKind": {"apiVersion": "v1", "kind": "Limit"}}),
    );
    assert_eq!(cause(unknown, missing), Some(DenialCause::Failure));
}

/// Rules for a resource of a group and version.
fn constraints(group: &str, version: &str, resource: &str) -> Json {
    let rule =
        json!({"operations": ["*"], "apiGroups": [group], "apiVersions": [version], "resources": [resource]});
    json!({
        "resourceRules": [rule], "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
    })
}

/// A request for a Deployment of `apps/v1` whose annotation asks for a revision.
fn deployment(revision: &str) -> Json {
    json!({
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "name": "d",
        "namespace": "shop", "operation": "CREATE", "userInfo": {"username": "ann"},
        "object": {
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "annotations": {"deprecated.deployment.rollback.to": revision}},
            "spec": {"template": {}},
        },
    })
}

#[test]
fn objects_are_seen_in_the_version_that_was_matched() {
    let event = json!({
        "kind": {"version": "v1", "kind": "Event"}, "resource": {"version": "v1", "resource": "events"}, "name": "e",
        "object": {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": "hello", "count": 3,
            "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "kubelet"},
        },
    });
    let sees = "object.note == 'hello' && object.deprecatedCount == 3 && object.regarding.name == 'p' && \
                object.deprecatedSource.component == 'kubelet' && !has(object.message)";
    let constrained = |group, version, resource, expression: &str| {
        json!({
            "matchConstraints": constraints(group, version, resource),
            "validations": [{"expression": expression}],
        })
    };
    let verdict = evaluate(
        constrained("events.k8s.io", "v1", "events", sees),
        json!({}),
        event,
    )
    .unwrap();
    assert_eq!(verdict.status, None);
    let rollback = constrained(
        "extensions",
        "v1beta1",
        "deployments",
        "object.spec.rollbackTo.revision == 7",
    );
    for (revision, denied) in [("7", false), ("8", true)] {
        let verdict = evaluate(rollback.clone(), json!({}), deployment(revision)).unwrap();
        assert_eq!(verdict.status.is_some(), denied, "{revision}");
    }

    // What cannot be converted is not evaluated.
    let fault = "failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing \
                 \"x\": invalid syntax";
    let verdict = evaluate(rollback.clone(), json!({}), deployment("x")).unwrap();
    assert_eq!(
        verdict.status.unwrap().message,
        format!(
            "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed \
             to configure binding: failed to convert object version: {fault}"
        )
    );
    let ignored = merged(rollback, json!({"failurePolicy": "Ignore"}));
    assert_eq!(
        evaluate(ignored, json!({}), deployment("x")).unwrap().status,
        None
    );
}

#[test]
fn what_cannot_be_converted_is_not_mutated() {
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": constraints("extensions", "v1beta1", "deployments"), "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}],
    }});
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p"}});
    let (policy, binding) = (
        serde_json::from_value(policy).unwrap(),
        serde_json::from_value(binding).unwrap(),
    );
    let policies = MutatingPolicies::compile([&policy], [&binding], Origin::Api, &Cache::new());
    let cluster = cluster();
    let message = |revision| {
        let request = deployment(revision).to_string();
        let request: AdmissionRequest<'_> = serde_json::from_str(&request).unwrap();
        let context = EvalContext::new(&cluster, Arc::new(Gate));
        let mutated = mutate(&[&policies], &request, &context, &mut ()).unwrap();
        mutated.status.map(|status| status.message)
    };
    let refused = message("x").unwrap();
    let start = "policy \"p\" denied request: failed to configure policy: failed to parse annotation";
    assert!(refused.starts_with(start), "{refused}");
}
