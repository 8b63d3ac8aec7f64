//! Policies whose decision depends on what was not given: neither allowed nor denied by them.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_policy::authz::NoAuthorizer;
use pratique_policy::{
    DecisionNeed, EvalContext, MutatedRequest, MutatingPolicies, NeedKind, OnUndecided, Origin, Policies,
    PolicyObserver, PolicyTrace, UndecidedDecision, ValidationOutcome, mutate, validate,
};
use pratique_testkit::TestCluster;
use pratique_types::AdmissionRequest;
use serde_json::{Value as Json, json};

/// A cluster where all namespaces exist, and nothing else is known of them or of params.
fn cluster() -> TestCluster {
    TestCluster::new()
        .with_names_only()
        .with_params_unknown("ConfigMap")
}

/// A trace that records nothing.
struct Silent;

impl PolicyTrace for Silent {}

/// Keeps what is told of.
#[derive(Default)]
struct Told(Vec<UndecidedDecision>);

impl PolicyObserver for Told {
    fn undecided(&mut self, undecided: &UndecidedDecision) {
        self.0.push(undecided.clone());
    }
}

const ASKS: &str = "!authorizer.group('certificates.k8s.io').resource('signers').check('use').allowed()";
const LABELS: &str = "namespaceObject.metadata.?labels[?'env'].orValue('dev') == 'dev'";

fn request() -> AdmissionRequest<'static> {
    let text = r#"{"kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
        "namespace": "shop", "name": "web", "operation": "CREATE", "userInfo": {"username": "ann"},
        "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": []}}}"#;
    serde_json::from_str(text).unwrap()
}

/// What a policy or a binding that is for Pods says.
fn constraints(namespace_selector: Json) -> Json {
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    json!({"resourceRules": [rule], "namespaceSelector": namespace_selector, "objectSelector": {}})
}

/// Policies named `p0`, `p1` …, each with a binding of the same name that says `binding`.
fn policies(specs: &[Json], binding: &Json) -> Policies {
    let mut policies = Vec::new();
    let mut bindings = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let name = format!("p{index}");
        let spec = merged(json!({"matchConstraints": constraints(json!({}))}), spec);
        let bound = merged(
            json!({"policyName": name, "validationActions": ["Deny"]}),
            binding,
        );
        let object = |spec| json!({"metadata": {"name": name}, "spec": spec});
        policies.push(serde_json::from_value(object(spec)).unwrap());
        bindings.push(serde_json::from_value(object(bound)).unwrap());
    }
    Policies::compile(&policies, &bindings, Origin::Api, &Cache::new())
}

fn merged(mut base: Json, over: &Json) -> Json {
    let members = base.as_object_mut().unwrap();
    members.extend(over.as_object().unwrap().clone());
    base
}

fn validations(expressions: &[&str]) -> Json {
    let validations: Vec<Json> = expressions
        .iter()
        .map(|text| json!({"expression": text}))
        .collect();
    json!({"validations": validations})
}

/// The verdict, which is the same whether or not expressions are shared.
fn validated(policies: &Policies, on_undecided: OnUndecided) -> (ValidationOutcome, Vec<UndecidedDecision>) {
    let (names, request) = (cluster(), request());
    let context = EvalContext::new(&names, Arc::new(NoAuthorizer)).on_undecided(on_undecided);
    let mut told = Told::default();
    let verdict = validate(&[policies], &request, context.clone(), &mut told).unwrap();
    let traced = context.with_trace(&Silent);
    assert_eq!(validate(&[policies], &request, traced, &mut ()).unwrap(), verdict);
    (verdict, told.0)
}

/// Checks what is undecided, and the message of a denial if there is one.
#[track_caller]
fn check(specs: &[Json], binding: Json, undecided: &[&str], denial: &str) {
    let (verdict, told) = validated(&policies(specs, &binding), OnUndecided::Report);
    let texts: Vec<String> = verdict
        .undecided
        .iter()
        .map(UndecidedDecision::to_string)
        .collect();
    assert_eq!(texts, undecided);
    assert_eq!(told, verdict.undecided);
    assert_eq!(verdict.allowed(), undecided.is_empty() && denial.is_empty());
    let message = verdict.status.map(|status| status.message).unwrap_or_default();
    let start = "pods \"web\" is forbidden: ValidatingAdmissionPolicy ";
    assert_eq!(message.strip_prefix(start).unwrap_or(&message), denial);
}

