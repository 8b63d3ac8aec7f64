//! Objects: of built-in kinds as an API server decodes them, of custom resources as they come.

use pratique_harness::Dice;
use serde_json::{Map, Value, json};

use super::kinds::Kind;

/// An object of a kind.
pub(crate) fn object(dice: &mut Dice, kind: &Kind, name: &str, namespace: &str) -> Value {
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), json!(kind.api_version()));
    object.insert("kind".to_owned(), json!(kind.kind));
    object.insert("metadata".to_owned(), metadata(dice, name, namespace));
    match kind.kind {
        "Pod" => {
            object.insert("spec".to_owned(), pod_spec(dice));
            maybe(dice, 20, &mut object, "status", |_| json!({"phase": "Running"}));
        }
        "Deployment" => {
            object.insert("spec".to_owned(), deployment_spec(dice));
            maybe(
                dice,
                20,
                &mut object,
                "status",
                |dice| json!({"replicas": dice.below(4)}),
            );
        }
        "ConfigMap" => {
            maybe(dice, 80, &mut object, "data", data);
            maybe(dice, 10, &mut object, "immutable", |dice| json!(dice.chance(50)));
            maybe(dice, 10, &mut object, "binaryData", |_| json!({"b": "AAEC"}));
        }
        "Namespace" => {
            maybe(
                dice,
                30,
                &mut object,
                "spec",
                |_| json!({"finalizers": ["kubernetes"]}),
            );
            maybe(dice, 30, &mut object, "status", |_| json!({"phase": "Active"}));
        }
        _ => {
            maybe(dice, 92, &mut object, "spec", custom_spec);
            maybe(dice, 30, &mut object, "status", |_| json!({"phase": "Ready"}));
            maybe(dice, 10, &mut object, "extra", any);
        }
    }
    Value::Object(object)
}

/// Puts a member into an object so often in a hundred times.
pub(crate) fn maybe(
    dice: &mut Dice,
    percent: usize,
    object: &mut Map<String, Value>,
    name: &str,
    make: impl FnOnce(&mut Dice) -> Value,
) {
    if dice.chance(percent) {
        object.insert(name.to_owned(), make(dice));
    }
}

