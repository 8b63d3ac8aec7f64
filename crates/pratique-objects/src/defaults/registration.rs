//! What extends the API: `admissionregistration`, `apiextensions`, `apiregistration`.

use pratique_json::{Object, Value};

use super::field::{absent, empty, is_empty, part, pointer, text};
use super::{Context, Function};

pub(super) fn function(group: &str, version: &str, name: &str) -> Option<Function> {
    Some(match (group, version, name) {
        (_, _, "ServiceReference") => |object, _| absent(object, "port", 443),
        (_, _, "MatchResources") => |object, _| match_resources(object, "Equivalent"),
        (_, _, "MutatingAdmissionPolicySpec" | "ValidatingAdmissionPolicySpec") => {
            |object, _| absent(object, "failurePolicy", "Fail")
        }
        (_, _, "ParamRef") => |object, _| absent(object, "parameterNotFoundAction", "Deny"),
        (_, _, "Rule") => |object, _| absent(object, "scope", "*"),
        (_, "v1beta1", "MutatingWebhook") => |object, _| {
            webhook_v1beta1(object);
            absent(object, "reinvocationPolicy", "Never");
        },
        (_, "v1beta1", "ValidatingWebhook") => |object, _| webhook_v1beta1(object),
        (_, _, "MutatingWebhook") => |object, _| {
            webhook(object);
            absent(object, "reinvocationPolicy", "Never");
        },
        (_, _, "ValidatingWebhook") => |object, _| webhook(object),
        ("apiextensions", "v1", "CustomResourceDefinition") => |object, _| {
            if let Some(spec) = part(object, "spec") {
                definition_spec(spec);
            }
            stored_versions(object);
        },
        ("apiextensions", "v1", "CustomResourceDefinitionSpec") => |object, _| definition_spec(object),
        ("apiextensions", _, "CustomResourceDefinition") => |object, _| {
            if let Some(spec) = part(object, "spec") {
                definition_spec_v1beta1(spec);
            }
            stored_versions(object);
        },
        ("apiextensions", _, "CustomResourceDefinitionSpec") => {
            |object: &mut Object<'_>, _: &Context<'_>| definition_spec_v1beta1(object)
        }
        _ => return None,
    })
}

fn match_resources(object: &mut Object<'_>, policy: &'static str) {
    absent(object, "matchPolicy", policy);
    absent(object, "namespaceSelector", Object::new());
    absent(object, "objectSelector", Object::new());
}

fn webhook(object: &mut Object<'_>) {
    absent(object, "failurePolicy", "Fail");
    match_resources(object, "Equivalent");
    absent(object, "timeoutSeconds", 10);
}

fn webhook_v1beta1(object: &mut Object<'_>) {
    absent(object, "failurePolicy", "Ignore");
    match_resources(object, "Exact");
    absent(object, "sideEffects", "Unknown");
    absent(object, "timeoutSeconds", 30);
    empty(object, "admissionReviewVersions", vec![Value::from("v1beta1")]);
}

fn definition_spec(spec: &mut Object<'_>) {
    if let Some(names) = part(spec, "names") {
        let kind = text(names, "kind").to_owned();
        // Go's lower case of a text is that of its letters, one by one.
        let singular: String = kind
            .chars()
            .map(|c| {
                let mut lower = c.to_lowercase();
                match (lower.next(), lower.next()) {
                    (Some(lower), None) => lower,
                    (Some('i'), Some(_)) => 'i',
                    _ => c,
                }
            })
            .collect();
        if !kind.is_empty() {
            empty(names, "singular", singular);
            empty(names, "listKind", format!("{kind}List"));
        }
    }
    let mut conversion = Object::new();
    conversion.insert("strategy", "None");
    absent(spec, "conversion", conversion);
}

fn definition_spec_v1beta1(spec: &mut Object<'_>) {
    empty(spec, "scope", "Namespaced");
    let version = text(spec, "version").to_owned();
    if !version.is_empty() {
        let mut first = Object::new();
        first.insert("name", version);
        first.insert("served", true);
        first.insert("storage", true);
        empty(spec, "versions", vec![Value::Object(first)]);
    }
    let first = spec
        .get("versions")
        .and_then(Value::as_array)
        .and_then(<[_]>::first);
    let name = first
        .and_then(|first| first.get("name"))
        .filter(|name| !name.is_empty());
    if let Some(name) = name.cloned() {
        empty(spec, "version", name);
    }
    definition_spec(spec);
    if let Some(conversion) = pointer(spec, "conversion")
        && text(conversion, "strategy") == "Webhook"
    {
        empty(
            conversion,
            "conversionReviewVersions",
            vec![Value::from("v1beta1")],
        );
    }
    absent(spec, "preserveUnknownFields", true);
}

fn stored_versions(object: &mut Object<'_>) {
    let versions = object.get("spec").and_then(|spec| spec.get("versions"));
    let mut versions = versions.and_then(Value::as_array).unwrap_or_default().iter();
    let stored = versions.find(|version| version.get("storage") == Some(&Value::Bool(true)));
    let name = stored.map(|version| version.get("name").cloned().unwrap_or_else(|| "".into()));
    if let (Some(name), Some(status)) = (name, part(object, "status"))
        && is_empty(status, "storedVersions")
    {
        status.insert("storedVersions", vec![name]);
    }
}
