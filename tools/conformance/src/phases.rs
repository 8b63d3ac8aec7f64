//! The suite `phases`: what mutating and validating admission see of a request, and what is stored.
//!
//! Requests go through `pratique-registry` alone, and through the default plugins where the recording server had them. Objects that exist before were created the same way. Refusals by the
//! server's validation of built-in kinds are not simulated: such a case is skipped, once mutating admission saw what it should.
//! Custom resources are those of the definitions that a case has among the objects before, and those that the recording
//! server had ([`definitions`]).

mod plugins;

use std::collections::BTreeMap;

use pratique_harness::with;
use pratique_json as json;
use pratique_objects::Objects;
use pratique_plugin::{Effects, Stage};
use pratique_registry::{
    Attributes, CustomResources, FieldValidation, Kinds, Placeholders, Refusal, Registry, Request, Scheme,
    Store, Target, Verb,
};
use pratique_types::{GroupVersion, GroupVersionKind, Status, UserInfo};
use serde_json::{Map, Value, json};

use self::plugins::Plugins;
use super::Outcome;
use super::compare::same;
use super::fixture::json_value;

/// Objects by group, resource, namespace and name.
#[derive(Default)]
struct Stored(BTreeMap<[String; 4], json::Value<'static>>);

impl Store for Stored {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<json::Value<'static>> {
        let key = [group, resource, namespace, name].map(str::to_owned);
        self.0.get(&key).cloned()
    }
}

/// What stands for random values while a case runs, and what its recording replaced them by.
const RANDOM: [(&str, &str); 6] = [
    ("11111111-2222-4333-8444-555555555555", "<uid>"),
    ("2026-01-02T03:04:05Z", "<time>"),
    ("zzzzz", "<random>"),
    ("10.96.77.77", "<ip>"),
    ("random-token", "<token>"),
    ("777777", "<version>"),
];

/// A node port that is random.
const PORT: i64 = 31_777;

fn placeholders() -> Placeholders {
    let [uid, time, suffix, ip, token, _] = RANDOM.map(|(value, _)| value.to_owned());
    Placeholders {
        uid,
        time,
        name_suffix: suffix,
        cluster_ip: ip,
        node_port: PORT.into(),
        audience: "https://oracle.invalid".to_owned(),
        token,
    }
}

/// A value of a case as it is while the case runs.
fn concrete(text: &str) -> String {
    RANDOM
        .iter()
        .fold(text.to_owned(), |text, (value, shown)| text.replace(shown, value))
}

/// What came, as a recording shows it.
fn recorded(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let shown = RANDOM
                .iter()
                .fold(text, |text, (value, shown)| text.replace(value, shown));
            Value::String(shown)
        }
        Value::Number(number) if number.as_i64() == Some(PORT) => json!("<port>"),
        Value::Array(elements) => elements.into_iter().map(recorded).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| match name.as_str() {
                // Versions are random, those of a body are no exception.
                "resourceVersion" if value != "" => (name, json!("<version>")),
                _ => (name, recorded(value)),
            });
            Value::Object(members.collect())
        }
        other => other,
    }
}

/// The definitions of the recording server. Cases do not carry them: they are put together from what the cases show of
/// them, so that fields which no case shows are missing here.
const DEFINITIONS: &str = include_str!("../data/definitions.json");

/// The custom resources of the recording server.
fn definitions() -> Result<CustomResources, String> {
    let mut resources = CustomResources::default();
    let definitions: Vec<Value> = serde_json::from_str(DEFINITIONS).map_err(|error| error.to_string())?;
    for definition in &definitions {
        serve(&mut resources, definition)?;
    }
    Ok(resources)
}

fn serve(resources: &mut CustomResources, definition: &Value) -> Result<(), String> {
    let served = resources.serve(&json_value(definition));
    served.map(drop).map_err(|error| format!("definition: {error}"))
}

/// Who recorded the cases.
fn administrator() -> UserInfo {
    UserInfo {
        username: "admin".to_owned(),
        uid: "uid-admin".to_owned(),
        groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        ..UserInfo::default()
    }
}

pub(super) fn run_case(case: &Value) -> Outcome {
    match answer(case) {
        Ok((actual, is_custom)) => compare(&case["expect"], recorded(actual), is_custom),
        Err(why) => Outcome::failed(case, &why),
    }
}

