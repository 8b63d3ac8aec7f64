//! The suite `validation`: what a server says of an object of a built-in kind before it stores it.
//!
//! A request goes through `pratique-registry` as far as the object is prepared, and then through `pratique-validation`. A kind
//! that has no rules there is answered as such, which is never right.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON values that are not there are null, and are made where they are set"
)]

use std::cell::Cell;

use pratique_gotext::net::Cidr;
use pratique_harness::ToolError;
use pratique_json as json;
use pratique_objects::ObjectCodec;
use pratique_registry::{
    Attributes, CustomResources, Kinds, Placeholders, Prepared, Refusal, Registry, Request, Store, Target,
    Verb,
};
use pratique_schema::FeatureGates;
use pratique_types::{GroupVersion, Operation, Status, UserInfo};
use pratique_validation::{Candidate, NamespaceView, Rejection, Validator};
use serde_json::{Value, json};

use super::fixture::json_value;
use super::{CaseOutcome, release_of};

/// The object that exists.
struct StoredObject(Option<json::Value<'static>>);

impl Store for StoredObject {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<json::Value<'static>> {
        self.0.clone()
    }

    fn has_everything(&self) -> bool {
        true
    }
}

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    match answer(case) {
        Ok(actual) => compare(case, actual),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}

/// Compares what is said of a case with its expectation.
pub(super) fn compare(case: &Value, actual: Value) -> CaseOutcome {
    let actual = sorted(case, actual);
    let expect = sorted(case, case["expect"].clone());
    let verdict = |of: &Value| {
        let status = &of["status"];
        (
            of["accepted"].clone(),
            status["code"].clone(),
            status["reason"].clone(),
        )
    };
    let decision = verdict(&expect) == verdict(&actual);
    let (expected, text) = (expect.to_string(), actual.to_string());
    CaseOutcome::new(decision, &expect, actual).compare_texts(Some(&expected), Some(&text))
}

/// What is said of the object of a case, in the form of its `expect`.
///
/// # Errors
/// The case names no resource.
pub fn answer(case: &Value) -> Result<Value, ToolError> {
    let uid = unused_uid(case);
    let placeholders = Placeholders {
        name_suffix: SUFFIX.to_owned(),
        uid: uid.to_owned(),
        cluster_ip: "10.0.0.1".to_owned(),
        cluster_ip_v6: String::new(),
        ..Placeholders::default()
    };
    let gates = FeatureGates::new(release_of(case));
    let builtin = ObjectCodec::with_placeholder(placeholders.time.clone())
        .with_gates(gates)
        .keeping_empty();
    let custom = CustomResources::default();
    let scheme = Kinds {
        builtin: &builtin,
        custom: &custom,
    };
    let target = target(case)?;
    let is_update = case["operation"] == "UPDATE";
    let old = case.get("oldObject");
    let stored = StoredObject(old.map(|old| stored_object(old, &target, gates)));
    let registry = Registry {
        scheme: &scheme,
        store: &stored,
        placeholders: &placeholders,
        release: Some(gates.release().version()),
    };
    let body = body(case).to_string();
    let request = Request {
        verb: if is_update { Verb::Update } else { Verb::Create },
        body: body.as_bytes(),
        user: user(case),
        dry_run: true,
        without_managed_fields: true,
        without_stored: true,
        without_name: true,
        target,
        ..Request::default()
    };
    let answer = observe(&registry, request, gates).unwrap_or_else(|refusal| {
        let warnings = refusal
            .warnings
            .into_iter()
            .filter(|warning| is_recorded(warning));
        refused(&refusal.status, &warnings.collect::<Vec<_>>())
    });
    Ok(hide_made(answer, uid))
}

/// A unique identifier for the created object that the case does not name itself.
fn unused_uid(case: &Value) -> &'static str {
    let text = case.to_string();
    let unused = UIDS.into_iter().find(|uid| !text.contains(uid));
    unused.unwrap_or(UIDS[0])
}

/// Writes what the server makes in a status as cases do.
fn hide_made(mut answer: Value, uid: &str) -> Value {
    if let Some(status) = answer.get_mut("status") {
        let text = status
            .to_string()
            .replace(SUFFIX, "<random>")
            .replace(uid, "<uid>");
        *status = serde_json::from_str(&text).unwrap_or_default();
    }
    answer
}

