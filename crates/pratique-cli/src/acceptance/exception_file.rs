//! Reads exceptions: of a file of their own, or of the project file.

use std::sync::LazyLock;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_json::Value as JsonValue;
use pratique_manifest::{
    FileSchema, Location, ManifestFile, MappingFields, NodeId, ObjectSource, Problem, Rule, read_documents,
};
use pratique_match::Selector;
use pratique_state::API_VERSION;
use serde_json::{Value, json};

use super::exception::{PolicyException, ValidationName};
use crate::project::{self, shape};

/// The kind of a file of exceptions.
const KIND: &str = "Exceptions";

/// The struct of one exception.
pub(crate) const EXCEPTION: &str = "Exception";

/// The definitions of an exception, for the schemas of the files that have them.
pub(crate) fn definitions() -> [(&'static str, Value); 3] {
    let string = |about: &str| json!({ "type": "string", "description": about });
    let strings =
        |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    let exception = json!({
        "type": "object",
        "description": "Findings that are accepted for some objects, with a reason.",
        "additionalProperties": false,
        "required": ["policy", "reason"],
        "properties": {
            "policy": string("The policy, webhook or admission plugin."),
            "validation": {
                "type": ["string", "number"],
                "description": "Which of its validations: its message, its expression, or its place in the policy from 0, which moves with other validations. By default all.",
            },
            "kinds": strings("Kinds of objects; that of a workload stands for its Pods, too. By default all."),
            "namespaces": strings("Namespaces; `*` stands for any characters. By default all."),
            "names": strings("Names of objects; `*` stands for any characters. By default all."),
            "selector": {
                "allOf": [{ "$ref": "#/definitions/ExceptionSelector" }],
                "description": "Labels of objects, as a label selector of Kubernetes. By default any.",
            },
            "reason": string("Why they are accepted, for those who read the answer."),
            "until": string("The last day on which the exception holds: `2026-12-31`. By default there is none."),
        },
    });
    let selector = json!({
        "type": "object",
        "description": "A label selector.",
        "additionalProperties": false,
        "properties": {
            "matchLabels": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Labels with their values.",
            },
            "matchExpressions": {
                "type": "array",
                "items": { "$ref": "#/definitions/ExceptionRequirement" },
                "description": "Requirements of labels.",
            },
        },
    });
    let requirement = json!({
        "type": "object",
        "description": "A requirement of a label.",
        "additionalProperties": false,
        "required": ["key", "operator"],
        "properties": {
            "key": string("The label."),
            "operator": string("In, NotIn, Exists or DoesNotExist."),
            "values": strings("Values of the label."),
        },
    });
    [
        (EXCEPTION, exception),
        ("ExceptionSelector", selector),
        ("ExceptionRequirement", requirement),
    ]
}

/// The list of exceptions in a file.
pub(crate) fn list_schema() -> Value {
    json!({
        "type": "array",
        "items": { "$ref": format!("#/definitions/{EXCEPTION}") },
        "description": "Findings that `review` and `scan` accept for some objects: they are told, and do not fail.",
    })
}

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut definitions: serde_json::Map<String, Value> = definitions()
        .into_iter()
        .map(|(name, definition)| (name.to_owned(), definition))
        .collect();
    let file = json!({
        "type": "object",
        "description": "Exceptions of policies.",
        "additionalProperties": false,
        "required": ["apiVersion", "kind", "exceptions"],
        "properties": {
            "apiVersion": { "type": "string", "enum": [API_VERSION], "description": "The version of this format." },
            "kind": { "type": "string", "enum": [KIND], "description": "The kind of this format." },
            "exceptions": list_schema(),
        },
    });
    definitions.insert(KIND.to_owned(), file);
    json!({ "definitions": definitions })
});

static FORMAT: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(&DOCUMENT));

/// The exceptions of a file.
///
/// # Errors
/// All problems, with their places.
pub(super) fn exceptions(file: &ManifestFile) -> Result<Vec<PolicyException>, Vec<Problem>> {
    let documents = read_documents(file).map_err(|errors| errors.problems().cloned().collect::<Vec<_>>())?;
    let mut exceptions = Vec::new();
    let mut problems = Vec::new();
    for document in documents {
        problems.extend(document.duplicates);
        let source = &document.source;
        let is_project = fields(source, source.root()).read_text("kind").as_deref() == Some(project::KIND);
        problems.extend(if is_project {
            shape::FORMAT.problems(source, project::KIND)
        } else {
            FORMAT.problems(source, KIND)
        });
        if !problems.is_empty() {
            continue;
        }
        for id in fields(source, source.root()).list("exceptions") {
            match exception(source, id) {
                Ok(exception) => exceptions.push(exception),
                Err((field, why)) => {
                    let node = fields(source, id).node(field).unwrap_or(id);
                    let why = format!("`{field}`: {why}");
                    problems.push(Problem::new(Rule::InvalidField, why).at(location(source, node)));
                }
            }
        }
    }
    if problems.is_empty() {
        Ok(exceptions)
    } else {
        Err(problems)
    }
}

fn fields(source: &ObjectSource, id: NodeId) -> MappingFields<'_> {
    MappingFields {
        tree: source.tree(),
        id,
    }
}

fn location(source: &ObjectSource, id: NodeId) -> Location {
    source.document().location(source.tree().get(id).span)
}