#[test]
fn the_authorizer() {
    let missing = r#"ValidatingAdmissionPolicy 'p0' with binding 'p0' is undecided: it is not known whether user "ann" may use signers.certificates.k8s.io"#;
    check(&[validations(&[ASKS])], json!({}), &[missing], "");
    check(&[validations(&["true || true", ASKS])], json!({}), &[missing], "");
    check(&[validations(&[ASKS, ASKS])], json!({}), &[missing], "");
    // What does not come to it is decided.
    let spared = format!("object.metadata.name == 'web' || {ASKS}");
    check(&[validations(&[&spared])], json!({}), &[], "");
    let by_variable = merged(
        validations(&["variables.may"]),
        &json!({"variables": [{"name": "may", "expression": ASKS}]}),
    );
    check(&[by_variable], json!({}), &[missing], "");
}

#[test]
fn namespaces() {
    let missing = r#"ValidatingAdmissionPolicy 'p0' with binding 'p0' is undecided: namespaceObject.metadata.labels.env of namespace "shop" is not known"#;
    check(&[validations(&[LABELS])], json!({}), &[missing], "");
    let by_name = "namespaceObject.metadata.name == 'shop'";
    check(&[validations(&[by_name])], json!({}), &[], "");
    // In match conditions there is none.
    let condition = json!({"matchConditions": [{"name": "c", "expression": "namespaceObject == null"}]});
    check(&[merged(validations(&["true"]), &condition)], json!({}), &[], "");
}

#[test]
fn equal_expressions_of_several_policies() {
    let each = |name: &str| {
        format!(
            r#"ValidatingAdmissionPolicy '{name}' with binding '{name}' is undecided: namespaceObject.metadata.labels.env of namespace "shop" is not known"#
        )
    };
    let specs = [
        validations(&[LABELS]),
        validations(&["true", LABELS]),
        validations(&["true"]),
        validations(&[LABELS]),
    ];
    let expected = [each("p0"), each("p1"), each("p3")];
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&specs, json!({}), &expected, "");
}

#[test]
fn a_denial_stays() {
    let missing = r#"ValidatingAdmissionPolicy 'p0' with binding 'p0' is undecided: namespaceObject.metadata.labels.env of namespace "shop" is not known"#;
    let denied =
        |name: &str| format!("'{name}' with binding '{name}' denied request: failed expression: false");
    check(
        &[validations(&[LABELS]), validations(&["false"])],
        json!({}),
        &[missing],
        &denied("p1"),
    );
    // One validation is enough.
    check(
        &[validations(&[LABELS, "false"])],
        json!({}),
        &[missing],
        &denied("p0"),
    );
    let message = json!({"validations": [{"expression": "false", "messageExpression": LABELS.replace(" == 'dev'", "")}]});
    check(&[message], json!({}), &[], &denied("p0"));
}

#[test]
fn match_conditions() {
    let spec = |conditions: &[&str], policy: &str| {
        let conditions = conditions.iter().enumerate();
        let conditions: Vec<Json> = conditions
            .map(|(index, text)| json!({"name": format!("c{index}"), "expression": text}))
            .collect();
        merged(
            validations(&["false"]),
            &json!({"matchConditions": conditions, "failurePolicy": policy}),
        )
    };
    let missing = r#"ValidatingAdmissionPolicy 'p0' with binding 'p0' is undecided: it is not known whether user "ann" may use signers.certificates.k8s.io"#;
    check(&[spec(&[ASKS], "Fail")], json!({}), &[missing], "");
    check(&[spec(&[ASKS, "false"], "Fail")], json!({}), &[], "");
    check(
        &[spec(&["object.nothing == 1", ASKS], "Fail")],
        json!({}),
        &[missing],
        "",
    );
    check(
        &[spec(&["object.nothing == 1", ASKS], "Ignore")],
        json!({}),
        &[],
        "",
    );
}