/// The object of the request, with the managed fields that a server takes instead of those that are sent, if these are such.
fn body(case: &Value) -> Value {
    let mut object = case["object"].clone();
    let sent = object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    let is_text = |entry: &Value| {
        let names = [
            "manager",
            "operation",
            "apiVersion",
            "time",
            "fieldsType",
            "subresource",
        ];
        let mut texts = names.iter().map(|name| &entry[name]);
        texts.all(|text| text.is_string() || text.is_null())
    };
    if sent.is_some_and(|entries| !entries.iter().all(is_text)) {
        return object;
    }
    let managed = case.pointer("/oldObject/metadata/managedFields");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match managed {
            Some(managed) => metadata.insert("managedFields".to_owned(), managed.clone()),
            None => metadata.remove("managedFields"),
        };
    }
    object
}

fn observe(registry: &Registry<'_>, request: Request<'_>, gates: FeatureGates) -> Result<Value, Refusal> {
    let received = registry.receive(request)?;
    let not_validated = Cell::new(None);
    let validate = |prepared: &Prepared| match validate_attributes(&prepared.attributes, gates) {
        Err(Rejection::Invalid(status)) => Err(status),
        Err(rejection @ (Rejection::NotValidated(_) | Rejection::Open(_))) => {
            not_validated.set(Some(rejection.to_string()));
            Ok(())
        }
        Ok(()) => Ok(()),
    };
    let prepared = registry.prepare_valid(received, &validate)?;
    if let Some(what) = not_validated.take() {
        return Ok(json!({"notValidated": what}));
    }
    let warnings = prepared.warnings.iter().filter(|warning| is_recorded(warning));
    let mut warnings: Vec<String> = warnings.cloned().collect();
    Ok(match &prepared.refused {
        Some(status) => refused(status, &warnings),
        None => {
            warnings.extend(configuration_warnings(&prepared.attributes, gates));
            with_warnings(json!({"accepted": true}), &warnings)
        }
    })
}

/// Whether recordings have a warning.
fn is_recorded(warning: &str) -> bool {
    !warning.starts_with(".metadata.managedFields was")
}

fn validate_attributes(attributes: &Attributes, gates: FeatureGates) -> Result<(), Rejection> {
    // They were recorded without a server that has namespaces.
    let no_namespace = format!(
        "Get \"http://127.0.0.1:1/api/v1/namespaces/{}?timeout=1s\": dial tcp 127.0.0.1:1: connect: connection refused",
        attributes.namespace
    );
    let candidate = Candidate::new(&attributes.kind, &attributes.object)
        .of_subresource(&attributes.subresource)
        .in_dry_run()
        .in_namespace(NamespaceView::Unreadable(&no_namespace));
    let networks = Cidr::parse("10.0.0.0/24").into_iter().collect();
    let validator = Validator::new()
        .with_gates(gates)
        .with_service_networks(networks)
        .with_kinds(pratique_apiextensions::DEFINITION_KINDS)
        .with_kinds(pratique_manifest::KIND_RULES)
        .with_device_expressions(pratique_expression::compile_device_expression);
    if attributes.operation == Operation::Update {
        validator.update(&candidate, &attributes.old_object)
    } else {
        validator.create(&candidate)
    }
}

/// What is warned of in a configuration of admission.
fn configuration_warnings(attributes: &Attributes, gates: FeatureGates) -> Vec<String> {
    let (operation, kind) = (attributes.operation, &attributes.kind);
    // Whatever is refused was refused before.
    pratique_exclusion::registry_check(operation, kind, &attributes.object, gates).unwrap_or_default()
}

/// The suffix of generated names, which cases write as `<random>`.
const SUFFIX: &str = "zzzzz";

/// Unique identifiers of created objects, which cases write as `<uid>`; the first is in recorded objects as well.
const UIDS: [&str; 2] = [
    "5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b",
    "5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5c",
];

fn refused(status: &Status, warnings: &[String]) -> Value {
    let mut status_json = json!({"code": status.code, "message": status.message});
    // A server's internal errors have none.
    if !status.reason.is_empty() {
        status_json["reason"] = status.reason.clone().into();
    }
    if let Some(details) = &status.details {
        let mut members = serde_json::Map::new();
        let texts = [
            ("name", &details.name),
            ("group", &details.group),
            ("kind", &details.kind),
        ];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            members.insert(name.to_owned(), json!(text));
        }
        let causes: Vec<Value> = details.causes.iter().map(cause).collect();
        if !causes.is_empty() {
            members.insert("causes".to_owned(), causes.into());
        }
        status_json["details"] = members.into();
    }
    with_warnings(json!({"status": status_json}), warnings)
}

fn cause(cause: &pratique_types::StatusCause) -> Value {
    let mut members = serde_json::Map::new();
    let texts = [
        ("reason", &cause.reason),
        ("message", &cause.message),
        ("field", &cause.field),
    ];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        members.insert(name.to_owned(), json!(text));
    }
    members.into()
}

