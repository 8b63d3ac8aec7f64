//! Requests, and what they find in the cluster.

use pratique_harness::Dice;
use serde_json::{Map, Value, json};

use super::kinds::{DEPLOYMENT, KINDS, Kind, POD};
use super::objects::{custom_spec, data, labels, maybe, object, pick, text};

/// The names that objects have.
pub(super) const NAMES: &[&str] = &["web-1", "web-2", "web-1", "other"];

/// A request, mostly about one kind.
pub(super) fn request(dice: &mut Dice, focus: &Kind) -> Value {
    match dice.below(20) {
        0 => exec(dice),
        1 => scale(dice),
        2..8 => {
            let kind = *dice.pick(KINDS).unwrap_or(&POD);
            plain(dice, kind)
        }
        _ => plain(dice, *focus),
    }
}

pub(crate) fn plain(dice: &mut Dice, kind: Kind) -> Value {
    let operation = *dice
        .pick(&["CREATE", "CREATE", "CREATE", "UPDATE", "UPDATE", "DELETE"])
        .unwrap_or(&"CREATE");
    let subresource = match operation {
        "UPDATE" if dice.chance(20) => dice.pick(kind.subresources).copied().unwrap_or_default(),
        _ => "",
    };
    let name = match operation {
        "CREATE" if dice.chance(15) => "",
        "DELETE" if dice.chance(5) => "",
        _ => dice.pick(NAMES).copied().unwrap_or("web-1"),
    };
    let namespace = namespace_of(dice, &kind);
    // Each object of a collection is deleted without a name in the request.
    let object_name = if operation == "DELETE" && name.is_empty() {
        "web-1"
    } else {
        name
    };
    let current = object(dice, &kind, object_name, namespace);
    let mut request = request_of(dice, &kind, operation, name, namespace);
    if !subresource.is_empty() {
        request.insert("subResource".to_owned(), json!(subresource));
    }
    if kind.kind == "Namespace" {
        // What is asked of a namespace is asked in it.
        request.insert("namespace".to_owned(), json!(name));
    }
    match operation {
        "CREATE" => request.insert("object".to_owned(), current),
        "UPDATE" => {
            let old = match dice.chance(25) {
                true => current.clone(),
                false => object(dice, &kind, name, namespace),
            };
            request.insert("oldObject".to_owned(), old);
            request.insert("object".to_owned(), current)
        }
        _ => request.insert("oldObject".to_owned(), current),
    };
    Value::Object(request)
}

fn namespace_of(dice: &mut Dice, kind: &Kind) -> &'static str {
    match kind.namespaced {
        true if dice.chance(3) => "missing",
        true => dice
            .pick(&["default", "default", "prod", "bare"])
            .copied()
            .unwrap_or("default"),
        false => "",
    }
}

fn request_of(
    dice: &mut Dice,
    kind: &Kind,
    operation: &str,
    name: &str,
    namespace: &str,
) -> Map<String, Value> {
    let mut request = Map::new();
    request.insert("uid".to_owned(), json!("u"));
    request.insert("kind".to_owned(), kind.as_kind());
    request.insert("resource".to_owned(), kind.as_resource());
    request.insert("operation".to_owned(), json!(operation));
    request.insert("name".to_owned(), json!(name));
    request.insert("namespace".to_owned(), json!(namespace));
    request.insert("userInfo".to_owned(), user(dice));
    maybe(dice, 20, &mut request, "dryRun", |_| json!(true));
    maybe(dice, 50, &mut request, "options", |dice| options(dice, operation));
    request
}

fn user(dice: &mut Dice) -> Value {
    let mut user = Map::new();
    user.insert(
        "username".to_owned(),
        pick(
            dice,
            &["ann", "bob", "system:serviceaccount:default:builder", "é"],
        ),
    );
    maybe(dice, 50, &mut user, "uid", |_| json!("42"));
    maybe(dice, 80, &mut user, "groups", |dice| match dice.chance(50) {
        true => json!(["dev", "system:authenticated"]),
        false => json!(["system:masters"]),
    });
    maybe(
        dice,
        40,
        &mut user,
        "extra",
        |dice| json!({"scopes": ["a", text(dice)], "é": []}),
    );
    Value::Object(user)
}

