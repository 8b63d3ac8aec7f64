//! Random values of a request: their values while a case runs, and their placeholders in recordings.

use std::ops::Range;

use pratique_registry::Placeholders;
use serde_json::{Value, json};

/// Values that replace random ones while a case runs, and their placeholders in recordings.
pub(super) const RANDOM: [(&str, &str); 6] = [
    ("11111111-2222-4333-8444-555555555555", "<uid>"),
    ("2026-01-02T03:04:05Z", "<time>"),
    ("zzzzz", "<random>"),
    ("10.96.77.77", "<ip>"),
    ("random-token", "<token>"),
    ("777777", "<version>"),
];

/// The node ports that replace random ones.
const PORTS: Range<i64> = 31_777..31_800;

/// The values for the registry.
pub(super) fn placeholders() -> Placeholders {
    let [uid, time, suffix, ip, token, _] = RANDOM.map(|(value, _)| value.to_owned());
    Placeholders {
        uid,
        time,
        name_suffix: suffix,
        cluster_ip: ip,
        node_port: PORTS.start.into(),
        audience: "https://oracle.invalid".to_owned(),
        token,
        ..Placeholders::default()
    }
}

/// Replaces the placeholders of a text by the values of this run.
pub(super) fn concrete(text: &str) -> String {
    RANDOM.iter().fold(text.to_owned(), |text, (value, placeholder)| {
        text.replace(placeholder, value)
    })
}

/// Replaces the values of this run by the placeholders of recordings.
pub(super) fn recorded(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let masked_text = RANDOM.iter().fold(text, |text, (value, placeholder)| {
                text.replace(value, placeholder)
            });
            Value::String(masked_text)
        }
        Value::Number(number) if number.as_i64().is_some_and(|port| PORTS.contains(&port)) => json!("<port>"),
        Value::Array(elements) => elements.into_iter().map(recorded).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| match name.as_str() {
                // Versions are random, also in the body of a request.
                "resourceVersion" if value != "" => (name, json!("<version>")),
                _ => (name, recorded(value)),
            });
            Value::Object(members.collect())
        }
        other => other,
    }
}
