//! Answers of servers and ours without what is different each time, compared.

use serde_json::Value;

/// The placeholder for the uid of an object.
pub(super) const UID: &str = "11111111-2222-4333-8444-555555555555";

/// The placeholder for the time of a request.
pub(super) const TIME: &str = "2026-01-02T03:04:05Z";

/// The code and the message of an answer.
pub(super) fn summary(answer: &Value) -> String {
    let message = answer.pointer("/status/message").and_then(Value::as_str);
    let code = answer.get("code").unwrap_or(&Value::Null);
    format!("{code} {}", message.unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// An answer without what is different each time.
pub(super) fn plain(mut answer: Value) -> Value {
    let random = |path: &str, constant| {
        let value = answer.pointer(path).and_then(Value::as_str);
        value.map(|value| (value.to_owned(), constant))
    };
    let random = [
        random("/object/metadata/uid", UID),
        random("/object/metadata/creationTimestamp", TIME),
    ];
    if let Some(Value::Object(metadata)) = answer.pointer_mut("/object/metadata") {
        for name in ["managedFields", "uid", "creationTimestamp", "resourceVersion"] {
            metadata.remove(name);
        }
        if let Some(prefix) = metadata.get("generateName").and_then(Value::as_str) {
            let name = format!("{prefix}xxxxx");
            metadata.insert("name".to_owned(), name.into());
        }
    }
    if let Some(Value::Array(warnings)) = answer.get_mut("warnings") {
        // Handlers of the server warn in an order of their own.
        warnings.sort_by_key(ToString::to_string);
    }
    constant(answer, &random.into_iter().flatten().collect::<Vec<_>>())
}

/// Random values are made the same everywhere: these, and the end of the name of the volume that ServiceAccount adds.
fn constant(value: Value, random: &[(String, &str)]) -> Value {
    const PREFIX: &str = "kube-api-access-";
    match value {
        Value::String(text) if text.starts_with(PREFIX) && text.len() == PREFIX.len() + 5 => {
            format!("{PREFIX}xxxxx").into()
        }
        Value::String(text) => {
            let known = random.iter().find(|(value, _)| *value == text);
            known.map_or(text.as_str(), |(_, constant)| constant).into()
        }
        Value::Array(elements) => elements
            .into_iter()
            .map(|value| constant(value, random))
            .collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, constant(value, random)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// Whether answers are equal. LimitRanger lists exceeded limits in the random order of a Go map.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    const MESSAGE: &str = "/status/message";
    let sorted = |answer: &Value| {
        let mut answer = answer.clone();
        if let Some(message) = answer.pointer_mut(MESSAGE) {
            let mut parts: Vec<&str> = message
                .as_str()
                .unwrap_or_default()
                .split([',', '[', ']'])
                .map(str::trim)
                .collect();
            parts.sort_unstable();
            *message = parts.join(",").into();
        }
        answer
    };
    one == other || sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_told_in_any_order() {
        let answer = |message: &str| json!({"code": 403, "status": {"message": message}});
        let first = answer(
            "p is forbidden: [maximum cpu is 1, but limit is 4, maximum memory is 1Gi, but limit is 4Gi]",
        );
        let other = answer(
            "p is forbidden: [maximum memory is 1Gi, but limit is 4Gi, maximum cpu is 1, but limit is 4]",
        );
        assert!(is_same(&first, &other));
        let another = answer(
            "p is forbidden: [maximum memory is 1Gi, but limit is 4Gi, maximum cpu is 1, but limit is 5]",
        );
        assert!(!is_same(&first, &another));
    }
}
