//! Policies and their bindings.

use pratique_harness::Dice;
use serde_json::{Map, Value, json};

use super::kinds::{KINDS, Kind, POD};
use super::objects::{maybe, pick};
use super::requests::NAMES;
use super::writer::{Place, Trees, Writer};

/// Where policies come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From manifests: what does not load is of no use, and defaults may be left out.
    Static,
    /// From the API, which has set the defaults.
    Api,
}

/// Policies of one origin with their bindings, mostly about one kind. Those of the API have no order, so there are few.
pub(super) fn policies(dice: &mut Dice, origin: Origin, focus: &Kind, trees: &mut Trees) -> Vec<Value> {
    let mut all = Vec::new();
    let count = match origin {
        Origin::Static => 1 + dice.below(3),
        Origin::Api => 1 + dice.below(2),
    };
    let first = dice.below(2);
    for index in 0..count {
        let mutates = match origin {
            Origin::Static => dice.chance(45),
            Origin::Api => (first + index).is_multiple_of(2),
        };
        let subject = Subject {
            origin,
            focus: *focus,
            mutates,
        };
        policy(dice, subject, index, trees, &mut all);
    }
    all
}

/// What a policy is.
#[derive(Clone, Copy)]
struct Subject {
    origin: Origin,
    /// The kind that it is about, mostly.
    focus: Kind,
    mutates: bool,
}

fn policy(dice: &mut Dice, subject: Subject, index: usize, trees: &mut Trees, all: &mut Vec<Value>) {
    let Subject {
        origin,
        focus,
        mutates,
    } = subject;
    let of = if mutates { "Mutating" } else { "Validating" };
    let suffix = match origin {
        Origin::Static => ".static.k8s.io",
        Origin::Api => "",
    };
    let name = format!("p{index}{suffix}");
    let param_kind = (origin == Origin::Api && dice.chance(50)).then(|| param_kind(dice));
    let mut spec = Map::new();
    if let Some(kind) = &param_kind {
        spec.insert("paramKind".to_owned(), kind.clone());
    }
    let mut writer = Writer::new(
        trees,
        param_kind.is_some(),
        mutates.then_some(focus),
        origin == Origin::Api,
    );
    if origin == Origin::Api || dice.chance(50) {
        spec.insert(
            "failurePolicy".to_owned(),
            pick(dice, &["Fail", "Fail", "Ignore"]),
        );
    }
    spec.insert(
        "matchConstraints".to_owned(),
        match_resources(dice, subject, true),
    );
    maybe(dice, 25, &mut spec, "matchConditions", |dice| {
        conditions(dice, &mut writer)
    });
    maybe(dice, 45, &mut spec, "variables", |dice| writer.variables(dice));
    match mutates {
        true => mutating(dice, &mut spec, &mut writer),
        false => validating(dice, &mut spec, &mut writer),
    }
    all.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{of}AdmissionPolicy"),
        "metadata": {"name": name}, "spec": spec,
    }));
    let bindings = if dice.chance(15) { 2 } else { 1 };
    for binding in 0..bindings {
        let mut spec = Map::new();
        spec.insert("policyName".to_owned(), json!(name));
        if param_kind.is_some() && dice.chance(92) {
            spec.insert("paramRef".to_owned(), param_ref(dice));
        }
        maybe(dice, 15, &mut spec, "matchResources", |dice| {
            match_resources(dice, subject, false)
        });
        if !mutates {
            spec.insert("validationActions".to_owned(), actions(dice));
        }
        all.push(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{of}AdmissionPolicyBinding"),
            "metadata": {"name": format!("b{index}{binding}{suffix}")}, "spec": spec,
        }));
    }
}

fn param_kind(dice: &mut Dice) -> Value {
    match dice.below(20) {
        0 => json!({"apiVersion": "example.com/v1", "kind": "Unknown"}),
        1..9 => json!({"apiVersion": "v1", "kind": "ConfigMap"}),
        9..16 => json!({"apiVersion": "example.com/v1", "kind": "Limit"}),
        _ => json!({"apiVersion": "example.com/v1", "kind": "ClusterLimit"}),
    }
}

