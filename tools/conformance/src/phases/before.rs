//! Objects that exist before the request of a case.

use std::collections::BTreeMap;

use pratique_harness::ToolError;
use pratique_json as json;
use pratique_registry::{Kinds, Placeholders, Refusal, Registry, Request, Scheme, Store, Target, Verb};
use serde_json::{Value, json};

use super::plugins::CasePlugins;
use super::random::{RANDOM, concrete};
use super::{administrator, collection, kind_of, warnings_of};
use crate::fixture::json_value;

/// Objects by group, resource, namespace and name.
#[derive(Default)]
pub(super) struct StoredObjects(BTreeMap<[String; 4], json::Value<'static>>);

impl StoredObjects {
    /// All objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = &json::Value<'static>> {
        self.0.values()
    }
}

impl Store for StoredObjects {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<json::Value<'static>> {
        let key = [group, resource, namespace, name].map(str::to_owned);
        self.0.get(&key).cloned()
    }
}

/// Creates an object.
pub(super) fn create(
    scheme: &Kinds<'_>,
    placeholders: &Placeholders,
    stored: &mut StoredObjects,
    object: &Value,
    plugins: Option<&CasePlugins>,
) -> Result<(), ToolError> {
    let kind = kind_of(object)?;
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
    let target = collection(scheme.custom, &kind, namespace)?;
    let is_definition = kind.kind == "CustomResourceDefinition";
    let (verb, manager) = (Verb::Create, "earlier");
    let object = store(
        scheme,
        placeholders,
        stored,
        (verb, manager, &target, object),
        plugins,
    )?;
    if is_definition {
        // The server's own controllers accept the names.
        let path = format!("/apis/{}/customresourcedefinitions/", kind.api_version());
        let name = object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let target = Target::parse(&format!("{path}{name}/status")).ok_or("before: no status")?;
        let (verb, manager) = (Verb::Update, "kube-apiserver");
        let established = established(object, &placeholders.time);
        store(
            scheme,
            placeholders,
            stored,
            (verb, manager, &target, &established),
            plugins,
        )?;
    }
    Ok(())
}

/// Sends a request, and stores its object.
fn store(
    scheme: &dyn Scheme,
    placeholders: &Placeholders,
    stored: &mut StoredObjects,
    (verb, manager, target, object): (Verb, &str, &Target, &Value),
    plugins: Option<&CasePlugins>,
) -> Result<Value, ToolError> {
    let registry = Registry {
        scheme,
        store: stored,
        placeholders,
        release: Some((1, 37)),
    };
    let body = concrete(&object.to_string());
    let request = Request {
        verb,
        target: target.clone(),
        user: administrator(),
        body: body.as_bytes(),
        field_manager: manager.to_owned(),
        ..Request::default()
    };
    let refused = |refusal: Refusal| ToolError::from(format!("before: {refusal}"));
    let mut received = registry.receive(request).map_err(refused)?;
    if let Some(plugins) = plugins {
        warnings_of(plugins.admit(&mut received.attributes)).map_err(refused)?;
    }
    let prepared = registry.prepare(received).map_err(refused)?;
    let mut object = Value::from(prepared.stored);
    let [.., (version, _)] = RANDOM;
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.insert("resourceVersion".to_owned(), json!(version));
    }
    let namespace = if target.namespaced {
        target.namespace.as_str()
    } else {
        ""
    };
    let resource = &target.resource;
    let key = [
        &resource.group,
        &resource.resource,
        namespace,
        &prepared.attributes.name,
    ];
    stored.0.insert(key.map(str::to_owned), json_value(&object));
    Ok(object)
}

/// A definition whose names are accepted.
fn established(definition: Value, time: &str) -> Value {
    let mut definition = definition;
    let names = definition.pointer("/spec/names").cloned().unwrap_or_default();
    let condition = |of_type: &str, reason: &str, message: &str| json!({"type": of_type, "status": "True", "reason": reason, "message": message, "lastTransitionTime": time});
    if let Some(Value::Object(status)) = definition.get_mut("status") {
        status.insert("acceptedNames".to_owned(), names);
        let accepted = condition("NamesAccepted", "NoConflicts", "no conflicts found");
        let message = "the initial names have been accepted";
        let established = condition("Established", "InitialNamesAccepted", message);
        status.insert("conditions".to_owned(), json!([accepted, established]));
    }
    definition
}