#[test]
fn selectors() {
    let labels = |labels: Json| json!({"matchLabels": labels});
    let missing = |of: &str| {
        format!(
            r#"ValidatingAdmissionPolicy 'p0'{of} is undecided: the labels of namespace "shop" are not known, and namespaceSelector env=prod selects by them"#
        )
    };
    let of_policy = |selector: Json| {
        merged(
            validations(&["false"]),
            &json!({"matchConstraints": constraints(selector)}),
        )
    };
    let prod = labels(json!({"env": "prod"}));
    check(&[of_policy(prod.clone())], json!({}), &[&missing("")], "");
    let other = labels(json!({"env": "prod", "kubernetes.io/metadata.name": "other"}));
    check(&[of_policy(other)], json!({}), &[], "");
    check(
        &[validations(&["false"])],
        json!({"matchResources": constraints(prod)}),
        &[&missing(" with binding 'p0'")],
        "",
    );
}

#[test]
fn params() {
    let of_kind = |kind: &str| {
        let kind = json!({"paramKind": {"apiVersion": "v1", "kind": kind}, "failurePolicy": "Ignore"});
        merged(validations(&["params.data.max == '1'"]), &kind)
    };
    let reference = |reference: Json| json!({"paramRef": reference});
    let missing = |of: &str, which: &str| {
        format!("ValidatingAdmissionPolicy 'p0'{of} is undecided: params of kind '{which} are not known")
    };
    let bound = " with binding 'p0'";
    for action in ["Allow", "Deny"] {
        check(
            &[of_kind("ConfigMap")],
            reference(json!({"name": "limits", "parameterNotFoundAction": action})),
            &[&missing(
                bound,
                r#"/v1, Kind=ConfigMap' named "limits" in namespace "shop""#,
            )],
            "",
        );
    }
    let selected = json!({"selector": {"matchLabels": {"a": "b"}}, "parameterNotFoundAction": "Allow"});
    check(
        &[of_kind("ConfigMap")],
        reference(selected),
        &[&missing(bound, r#"/v1, Kind=ConfigMap' in namespace "shop""#)],
        "",
    );
    let named = json!({"name": "limits", "parameterNotFoundAction": "Allow"});
    check(
        &[of_kind("Limit")],
        reference(named),
        &[&missing("", "/v1, Kind=Limit'")],
        "",
    );
}

#[test]
fn the_failure_policy_decides_where_it_is_to() {
    let by_failure_policy = |specs: &[Json], binding: Json| {
        let (verdict, told) = validated(&policies(specs, &binding), OnUndecided::FailurePolicy);
        assert_eq!(told.len(), specs.len());
        assert!(verdict.undecided.is_empty());
        verdict
    };
    let spec = |expression: &str, policy: &str| {
        merged(validations(&[expression]), &json!({"failurePolicy": policy}))
    };
    let failing = by_failure_policy(&[spec(LABELS, "Fail")], json!({}))
        .status
        .unwrap();
    assert_eq!(failing.code, 422);
    assert_eq!(
        failing.message,
        r#"pods "web" is forbidden: ValidatingAdmissionPolicy 'p0' with binding 'p0' denied request: undecided: namespaceObject.metadata.labels.env of namespace "shop" is not known"#
    );
    assert!(by_failure_policy(&[spec(LABELS, "Ignore")], json!({})).allowed());
    assert!(by_failure_policy(&[spec(ASKS, "Ignore"), spec(LABELS, "Ignore")], json!({})).allowed());
    let warned = by_failure_policy(&[spec(ASKS, "Fail")], json!({"validationActions": ["Warn"]}));
    assert!(warned.allowed());
    assert!(
        warned
            .warnings
            .iter()
            .all(|error| error.contains("undecided: it is not known"))
    );
    assert_eq!(warned.warnings.len(), 1);
}

fn mutated(
    mutations: &[&str],
    spec: Json,
    on_undecided: OnUndecided,
) -> (MutatedRequest, Vec<UndecidedDecision>) {
    let mut policies = Vec::new();
    let mut bindings = Vec::new();
    for (index, expression) in mutations.iter().enumerate() {
        let name = format!("m{index}");
        let mutation = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}});
        let base = json!({
            "matchConstraints": constraints(json!({})), "mutations": [mutation], "reinvocationPolicy": "Never",
        });
        let object = |spec| json!({"metadata": {"name": name}, "spec": spec});
        policies.push(serde_json::from_value(object(merged(base, &spec))).unwrap());
        bindings.push(serde_json::from_value(object(json!({"policyName": name}))).unwrap());
    }
    let policies = MutatingPolicies::compile(&policies, &bindings, Origin::Api, &Cache::new());
    let (names, request) = (cluster(), request());
    let context = EvalContext::new(&names, Arc::new(NoAuthorizer)).on_undecided(on_undecided);
    let mut told = Told::default();
    let mutated = mutate(&[&policies], &request, &context, &mut told).unwrap();
    (mutated, told.0)
}

