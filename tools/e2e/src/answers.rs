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

/// The answer to an object that was sent, without what is different each time.
pub(super) fn plain(mut answer: Value, sent: &Value) -> Value {
    let sent_text = sent.to_string();
    let text = |path: &str| answer.pointer(path).and_then(Value::as_str);
    let random = |path: &str, constant: &str| {
        // What was sent is not random.
        let value = text(path).filter(|value| !value.is_empty() && !sent_text.contains(value));
        value.map(|value| (value.to_owned(), constant.to_owned()))
    };
    let member = |name: &str| sent.get("metadata")?.get(name)?.as_str();
    let prefix = member("generateName").filter(|_| member("name").is_none_or(str::is_empty));
    let named = prefix.map(|prefix| format!("{prefix}xxxxx")).unwrap_or_default();
    let name = ["/object/metadata/name", "/status/details/name"].map(|path| random(path, &named));
    let random = [
        random("/object/metadata/uid", UID),
        random("/object/metadata/creationTimestamp", TIME),
    ];
    let name = name.into_iter().flatten().filter(|_| prefix.is_some());
    let random: Vec<(String, String)> = random.into_iter().flatten().chain(name).collect();
    if let Some(Value::Object(metadata)) = answer.pointer_mut("/object/metadata") {
        for name in ["managedFields", "uid", "creationTimestamp", "resourceVersion"] {
            metadata.remove(name);
        }
    }
    if let Some(Value::Array(warnings)) = answer.get_mut("warnings") {
        // Handlers of the server warn in an order of their own.
        warnings.sort_by_key(ToString::to_string);
    }
    constant(answer, &|text| {
        let mut text = text.to_owned();
        for (value, constant) in &random {
            text = text.replace(value, constant);
        }
        without_uids(&text, &sent_text)
    })
}

/// How long a uid is.
const UID_LENGTH: usize = UID.len();

/// A text with the placeholder for the uids that were not sent: a refusal may tell the one that its object would have got.
fn without_uids(text: &str, sent: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let uid = rest
            .get(..UID_LENGTH)
            .filter(|part| is_uid(part) && !sent.contains(part));
        let length = uid.map_or(character.len_utf8(), str::len);
        let (start, end) = rest.split_at(length);
        plain.push_str(if uid.is_some() { UID } else { start });
        rest = end;
    }
    plain
}

/// Whether a text is a random uid: of the version 4.
fn is_uid(text: &str) -> bool {
    let mut bytes = text.bytes().enumerate();
    bytes.all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'4',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    })
}

/// A value with its texts made plain, and with the same end everywhere of the name of the volume that ServiceAccount adds.
fn constant(value: Value, plain_text: &dyn Fn(&str) -> String) -> Value {
    const PREFIX: &str = "kube-api-access-";
    match value {
        Value::String(text) if text.starts_with(PREFIX) && text.len() == PREFIX.len() + 5 => {
            format!("{PREFIX}xxxxx").into()
        }
        Value::String(text) => plain_text(&text).into(),
        Value::Array(elements) => elements
            .into_iter()
            .map(|value| constant(value, plain_text))
            .collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, constant(value, plain_text)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// Whether answers are equal. LimitRanger lists exceeded limits in the random order of a Go map, and so do some validations their
/// errors.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    const MESSAGE: &str = "/status/message";
    let sorted = |answer: &Value| {
        let mut answer = answer.clone();
        if let Some(Value::Array(causes)) = answer.pointer_mut("/status/details/causes") {
            causes.sort_by_key(ToString::to_string);
        }
        if let Some(message) = answer.pointer_mut(MESSAGE) {
            *message = in_order(message.as_str().unwrap_or_default()).into();
        }
        answer
    };
    one == other || sorted(one) == sorted(other)
}

/// The parts of a message in an order of their own: of its errors, and of the values that an error says are supported.
pub(crate) fn in_order(message: &str) -> String {
    const VALUES: &str = "supported values: ";
    let message = message.replace(VALUES, &format!("{VALUES},"));
    let mut parts: Vec<&str> = message.split([',', '[', ']']).map(str::trim).collect();
    parts.sort_unstable();
    parts.join(",")
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

    #[test]
    fn values_are_told_in_any_order() {
        let message =
            |values: &str| format!("[a.type: Unsupported value: \"x\": supported values: {values}, a.b: no]");
        assert_eq!(
            in_order(&message("\"C\", \"D\"")),
            in_order(&message("\"D\", \"C\""))
        );
        assert_ne!(
            in_order(&message("\"C\", \"D\"")),
            in_order(&message("\"D\", \"E\""))
        );
    }

    #[test]
    fn causes_are_told_in_any_order() {
        let answer = |fields: [&str; 2]| {
            let causes: Vec<Value> = fields.iter().map(|field| json!({"field": field})).collect();
            json!({"code": 422, "status": {"details": {"causes": causes}}})
        };
        assert!(is_same(&answer(["a", "b"]), &answer(["b", "a"])));
        assert!(!is_same(&answer(["a", "b"]), &answer(["a", "a"])));
    }

    #[test]
    fn what_is_random_is_made_the_same() {
        const SENT: &str = "9528919b-4639-4e40-aac5-acf78e7c7c42";
        const MADE: &str = "7aa24b67-4724-4e2a-8cff-5ff52ff3796f";
        let sent = json!({"metadata": {"generateName": "a-"}, "time": "2000-01-01T00:00:00Z", "of": SENT});
        let refused = |name: &str, uid: &str| {
            let message = format!("\"{name}\" of {SENT}: must be '{uid}'");
            json!({"status": {"message": message, "details": {"name": name}}})
        };
        assert_eq!(plain(refused("a-lgxhn", MADE), &sent), refused("a-xxxxx", UID));
        let created = |name: &str, time: &str| {
            let metadata =
                json!({"generateName": "a-", "name": name, "creationTimestamp": time, "uid": MADE});
            json!({"object": {"metadata": metadata, "since": time, "time": "2000-01-01T00:00:00Z"}})
        };
        let expected = |since: &str| {
            json!({"object": {"metadata": {"generateName": "a-", "name": "a-xxxxx"}, "since": since,
                "time": "2000-01-01T00:00:00Z"}})
        };
        assert_eq!(
            plain(created("a-bcdfg", "2026-01-01T00:00:01Z"), &sent),
            expected(TIME)
        );
        assert_eq!(
            plain(created("a-bcdfg", "2000-01-01T00:00:00Z"), &sent),
            expected("2000-01-01T00:00:00Z")
        );
    }
}