fn metadata(dice: &mut Dice, name: &str, namespace: &str) -> Value {
    let mut metadata = Map::new();
    match name {
        "" => metadata.insert("generateName".to_owned(), json!("web-")),
        name => metadata.insert("name".to_owned(), json!(name)),
    };
    if !namespace.is_empty() {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    maybe(dice, 70, &mut metadata, "labels", labels);
    maybe(
        dice,
        40,
        &mut metadata,
        "annotations",
        |dice| json!({"example.com/a": text(dice), "note": text(dice)}),
    );
    maybe(dice, 20, &mut metadata, "finalizers", |_| {
        json!(["example.com/f"])
    });
    maybe(dice, 15, &mut metadata, "uid", |_| json!("u-1"));
    maybe(dice, 15, &mut metadata, "generation", |dice| json!(dice.below(5)));
    maybe(dice, 15, &mut metadata, "creationTimestamp", |_| {
        json!("2024-01-01T00:00:00Z")
    });
    maybe(
        dice,
        15,
        &mut metadata,
        "ownerReferences",
        |_| json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u1", "controller": true}]),
    );
    Value::Object(metadata)
}

/// Labels, some of which selectors look for.
pub(crate) fn labels(dice: &mut Dice) -> Value {
    let mut labels = Map::new();
    maybe(dice, 80, &mut labels, "app", |dice| {
        pick(dice, &["web", "db", "", "api"])
    });
    maybe(dice, 40, &mut labels, "tier", |dice| {
        pick(dice, &["front", "back"])
    });
    maybe(dice, 40, &mut labels, "env", |dice| pick(dice, &["prod", "dev"]));
    maybe(dice, 20, &mut labels, "example.com/a", |_| json!("x"));
    Value::Object(labels)
}

/// What a ConfigMap holds.
pub(crate) fn data(dice: &mut Dice) -> Value {
    let mut data = Map::new();
    maybe(dice, 80, &mut data, "mode", text);
    maybe(dice, 80, &mut data, "limit", |dice| {
        pick(dice, &["3", "10", "x", "", "-1"])
    });
    maybe(dice, 30, &mut data, "a.b/c", text);
    Value::Object(data)
}

fn pod_spec(dice: &mut Dice) -> Value {
    let mut spec = Map::new();
    let count = *dice.pick(&[1, 1, 1, 2, 2, 3, 0]).unwrap_or(&1);
    let containers: Vec<Value> = (0..count).map(|index| container(dice, index)).collect();
    spec.insert("containers".to_owned(), json!(containers));
    maybe(dice, 20, &mut spec, "initContainers", |dice| {
        json!([container(dice, 3)])
    });
    maybe(
        dice,
        25,
        &mut spec,
        "volumes",
        |dice| json!([{"name": text(dice), "emptyDir": {}}, {"name": "cfg", "configMap": {"name": "c", "defaultMode": 420}}]),
    );
    maybe(dice, 25, &mut spec, "nodeSelector", |_| json!({"disk": "ssd"}));
    maybe(
        dice,
        20,
        &mut spec,
        "tolerations",
        |_| json!([{"key": "k", "operator": "Exists"}, {"key": "l", "operator": "Equal", "value": "v", "tolerationSeconds": 3}]),
    );
    maybe(dice, 30, &mut spec, "hostNetwork", |dice| json!(dice.chance(60)));
    maybe(dice, 40, &mut spec, "serviceAccountName", text);
    maybe(dice, 30, &mut spec, "restartPolicy", |_| json!("Always"));
    maybe(dice, 15, &mut spec, "terminationGracePeriodSeconds", |dice| {
        json!(dice.below(60))
    });
    maybe(
        dice,
        25,
        &mut spec,
        "securityContext",
        |dice| json!({"runAsNonRoot": dice.chance(50), "runAsUser": dice.below(3)}),
    );
    maybe(dice, 10, &mut spec, "nope", any);
    Value::Object(spec)
}

fn container(dice: &mut Dice, index: usize) -> Value {
    const NAMES: [&str; 4] = ["main", "sidecar", "third", "init"];
    let mut container = Map::new();
    let name = NAMES.get(index).copied().unwrap_or("c");
    container.insert(
        "name".to_owned(),
        json!(if dice.chance(5) { "main" } else { name }),
    );
    maybe(dice, 92, &mut container, "image", |dice| {
        pick(
            dice,
            &[
                "nginx:1.25",
                "registry.example.com/app:v1",
                "busybox",
                "nginx:latest",
                "",
            ],
        )
    });
    maybe(dice, 25, &mut container, "args", |dice| {
        json!(["--a", text(dice)])
    });
    maybe(
        dice,
        30,
        &mut container,
        "env",
        |dice| json!([{"name": "A", "value": text(dice)}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
    );
    maybe(
        dice,
        30,
        &mut container,
        "ports",
        |dice| json!([{"containerPort": 80, "name": "http"}, {"containerPort": dice.below(9000), "protocol": "TCP"}]),
    );
    maybe(dice, 40, &mut container, "resources", |dice| {
        let quantity = |dice: &mut Dice| {
            pick(
                dice,
                &[
                    "1", "500m", "1000m", "1Gi", "1024Mi", "0.5", "1.5Gi", "2e3", "1e3",
                ],
            )
        };
        match dice.below(3) {
            0 => json!({}),
            1 => json!({"limits": {"memory": quantity(dice)}}),
            _ => {
                json!({"limits": {"cpu": quantity(dice), "memory": quantity(dice)}, "requests": {"cpu": quantity(dice)}})
            }
        }
    });
    maybe(
        dice,
        30,
        &mut container,
        "securityContext",
        |dice| json!({"privileged": dice.chance(50), "capabilities": {"drop": ["ALL"]}}),
    );
    maybe(
        dice,
        10,
        &mut container,
        "volumeMounts",
        |_| json!([{"name": "v", "mountPath": "/v"}]),
    );
    Value::Object(container)
}

fn deployment_spec(dice: &mut Dice) -> Value {
    let mut spec = Map::new();
    maybe(dice, 80, &mut spec, "replicas", |dice| json!(dice.below(12)));
    maybe(
        dice,
        95,
        &mut spec,
        "selector",
        |_| json!({"matchLabels": {"app": "web"}}),
    );
    maybe(dice, 15, &mut spec, "paused", |dice| json!(dice.chance(50)));
    maybe(
        dice,
        25,
        &mut spec,
        "strategy",
        |_| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}),
    );
    let mut template = Map::new();
    maybe(
        dice,
        90,
        &mut template,
        "metadata",
        |dice| json!({"labels": labels(dice)}),
    );
    template.insert("spec".to_owned(), pod_spec(dice));
    spec.insert("template".to_owned(), Value::Object(template));
    Value::Object(spec)
}

/// What the definitions of custom resources describe, mostly.
pub(crate) fn custom_spec(dice: &mut Dice) -> Value {
    let mut spec = Map::new();
    maybe(dice, 70, &mut spec, "color", text);
    maybe(dice, 50, &mut spec, "mode", text);
    maybe(dice, 70, &mut spec, "size", |dice| {
        json!(dice.below(20) as i64 - 3)
    });
    maybe(dice, 50, &mut spec, "replicas", |dice| json!(dice.below(9)));
    maybe(dice, 50, &mut spec, "ratio", |dice| match dice.below(4) {
        0 => json!(2),
        1 => json!(1e21),
        2 => json!(3.0),
        _ => json!(0.25),
    });
    maybe(dice, 30, &mut spec, "on", |dice| json!(dice.chance(50)));
    maybe(dice, 30, &mut spec, "port", |dice| {
        if dice.chance(50) { json!(80) } else { json!("http") }
    });
    maybe(dice, 40, &mut spec, "limit", any);
    maybe(
        dice,
        40,
        &mut spec,
        "free",
        |dice| json!({"a": any(dice), "b": {"c": any(dice)}}),
    );
    maybe(dice, 40, &mut spec, "names", |dice| {
        json!([text(dice), text(dice)])
    });
    maybe(dice, 40, &mut spec, "tags", |_| json!(["a", "b"]));
    maybe(dice, 40, &mut spec, "whole", |dice| json!({"k": text(dice)}));
    maybe(
        dice,
        50,
        &mut spec,
        "parts",
        |dice| json!([{"name": "main", "count": dice.below(5)}, {"name": "other", "note": text(dice)}]),
    );
    maybe(dice, 10, &mut spec, "nope", any);
    Value::Object(spec)
}

/// A value of any kind.
pub(crate) fn any(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => Value::Null,
        1 => json!(dice.chance(50)),
        2 => json!(1.5),
        3 => json!([1, "a", null]),
        4 => json!({"a": dice.below(5), "b": text(dice)}),
        5 => json!({}),
        6 => json!([]),
        7 => text(dice),
        8 => json!(9_007_199_254_740_993_i64),
        _ => json!(dice.below(12) as i64 - 3),
    }
}

/// A text, plain or not.
pub(crate) fn text(dice: &mut Dice) -> Value {
    pick(
        dice,
        &[
            "web",
            "a",
            "",
            "prod",
            "default",
            "main",
            "nginx:1.25",
            "é日",
            "a <b> & \"c\"",
            "x\ny",
            "1Gi",
            "5",
            "a/b~c",
        ],
    )
}

/// One of several texts.
pub(crate) fn pick(dice: &mut Dice, of: &[&str]) -> Value {
    json!(dice.pick(of).copied().unwrap_or_default())
}