/// The exception of a mapping that was validated.
///
/// # Errors
/// The field that is wrong, and why.
fn exception(source: &ObjectSource, id: NodeId) -> Result<PolicyException, (&'static str, String)> {
    let of = fields(source, id);
    let value = |name: &str| of.node(name).map(|id| fields(source, id).value_of());
    let validation = value("validation").map(|value| validation_name(&value));
    let validation = validation.transpose().map_err(|why| ("validation", why))?;
    let selector = value("selector").map(|value| selector(&value));
    let selector = selector.transpose().map_err(|why| ("selector", why))?;
    let until = of.read_text("until").map(day);
    let until = until.transpose().map_err(|why| ("until", why))?;
    let text = |name, why: &str| {
        let text = of.read_text(name).unwrap_or_default();
        let is_empty = text.trim().is_empty();
        if is_empty {
            Err((name, why.to_owned()))
        } else {
            Ok(text)
        }
    };
    // Of nothing, or of everything? What is to be accepted is said.
    let names = |name| {
        let names = of.texts(name);
        if names.is_empty() && of.node(name).is_some() {
            Err((name, "it has nothing: leave it out for all".to_owned()))
        } else {
            Ok(names)
        }
    };
    Ok(PolicyException {
        policy: text("policy", "it is empty: an exception names its policy")?,
        validation,
        kinds: names("kinds")?,
        namespaces: names("namespaces")?,
        names: names("names")?,
        selector,
        reason: text("reason", "it is empty: an exception says why it is one")?,
        until,
        location: location(source, id),
    })
}

fn validation_name(value: &JsonValue<'_>) -> Result<ValidationName, String> {
    match (value.as_int(), value.as_str()) {
        (Some(index), _) => usize::try_from(index)
            .map(ValidationName::Index)
            .map_err(|_| format!("{index} is no place in a list, which begins with 0")),
        (None, Some(message)) => Ok(ValidationName::new(message)),
        (None, None) => Err("expected a number, a message or an expression".to_owned()),
    }
}

fn selector(value: &JsonValue<'_>) -> Result<Selector, String> {
    let json = serde_json::to_value(value).map_err(|error| error.to_string())?;
    let selector: LabelSelector = serde_json::from_value(json).map_err(|error| error.to_string())?;
    Selector::compile(&selector).map_err(|error| error.to_string())
}

/// A day of the calendar: `2026-12-31`.
fn day(text: String) -> Result<String, String> {
    let mut numbers = text.split('-').map(|part| {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_plain)
    });
    let is_day = matches!(
        (numbers.next(), numbers.next(), numbers.next(), numbers.next()),
        (Some(Some(year)), Some(Some(month)), Some(Some(day)), None)
            if (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day)
    );
    if is_day && text.len() == "2026-12-31".len() {
        Ok(text)
    } else {
        Err(format!("{text:?} is no day: expected a date such as 2026-12-31"))
    }
}

fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<PolicyException>, Vec<String>> {
        let file = ManifestFile {
            path: "exceptions.yaml".to_owned(),
            content: format!("apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions:\n{text}")
                .into_bytes(),
        };
        exceptions(&file).map_err(|problems| problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn all_fields_are_read() {
        let all = read(
            "- policy: p\n  validation: 2\n  kinds: [Pod]\n  namespaces: [shop]\n  names: ['web-*']\n  \
             selector: {matchLabels: {a: b}}\n  reason: it moves\n  until: 2026-12-31\n\
             - {policy: q, validation: no tag, reason: r}\n",
        )
        .unwrap();
        assert_eq!(all[0].validation, Some(ValidationName::Index(2)));
        assert_eq!(all[0].until.as_deref(), Some("2026-12-31"));
        assert_eq!(all[0].place(), "exceptions.yaml:4:3");
        assert!(all[0].selector.is_some());
        assert_eq!(all[1].validation, Some(ValidationName::new("no tag")));
        assert!(!all[0].is_expired("2026-12-31") && all[0].is_expired("2027-01-01"));
    }

    #[test]
    fn faults_are_at_their_fields() {
        let file = ManifestFile {
            path: "exceptions.yaml".to_owned(),
            content: "apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions:\n- policy: p\n  reason: r\n  until: soon\n"
                .into(),
        };
        let problems = exceptions(&file).unwrap_err();
        let location = problems[0].location.as_ref().unwrap();
        assert_eq!((location.start.line, location.start.column), (6, 10));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, expected) in [
            ("- {policy: p, reason: ' '}\n", "`reason`: it is empty"),
            ("- {policy: '', reason: r}\n", "`policy`: it is empty"),
            ("- {policy: p, reason: r, names: []}\n", "`names`: it has nothing"),
            ("- {policy: p}\n", "reason"),
            ("- {policy: p, reason: r, until: 2026-02-29}\n", "is no day"),
            ("- {policy: p, reason: r, until: tomorrow}\n", "is no day"),
            (
                "- {policy: p, reason: r, validation: -1}\n",
                "is no place in a list",
            ),
            ("- {policy: p, reason: r, polcy: q}\n", "polcy"),
            (
                "- {policy: p, reason: r, selector: {matchExpressions: [{key: a, operator: Is}]}}\n",
                "`selector`",
            ),
        ] {
            let messages = read(text).unwrap_err();
            assert!(
                messages.iter().any(|message| message.contains(expected)),
                "{text}: {messages:?}"
            );
        }
    }
}
