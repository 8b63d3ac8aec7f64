//! A recorded case of policies as a request to the module, and its outcome in the answer.

use serde_json::{Map, Value, json};

/// The request. Cases are of the library alone, which leaves objects as they are.
pub(crate) fn request(case: &Value) -> Value {
    let policies = ["mutating", "validating"].iter().flat_map(|folder| {
        let files = case
            .pointer(&format!("/manifests/{folder}"))
            .and_then(Value::as_object);
        files
            .into_iter()
            .flatten()
            .map(move |(name, text)| json!({"path": format!("{folder}/{name}"), "text": text}))
    });
    let cluster = array(case, "objects").enumerate();
    let cluster = cluster
        .map(|(index, object)| json!({"path": format!("objects/{index}"), "text": object.to_string()}));
    let rules: Vec<Value> = case
        .pointer("/authorizer/allow")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(rule)
        .collect();
    json!({"evaluate": {
        "policies": policies.collect::<Vec<_>>(),
        "stored": case.get("apiObjects").cloned().unwrap_or_else(|| json!([])),
        "cluster": cluster.collect::<Vec<_>>(),
        "request": case.get("request"),
        "authorizer": json!({"authorizer": rules}).to_string(),
        "asGiven": true,
    }})
}

/// A rule of a case's authorizer in the form of suites; `None` for one that no check meets.
fn rule(given: &Value) -> Option<Value> {
    let text = |name: &str| {
        given
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    if text("version").is_some_and(|version| version != "*") {
        return None;
    }
    let resource = text("resource").map(|resource| match text("subresource") {
        Some(part) => format!("{resource}/{part}"),
        None => resource.to_owned(),
    });
    let mut rule = Map::new();
    let lists = [
        ("users", text("user")),
        ("verbs", text("verb")),
        ("apiGroups", text("group")),
        ("resources", resource.as_deref()),
        ("resourceNames", text("name")),
        ("namespaces", text("namespace")),
        ("nonResourceURLs", text("path")),
    ];
    for (name, value) in lists {
        if let Some(value) = value {
            rule.insert(name.to_owned(), json!([value]));
        }
    }
    for name in ["reason", "error"] {
        if let Some(value) = text(name) {
            rule.insert(name.to_owned(), value.into());
        }
    }
    rule.insert("allow".to_owned(), text("error").is_none().into());
    Some(Value::Object(rule))
}

/// The outcome in an answer, in the form of a case's expectation; an error where there is none.
pub(crate) fn outcome(answer: &Value) -> Result<Value, String> {
    let Some(decision) = answer.get("decision").and_then(Value::as_str) else {
        return Err(answer.to_string());
    };
    let mut outcome = json!({
        "allowed": decision == "allowed",
        "warnings": answer.get("warnings"),
        "auditAnnotations": answer.get("auditAnnotations"),
    });
    if let Some(members) = outcome.as_object_mut() {
        for name in ["status", "object"] {
            members.extend(answer.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        if let Some(Value::Object(status)) = members.get_mut("status") {
            status.remove("status");
            status.remove("metadata");
        }
    }
    Ok(outcome)
}

fn array<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
