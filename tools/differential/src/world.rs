//! What expressions are evaluated over: declarations, variables and inputs, the same for a batch of expressions.

use pratique_harness::Dice;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::generate::{Generator, Manner};
use super::grammar::{Part, Production, productions, read};

/// Declarations, variables and inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct World {
    /// Which optional variables and types there are.
    pub(super) declared: Declared,
    /// Named expressions; each sees those before it.
    pub(super) variables: Vec<Variable>,
    /// What expressions can read.
    pub(super) inputs: Value,
}

/// Which optional variables and types there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Declared {
    /// `params`
    pub(super) params: bool,
    /// `authorizer`
    pub(super) authorizer: bool,
    /// `Object` and `JSONPatch`
    pub(super) patch_types: bool,
}

/// A named expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Variable {
    /// Its name.
    pub(super) name: String,
    /// Its source.
    pub(super) expression: String,
}

/// A world with a generator of expressions for it.
pub(super) fn world(dice: &mut Dice, manner: Manner) -> (World, Generator) {
    let declared = Declared {
        params: dice.chance(70),
        authorizer: dice.chance(50),
        patch_types: dice.chance(20),
    };
    let mut all = known(declared);
    let mut variables = Vec::new();
    let count = if dice.chance(50) { dice.below(4) } else { 0 };
    for index in 0..count {
        let name = format!("v{index}");
        let (of, tree) = Generator::new(all.clone(), manner).expression(dice);
        let production = read(&format!("{of} ~ variables.{name}"));
        all.extend(production.map(|production| Production {
            weight: 6,
            ..production
        }));
        variables.push(Variable {
            name,
            expression: tree.plain(),
        });
    }
    if count > 0 {
        all.extend(read("dyn ! variables.nope"));
        all.extend(read("bool: has(variables.v0)"));
        all.extend(read("optional_type(dyn) ~ variables.?v0"));
    }
    let world = World {
        declared,
        variables,
        inputs: inputs(dice),
    };
    (world, Generator::new(all, manner))
}

fn known(declared: Declared) -> Vec<Production> {
    let parts = [
        (true, Part::Base),
        (true, Part::Inputs),
        (declared.params, Part::Params),
        (declared.authorizer, Part::Authorizer),
        (declared.patch_types, Part::PatchTypes),
    ];
    let there = parts.into_iter().filter(|(there, _)| *there);
    there.flat_map(|(_, part)| productions(part)).collect()
}

fn inputs(dice: &mut Dice) -> Value {
    let mut inputs = Map::new();
    let mut put = |name: &str, value: Value| inputs.insert(name.to_owned(), value);
    put(
        "object",
        if dice.chance(92) {
            object(dice)
        } else {
            Value::Null
        },
    );
    put(
        "oldObject",
        if dice.chance(50) {
            object(dice)
        } else {
            Value::Null
        },
    );
    put(
        "params",
        if dice.chance(80) {
            object(dice)
        } else {
            Value::Null
        },
    );
    put(
        "namespaceObject",
        if dice.chance(80) {
            namespace(dice)
        } else {
            Value::Null
        },
    );
    let unnamed = matches!(inputs.get("object"), Some(Value::Null));
    let mut put = |name: &str, value: Value| inputs.insert(name.to_owned(), value);
    put("request", request(dice, unnamed));
    put("allow", rules(dice));
    Value::Object(inputs)
}

/// An object that has what the grammar's productions read, but for a member or two.
fn object(dice: &mut Dice) -> Value {
    let mut members = json!({
        "s": text(dice), "t": text(dice), "e": "", "u": "日本é👩‍🚀",
        "i": int(dice), "j": int(dice), "z": 0, "d": double(dice), "w": 3.0, "b": true, "f": false, "n": null,
        "li": list(dice, int), "el": [], "ld": list(dice, double), "ls": list(dice, text), "em": {},
        "ll": [list(dice, int), [1, 2], []],
        "lm": [{"a": int(dice), "x": dice.chance(50), "name": text(dice)}, {"a": int(dice)}, {"b": double(dice)}],
        "m": {"a": int(dice), "b": {"c": text(dice)}, "str": text(dice), "l": list(dice, int)},
        "mi": {"a": int(dice), "b": 2, "zz": int(dice)},
        "mixed": list(dice, any),
        "metadata": {"name": "web-1", "labels": {"app": "web", "tier": text(dice)}},
        "nope-at/all": 1,
        "q": "1500m", "ip": "10.1.2.3", "cidr": "10.0.0.0/16", "url": "https://a.b:81/c?d=e", "v": "1.2.3-rc.1",
        "dur": "90s", "ts": "2024-05-06T07:08:09.123Z", "re": "^[a-z]+", "num": "42",
    });
    let Value::Object(object) = &mut members else {
        return members;
    };
    for _ in 0..dice.below(4) {
        let names: Vec<String> = object.keys().cloned().collect();
        let Some(name) = dice.pick(&names) else {
            continue;
        };
        match dice.chance(50) {
            true => {
                object.remove(name);
            }
            false => {
                object.insert(name.clone(), any(dice));
            }
        }
    }
    members
}

