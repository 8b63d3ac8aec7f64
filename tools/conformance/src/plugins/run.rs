//! Running the plugins of a case.

use std::time::Duration;

use pratique_harness::ToolError;
use pratique_json as json;
use pratique_plugin::{
    Attributes, Effects, MutableAttributes, PluginChain, PluginContext, PluginSettings, Rejection, Stage,
    StateKind, StateObjects, default_plugins_of,
};
use pratique_plugins::factory;
use pratique_schema::{FeatureGates, Release};
use pratique_typed::settle_object;
use pratique_types::{AdmissionRequest, GroupVersion, GroupVersionKind, ObjectForm, Operation};
use serde_json::{Map, Value, json};

use super::access::CaseReviewer;
use super::backend::FixedBackend;
use crate::fixture::json_value;
use crate::release_of;

/// The outcome of the plugins for a case, in the form of its expectation.
pub(super) fn answer(case: &Value) -> Result<Value, ToolError> {
    let chain = match start(case)? {
        Ok(chain) => chain,
        Err(error) => return Ok(json!({"loadError": error})),
    };
    let gates = gates(case)?;
    let mut state = StateObjects::whole();
    for object in elements(case, "objects") {
        // An object without a name is ignored.
        drop(state.insert(json_value(object)));
    }
    let reviewer: CaseReviewer = serde_json::from_value(case["authorizer"].clone()).unwrap_or_default();
    let backend = FixedBackend::new(case);
    let expect = &case["expect"];
    let mut run = |request: &Value, expect: &Value, at: f64| {
        let now = Duration::try_from_secs_f64(at).unwrap_or_default();
        let context = PluginContext::new(&state)
            .with_access(&reviewer)
            .with_images(&backend)
            .at(Duration::from_secs(EPOCH) + now);
        let (expectation, effects) = admit((&chain, gates), request, &expect["defaulted"], &context)?;
        state.apply(&effects);
        Ok(expectation)
    };
    match case["requests"].as_array() {
        None => run(&case["request"], expect, 0.0),
        Some(requests) => {
            let mut at = 0.0;
            let expectations = requests
                .iter()
                .enumerate()
                .map(|(index, _)| expect.get(index).unwrap_or(&Value::Null));
            let answers = requests.iter().zip(expectations).map(|(request, expect)| {
                at = request["at"].as_f64().unwrap_or(at);
                run(request, expect, at)
            });
            answers.collect::<Result<Vec<_>, ToolError>>().map(Value::Array)
        }
    }
}

/// When the sequences of the reference begin: 2026-01-01.
const EPOCH: u64 = 1_767_225_600;

/// The plugins of a case, or the error with which they do not start.
fn start(case: &Value) -> Result<Result<PluginChain, String>, ToolError> {
    let gates = gates(case)?;
    let release = gates.release();
    let names: Vec<&str> = match &case["plugins"] {
        Value::String(_) => default_plugins_of(release).collect(),
        names => names
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
    };
    let mut plugins = Vec::new();
    for name in names {
        let factory = factory(name).ok_or_else(|| format!("plugin {name} is not implemented"))?;
        let configuration = case["config"]
            .get(name)
            .and_then(Value::as_str)
            .map(str::as_bytes);
        let mut settings = PluginSettings::new(gates)
            .with_configuration(configuration)
            .with_kubeconfig_check(&check_kubeconfig);
        for (flag, seconds) in [
            (
                "default-not-ready-toleration-seconds",
                &mut settings.not_ready_toleration_seconds,
            ),
            (
                "default-unreachable-toleration-seconds",
                &mut settings.unreachable_toleration_seconds,
            ),
        ] {
            if let Some(value) = case["flags"].get(flag).and_then(Value::as_i64) {
                *seconds = value;
            }
        }
        match factory.start(&settings) {
            Ok(plugin) => plugins.push(plugin),
            Err(error) => return Ok(Err(error.of_plugin(name))),
        }
    }
    Ok(Ok(PluginChain::new(plugins)))
}

/// The release of the server of a case, with its feature gates.
fn gates(case: &Value) -> Result<FeatureGates, ToolError> {
    let version = case.pointer("/flags/kubernetes-version").and_then(Value::as_str);
    let release = version.map_or(Ok(release_of(case)), Release::by_version);
    let mut gates = FeatureGates::new(release.map_err(|error| error.to_string())?);
    for (name, on) in members(case.pointer("/flags/feature-gates")) {
        gates = gates.with(name, on == &Value::Bool(true));
    }
    Ok(gates)
}

/// The kubeconfig that the reference wrote for the case is valid; other paths have to exist.
fn check_kubeconfig(path: &str) -> Result<(), String> {
    if path == "$KUBECONFIG" || std::fs::exists(path).unwrap_or(false) {
        Ok(())
    } else {
        Err(format!("stat {path}: no such file or directory"))
    }
}