/// What was seen and answered, in the form of an expectation.
fn answer(case: &Value) -> Result<(Value, bool), String> {
    let placeholders = placeholders();
    let builtin = Objects::at(placeholders.time.clone());
    let mut custom = definitions()?;
    let mut stored = Stored::default();
    for object in case["before"].as_array().into_iter().flatten() {
        let scheme = Kinds {
            builtin: &builtin,
            custom: &custom,
        };
        let plugins = plugins::of(case, &stored, administrator())?;
        create(&scheme, &placeholders, &mut stored, object, plugins.as_ref())?;
        if object["kind"] == "CustomResourceDefinition" {
            serve(&mut custom, object)?;
        }
    }
    let scheme = Kinds {
        builtin: &builtin,
        custom: &custom,
    };
    let registry = Registry {
        scheme: &scheme,
        store: &stored,
        placeholders: &placeholders,
        // The recording server did not know its own release.
        release: None,
    };
    let target = target(&custom, case)?;
    let body = match (case.get("body").and_then(Value::as_str), case.get("object")) {
        (Some(body), _) => body.to_owned(),
        (None, Some(object)) => object.to_string(),
        (None, None) => String::new(),
    };
    let body = concrete(&body);
    let request = Request {
        verb: verb(case)?,
        body: body.as_bytes(),
        user: user(case),
        field_manager: "oracle".to_owned(),
        dry_run: true,
        field_validation: match case["fieldValidation"].as_str() {
            Some("Strict") => Some(FieldValidation::Strict),
            Some("Ignore") => Some(FieldValidation::Ignore),
            Some(_) => Some(FieldValidation::Warn),
            None => None,
        },
        target: target.clone(),
        ..Request::default()
    };
    // The recording server had NamespaceLifecycle.
    let namespace = &target.namespace;
    let known = ["default", "kube-system", "kube-public", "kube-node-lease"].contains(&namespace.as_str())
        || stored.get("", "namespaces", "", namespace).is_some();
    if target.namespaced && !known {
        let message = format!("namespaces {namespace:?} not found");
        let answer = json!({"code": 404, "error": message, "warnings": []});
        return Ok((answer, target.custom.is_some()));
    }
    let plugins = plugins::of(case, &stored, user(case))?;
    let actual = seen(&registry, request, &target, plugins.as_ref());
    Ok((actual, target.custom.is_some()))
}

/// Sends a request and tells what was seen of it.
fn seen(registry: &Registry<'_>, request: Request<'_>, target: &Target, plugins: Option<&Plugins>) -> Value {
    let mut actual = Map::new();
    let mut told = Vec::new();
    // No webhook is shown the configuration of admission.
    let shown = target.resource.group != "admissionregistration.k8s.io";
    let verb = request.verb;
    let outcome = registry.receive(request).and_then(|received| {
        let mut received = received;
        if let Some(plugins) = plugins {
            told.extend(passed(plugins.admit(&mut received.attributes))?);
        }
        if shown {
            actual.insert("mutatingSees".to_owned(), review(&received.attributes));
        }
        let created = received.attributes.operation == pratique_types::Operation::Create;
        let prepared = registry.prepare(received)?;
        if let Some(plugins) = plugins {
            for stage in [Stage::BeforeDynamic, Stage::AfterDynamic] {
                told.extend(passed(plugins.validate(stage, &prepared.attributes))?);
            }
        }
        Ok((created, prepared))
    });
    match outcome {
        Ok((created, prepared)) => {
            if shown {
                actual.insert("validatingSees".to_owned(), review(&prepared.attributes));
            }
            told.extend(prepared.warnings);
            actual.insert("warnings".to_owned(), json!(told));
            if let Some(status) = prepared.refused {
                actual.insert("error".to_owned(), json!(status.message));
                actual.insert("code".to_owned(), json!(status.code));
                return Value::Object(actual);
            }
            actual.insert("stored".to_owned(), serde_json::Value::from(prepared.stored));
            let code = if created && verb != Verb::Delete { 201 } else { 200 };
            actual.insert("code".to_owned(), json!(code));
        }
        Err(Refusal { status, warnings }) => {
            actual.insert("error".to_owned(), json!(status.message));
            actual.insert("code".to_owned(), json!(status.code));
            let causes = status.details.into_iter().flat_map(|details| details.causes);
            let causes: Vec<Value> = causes
                .map(|cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field}))
                .collect();
            if status.code == 422 {
                actual.insert("causes".to_owned(), causes.into());
            }
            actual.insert("warnings".to_owned(), json!(warnings));
        }
    }
    Value::Object(actual)
}

/// The warnings of plugins, or their refusal.
fn passed(answer: Result<Effects, Box<Status>>) -> Result<Vec<String>, Refusal> {
    match answer {
        Ok(effects) => Ok(effects.warnings),
        Err(status) => Err(Refusal {
            status,
            warnings: Vec::new(),
        }),
    }
}

fn review(attributes: &Attributes) -> Value {
    let kind = &attributes.kind;
    let review = json!({
        "operation": attributes.operation.as_str(),
        "options": Value::from(attributes.options.clone()),
        "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
    });
    let told = [
        ("object", Value::from(attributes.object.clone())),
        ("oldObject", Value::from(attributes.old_object.clone())),
        ("name", json!(attributes.name)),
        ("namespace", json!(attributes.namespace)),
        ("subResource", json!(attributes.subresource)),
    ];
    let told = told.into_iter();
    with(review, told.filter(|(_, value)| !value.is_null() && value != ""))
}