fn any(dice: &mut Dice) -> Value {
    match dice.below(9) {
        0 => Value::Null,
        1 => json!(dice.chance(50)),
        2 => text(dice),
        3 => double(dice),
        4 => list(dice, int),
        5 => json!({"a": int(dice), "b": text(dice)}),
        6 => json!([{"a": 1}, [text(dice)]]),
        _ => int(dice),
    }
}

fn list(dice: &mut Dice, of: fn(&mut Dice) -> Value) -> Value {
    let length = *dice.pick(&[0, 1, 2, 3, 3, 5, 9]).unwrap_or(&3);
    (0..length).map(|_| of(dice)).collect()
}

fn int(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => json!(i64::MAX),
        1 => json!(i64::MIN),
        2 => json!(9_007_199_254_740_993_i64),
        3 => json!(9_223_372_036_854_775_808_u64),
        _ => json!(dice.below(12) as i64 - 3),
    }
}

fn double(dice: &mut Dice) -> Value {
    let of = dice.pick(&[0.5, 1.0, 2.5, -1.5, 1e21, 1e-7, -0.0, 3.0, 123456.789]);
    json!(of.copied().unwrap_or(1.0))
}

fn text(dice: &mut Dice) -> Value {
    const TEXTS: &[&str] = &[
        "",
        "a",
        "b",
        "hello world, this is rather long",
        "HELLO",
        "a,b,c",
        "10.0.0.1",
        "1",
        "true",
        "é日",
        "x\ty",
        "1Gi",
        "\u{301}",
        "a/b~c",
        "  pad ",
        "2024-01-01T00:00:00Z",
        "1h",
        "quote\"s'",
        "%s",
        "\u{0}",
        "web",
    ];
    json!(dice.pick(TEXTS).copied().unwrap_or_default())
}

fn namespace(dice: &mut Dice) -> Value {
    let full = json!({
        "metadata": {
            "name": "default", "labels": {"env": "prod", "a": "b"}, "annotations": {"note": text(dice)},
            "creationTimestamp": "2024-01-01T00:00:00Z", "uid": "u-1", "generation": 3, "resourceVersion": "7",
            "finalizers": ["x/y"],
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active", "conditions": [{"type": "Ready", "status": "True"}]},
    });
    match dice.chance(60) {
        true => full,
        false => json!({"metadata": {"name": "default"}}),
    }
}

/// A request; where it has no name, that of the object counts.
fn request(dice: &mut Dice, unnamed: bool) -> Value {
    let operation = dice.pick(&["CREATE", "UPDATE", "DELETE", "CONNECT"]).copied();
    let mut request = json!({
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "name": "web-1", "namespace": "default", "operation": operation,
        "userInfo": {"username": "ann", "uid": "42", "groups": ["dev", "ops"], "extra": {"k": ["v", "w"]}},
        "dryRun": dice.chance(20),
    });
    let Value::Object(members) = &mut request else {
        return request;
    };
    if dice.chance(30) {
        members.insert("subResource".to_owned(), json!("status"));
    }
    if dice.chance(40) {
        members.insert(
            "options".to_owned(),
            json!({"kind": "CreateOptions", "fieldManager": "kubectl"}),
        );
    }
    for name in ["name", "namespace", "userInfo", "kind", "operation"] {
        if dice.chance(8) && (unnamed || name != "name") {
            members.remove(name);
        }
    }
    request
}

fn rules(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!([]),
        1 => json!([{"verb": "get", "reason": "because"}]),
        2 => json!([{"path": "/healthz"}, {"resource": "deployments", "error": "no \"answer\""}]),
        _ => json!([{"user": "ann", "resource": "deployments"}, {"name": "web-1", "reason": text(dice)}]),
    }
}