#[test]
fn mutations_end_undecided() {
    let label = |value: &str| {
        format!("[JSONPatch{{op: 'add', path: '/metadata/labels', value: {{'l': string({value})}}}}]")
    };
    let (known, unknown) = (label("true"), label(ASKS));
    let none = json!({});
    let report = |mutations: &[&str], spec: &Json| mutated(mutations, spec.clone(), OnUndecided::Report);
    assert!(report(&[&known], &none).0.allowed());
    let (undecided, told) = report(&[&known, &unknown, &known], &none);
    assert!(!undecided.allowed() && undecided.object.is_none() && undecided.status.is_none());
    assert_eq!(undecided.steps.len(), 1);
    let missing = undecided.undecided.as_deref().cloned();
    assert_eq!(
        missing
            .as_ref()
            .map(|undecided| (undecided.plugin.as_ref(), undecided.name.as_str())),
        Some(("MutatingAdmissionPolicy", "m1"))
    );
    assert_eq!(told, Vec::from_iter(missing));
    let condition = json!({"matchConditions": [{"name": "c", "expression": ASKS}]});
    assert!(report(&[&known], &condition).0.undecided.is_some());
    let prod = json!({"matchConstraints": constraints(json!({"matchLabels": {"env": "prod"}}))});
    assert!(report(&[&known], &prod).0.undecided.is_some());

    let settle = |policy: &str| {
        let spec = json!({"failurePolicy": policy});
        mutated(&[&unknown, &known], spec, OnUndecided::FailurePolicy)
    };
    let (failing, told) = settle("Fail");
    assert!(failing.undecided.is_none() && told.len() == 1);
    let message = failing.status.unwrap().message;
    assert!(
        message.starts_with("policy 'm0' with binding 'm0' denied request: undecided: it is not known"),
        "{message}"
    );
    let (ignoring, told) = settle("Ignore");
    assert!(ignoring.allowed() && ignoring.object.is_some() && told.len() == 1);
}

#[test]
fn needs_follow_from_expressions_and_selectors() {
    let needs = |spec: Json, binding: Json| -> Vec<NeedKind> {
        let policies = policies(&[spec], &binding);
        policies.needs().map(|DecisionNeed { kind, .. }| kind).collect()
    };
    let none = json!({});
    let of = |expression: &str| needs(validations(&[expression]), none.clone());
    assert_eq!(of("object.metadata.name == namespaceObject.metadata.name"), []);
    assert_eq!(of(LABELS), [NeedKind::Namespace]);
    assert_eq!(of(ASKS), [NeedKind::Authorizer]);
    assert_eq!(of(&format!("true || {LABELS}")), [NeedKind::Namespace]);
    let prod = json!({"matchResources": constraints(json!({"matchLabels": {"env": "prod"}}))});
    assert_eq!(needs(validations(&["true"]), prod), [NeedKind::NamespaceLabels]);
    let named = constraints(json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}}));
    assert_eq!(
        needs(validations(&["true"]), json!({"matchResources": named})),
        []
    );
    let variable = json!({"variables": [{"name": "v", "expression": "namespaceObject.metadata"}]});
    assert_eq!(
        needs(merged(validations(&["true"]), &variable), none.clone()),
        [NeedKind::Namespace]
    );
    let param = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}});
    assert_eq!(
        needs(merged(validations(&["true"]), &param), none),
        [NeedKind::Params]
    );
}