/// Creates an object that exists before.
fn create(
    scheme: &Kinds<'_>,
    placeholders: &Placeholders,
    stored: &mut Stored,
    object: &Value,
    plugins: Option<&Plugins>,
) -> Result<(), String> {
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

/// Sends a request about an object that exists before, and stores the object.
fn store(
    scheme: &dyn Scheme,
    placeholders: &Placeholders,
    stored: &mut Stored,
    (verb, manager, target, object): (Verb, &str, &Target, &Value),
    plugins: Option<&Plugins>,
) -> Result<Value, String> {
    let registry = Registry {
        scheme,
        store: stored,
        placeholders,
        release: None,
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
    let refused = |refusal: Refusal| format!("before: {refusal}");
    let mut received = registry.receive(request).map_err(refused)?;
    if let Some(plugins) = plugins {
        passed(plugins.admit(&mut received.attributes)).map_err(refused)?;
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

fn kind_of(object: &Value) -> Result<GroupVersionKind, String> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let version = GroupVersion::parse(text("apiVersion")).map_err(|error| error.to_string())?;
    Ok(version.with_kind(text("kind")))
}

fn collection(
    custom: &CustomResources,
    kind: &GroupVersionKind,
    namespace: Option<&str>,
) -> Result<Target, String> {
    let namespace = namespace.unwrap_or("default");
    Target::collection(kind, namespace)
        .or_else(|| custom.collection(kind, namespace))
        .ok_or_else(|| format!("no resource of {kind}"))
}

fn target(custom: &CustomResources, case: &Value) -> Result<Target, String> {
    if let Some(path) = case["path"].as_str() {
        let target = Target::parse(path).or_else(|| custom.target(path));
        return target.ok_or_else(|| format!("{path}: no such resource"));
    }
    let object = &case["object"];
    let kind = kind_of(object)?;
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
    let mut target = collection(custom, &kind, namespace)?;
    if case["operation"] != "CREATE" {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        name.unwrap_or_default().clone_into(&mut target.name);
        if kind.kind == "Namespace" {
            target.namespace.clone_from(&target.name);
        }
    }
    Ok(target)
}

fn verb(case: &Value) -> Result<Verb, String> {
    Ok(match (case["operation"].as_str(), case["content"].as_str()) {
        (Some("CREATE"), _) => Verb::Create,
        (Some("UPDATE"), _) => Verb::Update,
        (Some("PATCH"), Some("application/json-patch+json")) => Verb::JsonPatch,
        (Some("PATCH"), Some("application/strategic-merge-patch+json")) => Verb::StrategicMergePatch,
        (Some("PATCH"), _) => Verb::MergePatch,
        (Some("APPLY"), _) => Verb::Apply {
            force: case["force"] == true,
        },
        (Some("DELETE"), _) => Verb::Delete,
        (operation, _) => return Err(format!("operation {operation:?} is not known")),
    })
}

fn user(case: &Value) -> UserInfo {
    serde_json::from_value(case["user"].clone()).unwrap_or_default()
}

/// The causes of an answer, and its message without the order of what it says of them.
fn sorted(answer: &Value) -> (Vec<String>, Vec<&str>) {
    let causes = answer.get("causes").and_then(Value::as_array);
    let mut causes: Vec<String> = causes.into_iter().flatten().map(Value::to_string).collect();
    causes.sort_unstable();
    let message = answer.get("error").and_then(Value::as_str).unwrap_or_default();
    let mut parts: Vec<&str> = message.split(['[', ']', ',']).map(str::trim).collect();
    parts.sort_unstable();
    (causes, parts)
}

/// Whether an answer is that the object is invalid.
fn is_invalid(answer: &Value) -> bool {
    answer.get("code").and_then(Value::as_u64) == Some(422)
}

/// The decision is everything but the texts of errors and warnings. Custom resources are validated.
fn compare(expect: &Value, actual: Value, is_custom: bool) -> Outcome {
    let field = |path: &str| same(expect.pointer(path), actual.pointer(path));
    let count = |of: &Value| of.get("warnings").and_then(Value::as_array).map_or(0, Vec::len);
    let sees = field("/mutatingSees");
    let invalid = !is_custom && is_invalid(expect) && !is_invalid(&actual);
    if invalid {
        // The server's own validation refuses it; what mutating admission saw is compared.
        let outcome = Outcome::new(sees, expect, actual);
        return if sees { outcome.skipped() } else { outcome };
    }
    let decision = sees
        && field("/validatingSees")
        && field("/stored")
        && field("/code")
        && count(expect) == count(&actual);
    let has_text = !same(expect.get("error"), None) || !same(expect.get("warnings"), None);
    let causes = field("/causes");
    let texts = match is_custom && !causes && sorted(expect) == sorted(&actual) {
        // The reference goes through the members of objects in no order.
        true => field("/warnings"),
        false => field("/error") && field("/warnings") && (causes || !is_custom),
    };
    let mut outcome = Outcome::new(decision, expect, actual);
    outcome.text = has_text.then_some(texts);
    outcome
}
