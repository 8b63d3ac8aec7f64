//! JSON patches for an object, valid and not, as texts: keys may repeat, numbers may be spelt oddly.

use pratique_harness::RandomDice;
use serde_json::Value;

use crate::damage;
use crate::sketch::OF_POLICIES;

/// A patch for an object.
pub(super) fn patch(dice: &mut RandomDice, object: &Value) -> String {
    let count = *dice.pick(&[1, 1, 1, 1, 2, 2, 3]).unwrap_or(&1);
    let operations: Vec<String> = (0..count).map(|_| operation(dice, object)).collect();
    let separator = if dice.chance(10) { " ,\n" } else { "," };
    let patch = format!("[{}]", operations.join(separator));
    match dice.below(100) {
        0 => operations.first().cloned().unwrap_or_default(),
        1 => "null".to_owned(),
        2 => format!("{patch} "),
        3 => broken(&patch, dice),
        _ => patch,
    }
}

/// The operations of a patch that [`patch`] made, if it can be parsed.
pub(super) fn operations(patch: &str) -> Option<Vec<Value>> {
    let read: Value = serde_json::from_str(patch).ok()?;
    read.as_array().cloned()
}

fn operation(dice: &mut RandomDice, object: &Value) -> String {
    let op = if dice.chance(2) {
        OF_POLICIES.word("odd operation", dice)
    } else {
        OF_POLICIES.word("patch operation", dice)
    };
    let mut members = vec![
        format!("\"op\":{}", quoted(op, dice)),
        format!("\"path\":{}", quoted(&path(dice, object), dice)),
    ];
    if matches!(op, "add" | "replace") && dice.chance(75) {
        return fitting(dice, object, op);
    }
    let from = matches!(op, "copy" | "move") != dice.chance(2);
    if from {
        members.push(format!("\"from\":{}", quoted(&path(dice, object), dice)));
    }
    let value = matches!(op, "add" | "replace" | "test") != dice.chance(3);
    if value {
        let value = match op {
            "test" if dice.chance(60) => there(dice, object),
            _ => spelt(dice, object),
        };
        members.push(format!("\"value\":{value}"));
    }
    if dice.chance(2) && !members.is_empty() {
        let again = members
            .get(dice.below(members.len()))
            .cloned()
            .unwrap_or_default();
        members.push(again);
    }
    match dice.below(150) {
        0 => {
            let at = dice.below(members.len());
            members.remove(at);
        }
        1 => members.push("\"op\":null".to_owned()),
        2 => members.push("\"path\":3".to_owned()),
        3 => members.push("\"extra\":{}".to_owned()),
        4 => members.push("\"Value\":7".to_owned()),
        5 => members.push("\"from\":null".to_owned()),
        6 => return spelt(dice, object),
        7 => members.reverse(),
        _ => {}
    }
    format!("{{{}}}", members.join(","))
}

/// An operation that puts something of the kind that is there in the place of it, or something plain beside it.
fn fitting(dice: &mut RandomDice, object: &Value, op: &str) -> String {
    const BESIDE: &[(&str, &str)] = &[
        ("/metadata/annotations", "{\"a\":\"b\"}"),
        ("/metadata/labels", "{\"app\":\"web\",\"b\":\"\"}"),
        ("/metadata/finalizers", "[\"x/y\"]"),
        ("/metadata/deletionGracePeriodSeconds", "3e0"),
        ("/spec/hostNetwork", "true"),
        ("/spec/replicas", "3.0"),
        ("/data", "{\"x\":\"y\"}"),
        ("/spec/color", "\"red\""),
        ("/spec/limit", "[1.0,1e2,-0,null,{\"a\":1.50}]"),
        ("/status", "{}"),
    ];
    let at = path(dice, object);
    let there = object.pointer(&at).filter(|_| !at.is_empty());
    let (at, value) = match there {
        Some(Value::String(_)) => (at, "\"changed\"".to_owned()),
        Some(Value::Number(_)) => (
            at,
            dice.pick(&["7", "7.0", "1e1", "0"])
                .copied()
                .unwrap_or("7")
                .to_owned(),
        ),
        Some(Value::Bool(is)) => (at, (!is).to_string()),
        Some(Value::Array(elements)) => {
            let mut fewer = elements.clone();
            fewer.truncate(dice.below(elements.len() + 1));
            (at, Value::Array(fewer).to_string())
        }
        Some(Value::Object(members)) => {
            let fewer = members.iter().filter(|_| dice.chance(70));
            let fewer: serde_json::Map<_, _> =
                fewer.map(|(name, value)| (name.clone(), value.clone())).collect();
            (at, Value::Object(fewer).to_string())
        }
        _ => {
            let (at, value) = dice.pick(BESIDE).copied().unwrap_or_default();
            (at.to_owned(), value.to_owned())
        }
    };
    format!(
        "{{\"op\":\"{op}\",\"path\":{},\"value\":{value}}}",
        quoted(&at, dice)
    )
}

/// A text as JSON, now and then with escapes that need not be.
fn quoted(text: &str, dice: &mut RandomDice) -> String {
    let plain = Value::from(text).to_string();
    if dice.chance(3) {
        plain.replacen('a', "\\u0061", 1).replacen('/', "\\/", 1)
    } else {
        plain
    }
}

/// A path, mostly of something that is in the object, or beside it.
fn path(dice: &mut RandomDice, object: &Value) -> String {
    match dice.below(20) {
        0..5 => return OF_POLICIES.word("common path", dice).to_owned(),
        5 if dice.chance(50) => return OF_POLICIES.word("odd path", dice).to_owned(),
        _ => {}
    }
    let mut path = String::new();
    let mut at = object;
    let depth = 1 + dice.below(6);
    for _ in 0..depth {
        match at {
            Value::Object(members) if !members.is_empty() => {
                let names: Vec<&String> = members.keys().collect();
                let Some(name) = dice.pick(&names) else { break };
                path.push('/');
                path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                at = members.get(*name).unwrap_or(&Value::Null);
            }
            Value::Array(elements) if !elements.is_empty() => {
                let index = dice.below(elements.len());
                path.push_str(&format!("/{index}"));
                at = elements.get(index).unwrap_or(&Value::Null);
            }
            _ => break,
        }
    }
    if dice.chance(25) {
        let last = OF_POLICIES.word("last step", dice);
        path.push('/');
        path.push_str(last);
    }
    path
}

/// A part of the object.
fn there(dice: &mut RandomDice, object: &Value) -> String {
    let path = path(dice, object);
    object.pointer(&path).cloned().unwrap_or_default().to_string()
}

/// A value, with numbers and texts in any spelling.
fn spelt(dice: &mut RandomDice, object: &Value) -> String {
    if dice.chance(15) {
        there(dice, object)
    } else {
        OF_POLICIES.word("spelt value", dice).to_owned()
    }
}

/// A text with a mistake or two.
pub(super) fn broken(text: &str, dice: &mut RandomDice) -> String {
    damage::broken(text, (&OF_POLICIES, "broken JSON"), dice)
}