fn with_warnings(mut answer: Value, warnings: &[String]) -> Value {
    if !warnings.is_empty() {
        answer["warnings"] = json!(warnings);
    }
    answer
}

/// Answers whose order is that of Go's maps are compared as sets; their message is that of the sorted causes.
fn sorted(case: &Value, mut answer: Value) -> Value {
    // Cases are recorded with empty details where the server's have nothing that is recorded.
    if let Some(details) = answer.pointer("/status/details")
        && details.as_object().is_some_and(serde_json::Map::is_empty)
        && let Some(status) = answer["status"].as_object_mut()
    {
        status.remove("details");
    }
    // The members of a case are sorted where it is read, and so are the unknown ones.
    if let Some(warnings) = answer.get_mut("warnings").and_then(Value::as_array_mut) {
        let is_unknown = |warning: &Value| {
            let text = warning.as_str().unwrap_or_default();
            text.starts_with("unknown field ")
        };
        for run in warnings.chunk_by_mut(|one, other| is_unknown(one) && is_unknown(other)) {
            run.sort_by_key(ToString::to_string);
        }
    }
    if case["expect"]["unordered"] != true && case["unordered"] != true {
        return answer;
    }
    if let Some(members) = answer.as_object_mut() {
        members.remove("unordered");
    }
    if let Some(status) = answer.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("message");
    }
    for pointer in ["/status/details/causes", "/warnings"] {
        if let Some(list) = answer.pointer_mut(pointer).and_then(Value::as_array_mut) {
            list.sort_by_key(ToString::to_string);
        }
    }
    answer
}

fn target(case: &Value) -> Result<Target, ToolError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = text(&case["resource"]);
    let (version, name) = resource.rsplit_once('/').ok_or("resource: no version")?;
    let root = if version.contains('/') { "apis" } else { "api" };
    let of = |object: &str, field: &str| text(&case[object]["metadata"][field]);
    let candidates = [
        text(&case["namespace"]),
        of("oldObject", "namespace"),
        of("object", "namespace"),
    ];
    let namespace = candidates.into_iter().find(|name| !name.is_empty());
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let object_name = match (case.get("urlName"), case.get("oldObject")) {
        (Some(name), _) => text(name),
        (None, Some(_)) => of("oldObject", "name"),
        (None, None) => String::new(),
    };
    // Names and namespaces of cases are not always those of a path: they are set afterwards.
    let part = match text(&case["subresource"]) {
        part if part.is_empty() && object_name.is_empty() => String::new(),
        part if part.is_empty() => "/x".to_owned(),
        part => format!("/x/{part}"),
    };
    let namespaced = Target::parse(&format!("/{root}/{version}/namespaces/x/{name}{part}"));
    let target = namespaced
        .filter(|target| target.namespaced)
        .or_else(|| Target::parse(&format!("/{root}/{version}/{name}{part}")));
    let mut target = target.ok_or_else(|| format!("{resource}{part}: no such resource"))?;
    if target.namespaced {
        target.namespace = namespace;
    } else if name == "namespaces" {
        target.namespace = object_name.clone();
    }
    target.name = object_name;
    Ok(target)
}

/// The object as it is stored.
fn stored_object(old: &Value, target: &Target, gates: FeatureGates) -> json::Value<'static> {
    let mut old = old.clone();
    if let Some(metadata) = old.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("resourceVersion").or_insert_with(|| json!("1"));
    }
    let of = |name: &str| old[name].as_str().unwrap_or_default().to_owned();
    // Where it does not say of which kind it is, it is of that of the request.
    let kind = GroupVersion::parse(&of("apiVersion"))
        .map_or_else(|_| target.kind.clone(), |version| version.with_kind(&of("kind")));
    let stored = json_value(&old);
    let builtin = ObjectCodec::with_placeholder("2000-01-01T00:00:00Z")
        .with_gates(gates)
        .keeping_empty();
    let text = old.to_string();
    let media_type = pratique_objects::MediaType::Json;
    let received = builtin.receive(
        text.as_bytes(),
        media_type,
        &kind,
        pratique_objects::FieldValidation::Ignore,
    );
    received.map_or(stored, |received| received.value.into_owned())
}

fn user(case: &Value) -> UserInfo {
    let user = &case["user"];
    let text = |name: &str| user[name].as_str().map(str::to_owned);
    let groups = user["groups"].as_array().map(|groups| {
        let texts = groups.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    });
    UserInfo {
        username: text("username").unwrap_or_else(|| "admin".to_owned()),
        uid: text("uid").unwrap_or_else(|| "uid-admin".to_owned()),
        groups: groups
            .unwrap_or_else(|| vec!["system:masters".to_owned(), "system:authenticated".to_owned()]),
        ..UserInfo::default()
    }
}
