//! Runs admission plugins: on single requests, and on recorded cases with the answers of an API server.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::{
    Effects, Plugin, PluginContext, PluginFactory, PluginSettings, Rejection, StateObjects,
};
use pratique_schema::FeatureGates;
use pratique_types::AdmissionRequest;
use serde_json::{Map, Value as Json, json};

/// Runs the recorded cases of a file through the validating half of a plugin. Objects are as they were recorded after
/// decoding.
///
/// # Panics
/// An outcome differs from the recorded one, or the file is not a list of cases.
pub fn check_plugin_cases(factory: &PluginFactory, path: &Path) {
    let text = std::fs::read_to_string(path).expect("the cases");
    let cases: Vec<Json> = serde_json::from_str(&text).expect("a list of cases");
    assert!(cases.len() > 50, "there are few cases in {}", path.display());
    let differing: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let differences = check_case(factory, case).into_iter();
            differences.map(|difference| format!("{}: {difference}", case["name"]))
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Runs the validating half of a plugin on a request, over objects of a cluster.
///
/// # Errors
/// The rejection of the plugin.
pub fn validate(
    plugin: &dyn Plugin,
    cluster: &StateObjects,
    request: &AdmissionRequest<'_>,
) -> Result<Effects, Rejection> {
    let mut effects = Effects::default();
    plugin
        .validate(
            &Attributes::from(request),
            &PluginContext::new(cluster),
            &mut effects,
        )
        .map(|()| effects)
}

/// Runs a case; returns the differences from the recorded outcome.
fn check_case(factory: &PluginFactory, case: &Json) -> Vec<String> {
    let expected = match &case["expect"] {
        Json::Array(expected) => expected.clone(),
        expected => vec![expected.clone()],
    };
    let configuration = case["config"]
        .as_object()
        .and_then(|config| config.values().next());
    let configuration = configuration.and_then(Json::as_str).map(str::as_bytes);
    let gates = FeatureGates::default();
    let plugin = match factory.start(&PluginSettings::new(gates).with_configuration(configuration)) {
        Ok(plugin) => plugin,
        Err(error) => {
            let error = error.of_plugin(factory.handler.name);
            return differences(
                expected.first().unwrap_or(&Json::Null),
                &json!({ "loadError": error }),
            );
        }
    };
    let mut cluster = StateObjects::whole();
    for object in case["objects"].as_array().into_iter().flatten() {
        let inserted = cluster.insert(value(object));
        assert!(inserted.is_ok(), "an object has no name");
    }
    let requests = match case["requests"].as_array() {
        Some(requests) => requests.clone(),
        None => vec![case["request"].clone()],
    };
    let mut differing = Vec::new();
    for (request, expected) in requests.iter().zip(&expected) {
        let mut effects = Effects::default();
        let outcome = run(&*plugin, request, expected, &cluster, &mut effects);
        differing.extend(differences(expected, &outcome));
        cluster.apply(&effects);
    }
    differing
}

/// Runs one request; the outcome has the form of recorded ones.
fn run(
    plugin: &dyn Plugin,
    request: &Json,
    expected: &Json,
    cluster: &StateObjects,
    effects: &mut Effects,
) -> Json {
    let mut request = request.clone();
    if let Some(members) = request.as_object_mut() {
        members.remove("at");
        members.insert("uid".to_owned(), json!("u"));
        if let Some(defaulted) = expected.get("defaulted") {
            members.insert("object".to_owned(), defaulted.clone());
        }
    }
    let text = request.to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).expect("a request");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let context = PluginContext::new(cluster).at(now.unwrap_or(Duration::ZERO));
    let attributes = Attributes::from(&request);
    let result = if plugin.handler().operations.contain(request.operation) {
        plugin.validate(&attributes, &context, effects)
    } else {
        Ok(())
    };
    outcome(&result, effects)
}

fn outcome(result: &Result<(), Rejection>, effects: &Effects) -> Json {
    let mut outcome = Map::new();
    outcome.insert("allowed".to_owned(), json!(result.is_ok()));
    if let Err(rejection) = result {
        let status = rejection.status().map(|status| {
            let mut status = serde_json::to_value(status).expect("a status");
            if let Some(members) = status.as_object_mut() {
                members.remove("status");
                members.remove("metadata");
            }
            status
        });
        outcome.insert("status".to_owned(), status.unwrap_or_else(|| json!("undecided")));
    }
    if !effects.warnings.is_empty() {
        outcome.insert("warnings".to_owned(), json!(effects.warnings));
    }
    let annotations: BTreeMap<_, _> = effects.audit_annotations().iter().cloned().collect();
    if !annotations.is_empty() {
        outcome.insert("auditAnnotations".to_owned(), json!(annotations));
    }
    let booked = effects.booked.iter().map(|booked| {
        let used = booked.status.get("used").cloned().unwrap_or_default();
        json!({"namespace": booked.namespace, "name": booked.name, "used": Json::from(used)})
    });
    let booked: Vec<Json> = booked.collect();
    if !booked.is_empty() {
        outcome.insert("booked".to_owned(), Json::Array(booked));
    }
    Json::Object(outcome)
}

/// The differences, field by field. Of messages that depend on the order of a map any recorded one is right.
fn differences(expected: &Json, actual: &Json) -> Vec<String> {
    let fields = [
        "loadError",
        "allowed",
        "status",
        "warnings",
        "auditAnnotations",
        "booked",
    ];
    let differ = fields.into_iter().filter(|field| {
        let (expected_field, found_field) = (&expected[field], &actual[field]);
        let texts = expected["texts"].as_array();
        let is_text = |text: &Json| texts.is_some_and(|texts| texts.contains(text));
        let is_message = *field == "status" && is_text(&found_field["message"]) && {
            let mut other = found_field.clone();
            if let Some(message) = other.get_mut("message") {
                *message = expected_field["message"].clone();
            }
            other == *expected_field
        };
        expected_field != found_field && !is_message && !is_text(found_field)
    });
    differ
        .map(|field| format!("{field}:\n  want {}\n  have {}", expected[field], actual[field]))
        .collect()
}

fn value(object: &Json) -> Value<'static> {
    Value::try_from(object).expect("a value").into_owned()
}