fn options(dice: &mut Dice, operation: &str) -> Value {
    let kind = match operation {
        "CREATE" => "CreateOptions",
        "UPDATE" if dice.chance(50) => "UpdateOptions",
        "UPDATE" => "PatchOptions",
        _ => "DeleteOptions",
    };
    let mut options = Map::new();
    options.insert("apiVersion".to_owned(), json!("meta.k8s.io/v1"));
    options.insert("kind".to_owned(), json!(kind));
    match kind {
        "DeleteOptions" => {
            maybe(dice, 50, &mut options, "propagationPolicy", |_| {
                json!("Background")
            });
            maybe(dice, 30, &mut options, "gracePeriodSeconds", |_| json!(0));
        }
        _ => {
            maybe(dice, 60, &mut options, "fieldManager", |_| json!("kubectl"));
            maybe(dice, 20, &mut options, "dryRun", |_| json!(["All"]));
        }
    }
    Value::Object(options)
}

/// `kubectl exec`.
fn exec(dice: &mut Dice) -> Value {
    let mut request = request_of(dice, &POD, "CONNECT", "web-1", "default");
    request.remove("options");
    request.insert(
        "kind".to_owned(),
        json!({"group": "", "version": "v1", "kind": "PodExecOptions"}),
    );
    request.insert("subResource".to_owned(), json!("exec"));
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), json!("v1"));
    object.insert("kind".to_owned(), json!("PodExecOptions"));
    maybe(dice, 60, &mut object, "container", |_| json!("main"));
    maybe(dice, 60, &mut object, "command", |dice| json!(["sh", text(dice)]));
    maybe(dice, 50, &mut object, "stdin", |dice| json!(dice.chance(60)));
    request.insert("object".to_owned(), Value::Object(object));
    Value::Object(request)
}

/// `kubectl scale`.
fn scale(dice: &mut Dice) -> Value {
    let mut request = request_of(dice, &DEPLOYMENT, "UPDATE", "web-1", "default");
    request.insert(
        "kind".to_owned(),
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
    );
    request.insert("subResource".to_owned(), json!("scale"));
    let mut scale = |replicas: usize| {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "web-1", "namespace": "default", "labels": labels(dice)},
            "spec": {"replicas": replicas}, "status": {"replicas": 2},
        })
    };
    request.insert("oldObject".to_owned(), scale(2));
    request.insert("object".to_owned(), scale(5));
    Value::Object(request)
}

/// Namespaces, params, and the definitions of custom resources.
pub(super) fn cluster(dice: &mut Dice) -> Vec<Value> {
    let mut objects = super::kinds::definitions().to_vec();
    objects.push(json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": "default", "labels": {"kubernetes.io/metadata.name": "default", "env": "dev"},
            "annotations": {"note": text(dice)}, "creationTimestamp": "2024-01-01T00:00:00Z",
        },
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    }));
    objects.push(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod", "labels": labels(dice)},
    }));
    objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bare"}}));
    for (name, namespace) in [("limits", "default"), ("strict", "default"), ("limits", "prod")] {
        if dice.chance(85) {
            objects.push(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace, "labels": param_labels(dice)},
                "data": data(dice),
            }));
        }
        if dice.chance(85) {
            objects.push(json!({
                "apiVersion": "example.com/v1", "kind": "Limit",
                "metadata": {"name": name, "namespace": namespace, "labels": param_labels(dice)},
                "spec": param_spec(dice),
            }));
        }
    }
    if dice.chance(85) {
        objects.push(json!({
            "apiVersion": "example.com/v1", "kind": "ClusterLimit",
            "metadata": {"name": "limits", "labels": param_labels(dice)}, "spec": param_spec(dice),
        }));
    }
    objects
}

fn param_labels(dice: &mut Dice) -> Value {
    json!({"for": pick(dice, &["web", "db"])})
}

fn param_spec(dice: &mut Dice) -> Value {
    let mut spec = custom_spec(dice);
    if let Some(members) = spec.as_object_mut() {
        maybe(dice, 80, members, "limit", |dice| json!(dice.below(9)));
    }
    spec
}

/// What the authorizer allows.
pub(super) fn allow(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!([]),
        1 => json!([{"verb": "get", "reason": "because"}]),
        2 => json!([{"path": "/healthz"}, {"resource": "deployments", "error": "no \"answer\""}]),
        _ => json!([{"user": "ann", "resource": "pods"}, {"verb": "update", "reason": text(dice)}]),
    }
}
