//! What differs between the answers of two servers, by the rules of `pratique upgrade`.

use std::collections::{BTreeMap, BTreeSet};

use pratique_harness::ToolError;
use serde_json::Value;

use super::definitions::PlacedObject;

/// The rules that the answers of servers tell of.
pub(super) const SERVED_RULES: [&str; 8] = [
    REMOVED, REFUSED, ALLOWED, OTHERWISE, UNKNOWN, KNOWN, CHANGED, DEPRECATED,
];
const REMOVED: &str = "removed-version";
const REFUSED: &str = "newly-refused";
const ALLOWED: &str = "newly-allowed";
const OTHERWISE: &str = "refused-otherwise";
const UNKNOWN: &str = "unknown-field";
const KNOWN: &str = "known-field";
const CHANGED: &str = "changed-object";
const DEPRECATED: &str = "deprecated-version";

/// A rule, by the servers and by ours.
#[derive(Default)]
pub(super) struct ComparedRule {
    servers: usize,
    ours: usize,
    /// How many differ for a reason that is known.
    known: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

/// Rules of kinds that differ, with the reasons.
const KNOWN_DIFFERENCES: [(&str, &str, &str); 1] = [(
    DEPRECATED,
    "ComponentStatus",
    "a server warns of a version where it serves it: none of these can be created",
)];

/// Why a rule differs for an object, if that is known.
fn reason(rule: &str, object: &Value) -> Option<&'static str> {
    let kind = object.get("kind").and_then(Value::as_str)?;
    let known = KNOWN_DIFFERENCES
        .iter()
        .find(|(of_rule, of_kind, _)| (*of_rule, *of_kind) == (rule, kind));
    known.map(|(_, _, reason)| *reason)
}

/// The rules that hold of an object by the answers of both servers, each with what shows it.
pub(super) fn answered_rules(old: &Value, new: &Value) -> BTreeMap<&'static str, String> {
    let mut rules = BTreeMap::new();
    if is_unserved(new) {
        if !is_unserved(old) {
            rules.insert(REMOVED, message(new));
        }
        return rules;
    }
    let [old_warnings, new_warnings] = [old, new].map(warnings);
    if let Some(text) = new_warnings.iter().find(|text| is_deprecation(text)) {
        rules.insert(DEPRECATED, (*text).to_owned());
    }
    let [old_fields, new_fields] = [&old_warnings, &new_warnings].map(|texts| unknown_fields(texts));
    if let Some(text) = new_fields.difference(&old_fields).next() {
        rules.insert(UNKNOWN, (*text).to_owned());
    }
    // A kind that is not served has no fields.
    if let (Some(text), false) = (old_fields.difference(&new_fields).next(), is_unserved(old)) {
        rules.insert(KNOWN, (*text).to_owned());
    }
    match [old, new].map(content) {
        [Some(_), None] => {
            rules.insert(REFUSED, message(new));
        }
        [None, Some(_)] => {
            rules.insert(ALLOWED, message(old));
        }
        [None, None] if message(old) != message(new) => {
            rules.insert(OTHERWISE, format!("{}; before: {}", message(new), message(old)));
        }
        // What follows from a field that only one of them knows is told there.
        [Some(old_object), Some(new_object)]
            if old_object != new_object && !rules.contains_key(UNKNOWN) && !rules.contains_key(KNOWN) =>
        {
            rules.insert(CHANGED, format!("{old_object}\n{new_object}"));
        }
        _ => {}
    }
    rules
}

impl ComparedRule {
    /// Adds an object of which servers say that a rule holds, or not; `ours` are all findings about it.
    pub(super) fn add(
        &mut self,
        rule: &str,
        object: &PlacedObject,
        servers: Option<&str>,
        ours: &[[String; 2]],
    ) {
        let finding = ours.iter().find(|[name, _]| name == rule);
        self.servers += usize::from(servers.is_some());
        self.ours += usize::from(finding.is_some());
        if servers.is_some() == finding.is_some() {
            return;
        }
        if let Some(reason) = reason(rule, &object.object) {
            *self.known.entry(reason).or_default() += 1;
            return;
        }
        let text = match servers {
            Some(text) => format!("the servers: {text}"),
            None => format!(
                "ours: {}",
                finding.map(|[_, text]| text.as_str()).unwrap_or_default()
            ),
        };
        self.differences.push(format!("{}: {text}", object.object));
    }

    pub(super) fn outcome(&self, most: usize) -> Result<String, ToolError> {
        let mut counts = format!("{} by the servers, {} by ours", self.servers, self.ours);
        for (reason, count) in &self.known {
            counts.push_str(&format!("\n{count} differ: {reason}"));
        }
        if self.differences.is_empty() {
            return Ok(counts);
        }
        let examples = self.differences.iter().take(most).cloned().collect::<Vec<_>>();
        Err(format!(
            "{counts}; {} differ, such as\n{}",
            self.differences.len(),
            examples.join("\n")
        )
        .into())
    }
}

/// The object that a server would store. How it counts its generations is not told.
fn content(answer: &Value) -> Option<Value> {
    let mut object = answer.get("object")?.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("generation");
    }
    Some(object)
}

/// Whether a server does not have the version of a kind.
fn is_unserved(answer: &Value) -> bool {
    let texts = [
        "404 page not found",
        "the server could not find the requested resource",
    ];
    answer.get("code") == Some(&404.into()) && texts.contains(&message(answer).as_str())
}

fn message(answer: &Value) -> String {
    let message = answer.pointer("/status/message").and_then(Value::as_str);
    message.unwrap_or_default().to_owned()
}

fn warnings(answer: &Value) -> Vec<&str> {
    let warnings = answer.get("warnings").and_then(Value::as_array);
    warnings.into_iter().flatten().filter_map(Value::as_str).collect()
}

// Upstream: apiserver/pkg/endpoints/deprecation/deprecation.go, WarningMessage
fn is_deprecation(text: &str) -> bool {
    text.contains(" is deprecated in v1.")
}

fn unknown_fields<'w>(warnings: &[&'w str]) -> BTreeSet<&'w str> {
    let fields = warnings.iter().filter(|text| text.starts_with("unknown field "));
    fields.copied().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(old: &Value, new: &Value, expected: &[&str]) {
        let rules = answered_rules(old, new);
        assert_eq!(rules.keys().copied().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn answers_tell_rules() {
        let allowed = json!({"code": 201, "object": {"a": 1}});
        let refused = json!({"code": 422, "status": {"message": "no"}});
        let unserved = json!({"code": 404, "status": {"message": "404 page not found"}});
        check(&allowed, &allowed, &[]);
        check(&allowed, &refused, &["newly-refused"]);
        check(&refused, &allowed, &["newly-allowed"]);
        check(&unserved, &allowed, &["newly-allowed"]);
        check(&allowed, &unserved, &["removed-version"]);
        check(
            &allowed,
            &json!({"code": 201, "object": {"a": 2}}),
            &["changed-object"],
        );
        let warned = json!({"code": 201, "object": {"a": 2}, "warnings": [
            "unknown field \"spec.x\"", "v1 Endpoints is deprecated in v1.33+",
        ]});
        check(&allowed, &warned, &["deprecated-version", "unknown-field"]);
        check(&warned, &allowed, &["known-field"]);
    }
}
