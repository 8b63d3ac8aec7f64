//! The webhooks of a case: those of manifests, and those of the API with the defaults that it sets.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use pratique_expression::Cache;
use pratique_harness::ToolError;
use pratique_manifest::{ManifestFile, read_documents, yaml_as_json};
use pratique_webhook::{MutatingWebhooks, Origin, ValidatingWebhooks};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::super::release_of;
use super::runner::WebhookRunner;

/// The compiled webhooks, static ones first.
pub(super) struct ConfiguredWebhooks {
    pub(super) mutating: [MutatingWebhooks; 2],
    pub(super) validating: [ValidatingWebhooks; 2],
}

impl ConfiguredWebhooks {
    pub(super) fn new(runner: &WebhookRunner, case: &Value) -> Result<Self, ToolError> {
        let cache = Cache::new().of_release(release_of(case));
        let manifests = [
            manifests(runner, case.pointer("/manifests/mutating"))?,
            manifests(runner, case.pointer("/manifests/validating"))?,
        ];
        let api = case["configurations"].as_array().cloned().unwrap_or_default();
        let [mutating, validating] = &manifests;
        let mutating: Vec<MutatingWebhookConfiguration> = of_kind(mutating, MUTATING)?;
        let validating: Vec<ValidatingWebhookConfiguration> = of_kind(validating, VALIDATING)?;
        let api: Vec<Value> = api
            .iter()
            .map(|object| fill_addresses(runner, object))
            .collect::<Result<_, _>>()?;
        let api_mutating: Vec<MutatingWebhookConfiguration> = of_kind(&api, MUTATING)?;
        let api_validating: Vec<ValidatingWebhookConfiguration> = of_kind(&api, VALIDATING)?;
        Ok(ConfiguredWebhooks {
            mutating: [
                MutatingWebhooks::compile(&mutating, Origin::Static, &cache),
                MutatingWebhooks::compile(&api_mutating, Origin::Api, &cache),
            ],
            validating: [
                ValidatingWebhooks::compile(&validating, Origin::Static, &cache),
                ValidatingWebhooks::compile(&api_validating, Origin::Api, &cache),
            ],
        })
    }
}

const MUTATING: &str = "MutatingWebhookConfiguration";
const VALIDATING: &str = "ValidatingWebhookConfiguration";

/// The objects of a directory. They are not validated: many cases have objects that validation refuses.
fn manifests(runner: &WebhookRunner, files: Option<&Value>) -> Result<Vec<Value>, ToolError> {
    let mut objects = Vec::new();
    for (name, text) in files.and_then(Value::as_object).into_iter().flatten() {
        let extension = name.rsplit('.').next().unwrap_or_default();
        if !matches!(extension, "yaml" | "yml" | "json") {
            continue;
        }
        let file = ManifestFile {
            path: name.clone(),
            content: runner.fill(text.as_str().unwrap_or_default()).into_bytes(),
        };
        let documents = read_documents(&file).map_err(|errors| format!("does not load: {errors}"))?;
        for document in documents {
            let text = yaml_as_json(document.source.document().as_str().as_bytes());
            let text = text.map_err(|error| error.to_string())?;
            let object: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            match object.get("items").and_then(Value::as_array) {
                Some(items) => objects.extend(items.iter().map(|item| with_kind(item, &object))),
                None => objects.push(object),
            }
        }
    }
    Ok(objects)
}

/// An item of a list, with the kind that it inherits from the list.
fn with_kind(item: &Value, list: &Value) -> Value {
    let mut item = item.clone();
    let kind = list
        .get("kind")
        .and_then(Value::as_str)
        .and_then(|kind| kind.strip_suffix("List"));
    if let (Some(members), Some(kind)) = (item.as_object_mut(), kind) {
        members.entry("kind").or_insert(json!(kind));
    }
    item
}

fn fill_addresses(runner: &WebhookRunner, object: &Value) -> Result<Value, ToolError> {
    serde_json::from_str(&runner.fill(&object.to_string()))
        .map_err(|error| ToolError::from(error.to_string()))
}

fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Result<Vec<T>, ToolError> {
    let objects = objects.iter().filter(|object| object["kind"] == kind);
    let typed = objects.map(|object| {
        let mut object = object.clone();
        let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
        for webhook in webhooks.into_iter().flatten().filter_map(Value::as_object_mut) {
            set_defaults(webhook);
        }
        serde_json::from_value(object)
    });
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| ToolError::from(format!("{kind}: {error}")))
}

fn set_defaults(webhook: &mut Map<String, Value>) {
    let defaults = [
        ("failurePolicy", json!("Fail")),
        ("matchPolicy", json!("Equivalent")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
        ("timeoutSeconds", json!(10)),
    ];
    for (field, value) in defaults {
        webhook.entry(field).or_insert(value);
    }
}