fn param_ref(dice: &mut Dice) -> Value {
    let mut reference = Map::new();
    match dice.chance(70) {
        true => reference.insert(
            "name".to_owned(),
            pick(dice, &["limits", "limits", "strict", "missing"]),
        ),
        false => reference.insert(
            "selector".to_owned(),
            match dice.below(4) {
                0 => json!({}),
                _ => json!({"matchLabels": {"for": pick(dice, &["web", "db", "none"])}}),
            },
        ),
    };
    maybe(dice, 35, &mut reference, "namespace", |dice| {
        pick(dice, &["default", "prod", "missing"])
    });
    reference.insert(
        "parameterNotFoundAction".to_owned(),
        pick(dice, &["Allow", "Deny"]),
    );
    Value::Object(reference)
}

fn actions(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!(["Warn"]),
        1 => json!(["Audit"]),
        2 => json!(["Warn", "Audit"]),
        3 => json!(["Deny", "Audit"]),
        _ => json!(["Deny"]),
    }
}

fn conditions(dice: &mut Dice, writer: &mut Writer<'_>) -> Value {
    let count = 1 + dice.below(2);
    let conditions = (0..count).map(|index| {
        json!({
            "name": format!("c{index}"),
            "expression": writer.expression(dice, "bool", Place::Condition, "true"),
        })
    });
    conditions.collect()
}

fn validating(dice: &mut Dice, spec: &mut Map<String, Value>, writer: &mut Writer<'_>) {
    let count = 1 + dice.below(3);
    let validations: Vec<Value> = (0..count).map(|_| validation(dice, writer)).collect();
    spec.insert("validations".to_owned(), json!(validations));
    maybe(dice, 30, spec, "auditAnnotations", |dice| {
        let count = 1 + dice.below(2);
        let annotations = (0..count).map(|index| {
            json!({
                "key": format!("k{index}"),
                "valueExpression": writer.expression(dice, "string", Place::Message, "'v'"),
            })
        });
        annotations.collect()
    });
}

fn validation(dice: &mut Dice, writer: &mut Writer<'_>) -> Value {
    let mut validation = Map::new();
    let expression = writer.expression(dice, "bool", Place::Body, "has(object.metadata)");
    validation.insert("expression".to_owned(), json!(expression));
    maybe(dice, 40, &mut validation, "message", |dice| {
        pick(
            dice,
            &[
                "must not",
                "é <b> & \"x\"",
                "a rather long message: yes",
                "no 'quotes'",
            ],
        )
    });
    maybe(dice, 40, &mut validation, "messageExpression", |dice| {
        json!(writer.expression(dice, "string", Place::Message, "'made'"))
    });
    maybe(dice, 30, &mut validation, "reason", |dice| {
        pick(dice, &["Forbidden", "Invalid", "RequestEntityTooLarge"])
    });
    Value::Object(validation)
}

fn mutating(dice: &mut Dice, spec: &mut Map<String, Value>, writer: &mut Writer<'_>) {
    spec.insert(
        "reinvocationPolicy".to_owned(),
        pick(dice, &["Never", "IfNeeded"]),
    );
    let count = 1 + dice.below(2);
    let mutations: Vec<Value> = (0..count).map(|_| mutation(dice, writer)).collect();
    spec.insert("mutations".to_owned(), json!(mutations));
}

/// Mutations that mostly succeed.
const APPLY: &[&str] = &[
    "Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
    "Object{metadata: Object.metadata{annotations: {'who': request.userInfo.username}}}",
    "Object{metadata: Object.metadata{labels: has(object.metadata.labels) ? {'n': string(size(object.metadata.labels))} : {}}}",
    "Object{spec: Object.spec{replicas: 3}}",
    "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, image: 'x/' + c.name})}}",
    "Object{spec: Object.spec{serviceAccountName: 'builder', hostNetwork: false}}",
    "Object{spec: Object.spec{parts: [Object.spec.parts{name: 'main', count: 7}, Object.spec.parts{name: 'new'}]}}",
    "Object{data: {'mode': 'strict', 'new': ''}}",
];

/// Likewise.
const PATCHES: &[&str] = &[
    "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]",
    "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'app': 'web'}}, JSONPatch{op: 'copy', from: '/metadata/labels/app', path: '/metadata/labels/b'}]",
    "has(object.metadata.labels) ? [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y~z'), value: 'c'}] : []",
    "[JSONPatch{op: 'test', path: '/metadata/name', value: 'web-1'}, JSONPatch{op: 'replace', path: '/metadata/labels', value: {}}]",
    "[JSONPatch{op: 'add', path: '/spec', value: {'color': 'red', 'limit': [1, 2.5, null]}}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'added', image: 'nginx'}}]",
    "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]",
    "[JSONPatch{op: 'move', from: '/metadata/name', path: '/metadata/generateName'}]",
];

