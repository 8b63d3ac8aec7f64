//! The suite `phases`: the objects that mutating and validating admission get for a request, and the object that is stored.
//!
//! Requests go through `pratique-registry` alone, and through the default plugins where the recording server had them.
//! Objects that exist before the request are created in the same way. Refusals by the server's validation of built-in kinds
//! are not simulated: such a case is skipped if the input of mutating admission is right. Custom resources are those of the
//! definitions among the objects that exist before, and those of the recording server ([`definitions`]).

mod before;
mod compare;
mod plugins;
mod random;

use pratique_harness::{ToolError, with};
use pratique_objects::ObjectCodec;
use pratique_plugin::{Effects, Stage};
use pratique_registry::{
    Attributes, CustomResources, FieldValidation, Kinds, Refusal, Registry, Request, Store, Target, Verb,
};
use pratique_schema::FeatureGates;
use pratique_types::{GroupVersion, GroupVersionKind, Status, UserInfo};
use serde_json::{Map, Value, json};

use self::before::StoredObjects;
use self::compare::compare;
use self::plugins::CasePlugins;
use self::random::{concrete, placeholders, recorded};
use super::fixture::json_value;
use super::{CaseOutcome, release_of};

/// The definitions of the recording server. Cases do not contain them: they are reconstructed from the cases, so that
/// fields which occur in no case are missing here.
const DEFINITIONS: &str = include_str!("../data/definitions.json");

/// The custom resources of the recording server.
fn definitions() -> Result<CustomResources, ToolError> {
    let mut resources = CustomResources::default();
    let definitions: Vec<Value> = serde_json::from_str(DEFINITIONS).map_err(|error| error.to_string())?;
    for definition in &definitions {
        serve(&mut resources, definition)?;
    }
    Ok(resources)
}

fn serve(resources: &mut CustomResources, definition: &Value) -> Result<(), ToolError> {
    let served = resources.serve(&json_value(definition));
    served
        .map(drop)
        .map_err(|error| format!("definition: {error}").into())
}

/// The user who recorded the cases.
fn administrator() -> UserInfo {
    UserInfo {
        username: "admin".to_owned(),
        uid: "uid-admin".to_owned(),
        groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        ..UserInfo::default()
    }
}

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    match answer(case) {
        Ok((actual, is_custom)) => compare(&case["expect"], recorded(actual), is_custom),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}

/// The input of admission and the answer, in the form of an expectation, and whether the object is a custom resource.
fn answer(case: &Value) -> Result<(Value, bool), ToolError> {
    let placeholders = placeholders();
    let gates = FeatureGates::new(release_of(case));
    let builtin = ObjectCodec::with_placeholder(placeholders.time.clone()).with_gates(gates);
    let mut custom = definitions()?.with_release(gates.release());
    let mut stored = StoredObjects::default();
    for object in case["before"].as_array().into_iter().flatten() {
        let scheme = Kinds {
            builtin: &builtin,
            custom: &custom,
        };
        let plugins = plugins::read_plugins(case, &stored, administrator(), gates)?;
        before::create(&scheme, &placeholders, &mut stored, object, plugins.as_ref())?;
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
        release: Some(gates.release().version()),
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
    let plugins = plugins::read_plugins(case, &stored, user(case), gates)?;
    let actual = observe(&registry, request, &target, plugins.as_ref(), gates);
    Ok((actual, target.custom.is_some()))
}

/// Sends a request, and collects the input of admission and the answer.
fn observe(
    registry: &Registry<'_>,
    request: Request<'_>,
    target: &Target,
    plugins: Option<&CasePlugins>,
    gates: FeatureGates,
) -> Value {
    let mut actual = Map::new();
    let mut messages = Vec::new();
    // Webhooks are not called for the configuration of admission, nor for what is not stored.
    let (group, resource) = (&target.resource.group, &target.resource.resource);
    let has_plugins =
        group != "admissionregistration.k8s.io" && !pratique_exclusion::is_virtual(group, resource);
    let verb = request.verb;
    let outcome = registry.receive(request).and_then(|received| {
        let mut received = received;
        if let Some(plugins) = plugins {
            messages.extend(warnings_of(plugins.admit(&mut received.attributes))?);
        }
        if has_plugins {
            actual.insert("mutatingSees".to_owned(), review(&received.attributes));
        }
        let created = received.attributes.operation == pratique_types::Operation::Create;
        let prepared = registry.prepare(received)?;
        let configured = pratique_exclusion::registry_check(
            prepared.attributes.operation,
            &prepared.attributes.kind,
            &prepared.attributes.object,
            gates,
        );
        messages.extend(configured.map_err(|status| Refusal {
            status,
            warnings: prepared.warnings.clone(),
        })?);
        if let Some(plugins) = plugins {
            for stage in [Stage::BeforeDynamic, Stage::AfterDynamic] {
                messages.extend(warnings_of(plugins.validate(stage, &prepared.attributes))?);
            }
        }
        Ok((created, prepared))
    });
    match outcome {
        Ok((created, prepared)) => {
            if has_plugins {
                actual.insert("validatingSees".to_owned(), review(&prepared.attributes));
            }
            messages.extend(prepared.warnings);
            actual.insert("warnings".to_owned(), json!(messages));
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

/// The warnings of plugins, or the refusal.
fn warnings_of(answer: Result<Effects, Box<Status>>) -> Result<Vec<String>, Refusal> {
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
    let members = [
        ("object", Value::from(attributes.object.clone())),
        ("oldObject", Value::from(attributes.old_object.clone())),
        ("name", json!(attributes.name)),
        ("namespace", json!(attributes.namespace)),
        ("subResource", json!(attributes.subresource)),
    ];
    let members = members.into_iter();
    with(
        review,
        members.filter(|(_, value)| !value.is_null() && value != ""),
    )
}

fn kind_of(object: &Value) -> Result<GroupVersionKind, ToolError> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let version = GroupVersion::parse(text("apiVersion")).map_err(|error| error.to_string())?;
    Ok(version.with_kind(text("kind")))
}

fn collection(
    custom: &CustomResources,
    kind: &GroupVersionKind,
    namespace: Option<&str>,
) -> Result<Target, ToolError> {
    let namespace = namespace.unwrap_or("default");
    Target::collection(kind, namespace)
        .or_else(|| custom.collection(kind, namespace))
        .ok_or_else(|| format!("no resource of {kind}").into())
}

fn target(custom: &CustomResources, case: &Value) -> Result<Target, ToolError> {
    if let Some(path) = case["path"].as_str() {
        let target = Target::parse(path).or_else(|| custom.target(path));
        return target.ok_or_else(|| format!("{path}: no such resource").into());
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

fn verb(case: &Value) -> Result<Verb, ToolError> {
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
        (operation, _) => return Err(format!("operation {operation:?} is not known").into()),
    })
}

/// The user of a case, who is the one that recorded it where the case does not say.
fn user(case: &Value) -> UserInfo {
    serde_json::from_value(case["user"].clone()).unwrap_or_else(|_| administrator())
}