/// Puts one request through both phases. `defaulted` is the object as the reference decoded it, if that is another one.
fn admit(
    (chain, gates): (&PluginChain, FeatureGates),
    request: &Value,
    defaulted: &Value,
    context: &PluginContext<'_>,
) -> Result<(Value, Effects), ToolError> {
    let text = request.to_string();
    let mut request: AdmissionRequest<'_> =
        serde_json::from_str(&text).map_err(|error| format!("request: {error}"))?;
    let decoded = match defaulted {
        Value::Null => request.object.clone(),
        defaulted => json_value(defaulted),
    };
    // The old object comes from storage, where it has the form of its kind.
    if let Some(kind) = kind_of(&request.old_object) {
        settle_object(
            gates.release(),
            &kind,
            &mut request.old_object,
            &json::Progress::unwatched(),
        );
    }
    if request.operation == Operation::Create && request.name.is_empty() {
        let name = decoded.at(&["metadata", "name"]).and_then(json::Value::as_str);
        request.name = name.unwrap_or_default().to_owned();
    }
    let mut object = decoded.clone();
    let mut effects = Effects::default();
    let result = run((chain, gates), &request, &mut object, context, &mut effects);
    let mut expectation = Map::new();
    expectation.insert("allowed".to_owned(), Value::Bool(result.is_ok()));
    if let Err(rejection) = &result {
        expectation.insert("status".to_owned(), status(rejection)?);
    } else if object != decoded {
        expectation.insert("object".to_owned(), Value::from(&object));
    }
    expectation.insert("warnings".to_owned(), json!(effects.warnings));
    let annotations = effects.audit_annotations().iter();
    let annotations: Map<String, Value> = annotations
        .map(|(key, value)| (key.clone(), Value::String(value.clone())))
        .collect();
    expectation.insert("auditAnnotations".to_owned(), Value::Object(annotations));
    let created = effects.created.iter();
    let created: Vec<String> = created
        .map(|created| format!("{}/{}", created.kind.resource, created.name))
        .collect();
    expectation.insert("created".to_owned(), json!(created));
    expectation.insert("booked".to_owned(), booked(&effects, context));
    Ok((Value::Object(expectation), effects))
}

/// The kind of an object.
fn kind_of(object: &json::Value<'_>) -> Option<GroupVersionKind> {
    let text = |field: &str| object.get(field).and_then(json::Value::as_str);
    let version = GroupVersion::parse(text("apiVersion")?).ok()?;
    Some(version.with_kind(text("kind")?))
}

fn run(
    (chain, gates): (&PluginChain, FeatureGates),
    request: &AdmissionRequest<'_>,
    object: &mut json::Value<'_>,
    context: &PluginContext<'_>,
    effects: &mut Effects,
) -> Result<(), Rejection> {
    let mut attributes = MutableAttributes::new(request, object);
    chain.admit(Stage::All, &mut attributes, context, effects, &mut ())?;
    let mut prepared = object.clone();
    complete_pod_resources(request, &mut prepared, gates);
    let attributes = Attributes {
        request,
        object: &prepared,
        form: ObjectForm::Settled,
    };
    chain.validate(Stage::All, &attributes, context, effects, &mut ())
}

/// What a server's registry does between the phases, as far as plugins count it.
fn complete_pod_resources(request: &AdmissionRequest<'_>, object: &mut json::Value<'_>, gates: FeatureGates) {
    let is_completed = match request.operation {
        Operation::Create => request.sub_resource.is_empty(),
        Operation::Update => request.sub_resource == "resize",
        _ => false,
    };
    if is_completed && request.resource.group.is_empty() && request.resource.resource == "pods" {
        pratique_objects::complete_pod_resources(object, gates);
    }
}

fn status(rejection: &Rejection) -> Result<Value, ToolError> {
    let status = rejection
        .status()
        .ok_or_else(|| format!("not decided: {rejection}"))?;
    let mut status = serde_json::to_value(status).map_err(|error| error.to_string())?;
    if let Some(members) = status.as_object_mut() {
        // Every expectation is a failure; the cases leave that out.
        members.remove("status");
    }
    Ok(status)
}

/// The quotas whose status changes: the new usage, and the limits if they change too.
fn booked(effects: &Effects, context: &PluginContext<'_>) -> Value {
    let mut booked: Vec<_> = effects.booked.iter().collect();
    booked.sort_by_key(|booked| format!("{}/{}", booked.namespace, booked.name));
    let expectation = booked.into_iter().filter_map(|booked| {
        let quota = context
            .state
            .get(StateKind::RESOURCE_QUOTA, &booked.namespace, &booked.name);
        let old = quota.found().and_then(|quota| quota.get("status"));
        if old == Some(&booked.status) {
            return None;
        }
        let field = |field: &str| booked.status.get(field).map_or(Value::Null, Value::from);
        let hard = if old.and_then(|old| old.get("hard")) == booked.status.get("hard") {
            Value::Null
        } else {
            field("hard")
        };
        let (namespace, name, used) = (&booked.namespace, &booked.name, field("used"));
        Some(match hard {
            Value::Null => json!({"namespace": namespace, "name": name, "used": used}),
            hard => json!({"namespace": namespace, "name": name, "used": used, "hard": hard}),
        })
    });
    Value::Array(expectation.collect())
}

fn elements<'c>(case: &'c Value, field: &str) -> impl Iterator<Item = &'c Value> {
    case[field].as_array().into_iter().flatten()
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}