fn mutation(dice: &mut Dice, writer: &mut Writer<'_>) -> Value {
    let made = dice.chance(50);
    match dice.chance(50) {
        true => {
            let otherwise = dice.pick(APPLY).copied().unwrap_or_default();
            let expression = match made {
                true => writer.expression(dice, "Object", Place::Body, otherwise),
                false => otherwise.to_owned(),
            };
            json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
        }
        false => {
            let otherwise = dice.pick(PATCHES).copied().unwrap_or_default();
            let expression = match made {
                true => writer.expression(dice, "list(JSONPatch)", Place::Body, otherwise),
                false => otherwise.to_owned(),
            };
            json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
        }
    }
}

/// What a policy or binding matches; a policy's rules are mostly wide, so that there is something to evaluate.
fn match_resources(dice: &mut Dice, subject: Subject, of_policy: bool) -> Value {
    let mut all = Map::new();
    if of_policy || dice.chance(60) {
        let count = 1 + dice.below(2);
        let rules: Vec<Value> = (0..count).map(|_| rule(dice, subject, 40)).collect();
        all.insert("resourceRules".to_owned(), json!(rules));
    }
    maybe(dice, 8, &mut all, "excludeResourceRules", |dice| {
        json!([rule(dice, subject, 10)])
    });
    let explicit = subject.origin == Origin::Api;
    let selector = |dice: &mut Dice, percent| match dice.chance(percent) {
        true => Some(selector(dice)),
        false => explicit.then(|| json!({})),
    };
    for (name, percent) in [("namespaceSelector", 10), ("objectSelector", 12)] {
        if let Some(selector) = selector(dice, percent) {
            all.insert(name.to_owned(), selector);
        }
    }
    if explicit || dice.chance(40) {
        all.insert(
            "matchPolicy".to_owned(),
            pick(dice, &["Equivalent", "Equivalent", "Exact"]),
        );
    }
    Value::Object(all)
}

fn rule(dice: &mut Dice, subject: Subject, wide: usize) -> Value {
    let kind = match dice.chance(80) {
        true => subject.focus,
        false => *dice.pick(KINDS).unwrap_or(&POD),
    };
    let mut rule = Map::new();
    let operations = match dice.below(6) {
        0 => json!(["CREATE"]),
        1 => json!(["CREATE", "UPDATE"]),
        // There is nothing to mutate on DELETE.
        2 if subject.mutates => json!(["CONNECT", "UPDATE"]),
        2 => json!(["DELETE", "CONNECT", "UPDATE"]),
        _ => json!(["*"]),
    };
    if dice.chance(wide) {
        rule.insert("apiGroups".to_owned(), json!(["*"]));
        rule.insert("apiVersions".to_owned(), json!(["*"]));
        rule.insert("resources".to_owned(), json!([pick(dice, &["*", "*/*", "*"])]));
        rule.insert("operations".to_owned(), operations);
    } else {
        let versions = match dice.below(8) {
            0 => "*",
            1 => "v1",
            2 => "v2",
            _ => kind.version,
        };
        let resources = match dice.below(6) {
            0 => json!([format!("{}/*", kind.resource)]),
            1 => json!([kind.resource, format!("{}/status", kind.resource)]),
            2 => json!(["*/status", kind.resource]),
            3 => json!(["pods/exec", "deployments/scale", kind.resource]),
            _ => json!([kind.resource]),
        };
        rule.insert("apiGroups".to_owned(), json!([kind.group]));
        rule.insert("apiVersions".to_owned(), json!([versions]));
        rule.insert("resources".to_owned(), resources);
        rule.insert("operations".to_owned(), operations);
        maybe(dice, 8, &mut rule, "resourceNames", |dice| {
            json!([pick(dice, NAMES)])
        });
    }
    if subject.origin == Origin::Api || dice.chance(40) {
        rule.insert(
            "scope".to_owned(),
            pick(
                dice,
                &["*", "*", "*", "*", "*", "*", "*", "Namespaced", "Cluster"],
            ),
        );
    }
    Value::Object(rule)
}

/// A selector of labels.
fn selector(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({"matchLabels": {"app": "web"}}),
        1 => json!({"matchLabels": {"env": pick(dice, &["prod", "dev"])}}),
        2 => json!({"matchExpressions": [{"key": "env", "operator": "Exists"}]}),
        3 => json!({"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}),
        4 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}),
        _ => json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "DoesNotExist"}],
        }),
    }
}
