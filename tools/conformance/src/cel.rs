//! The suite `cel`: one expression in the environment of admission policies.

use std::sync::Arc;

use pratique::policy::Trial;
use pratique::{EvalContext, Objects};
use pratique_expression::{Cache, Declarations};
use pratique_json as json;
use pratique_match::MatchedResource;
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation, UserInfo};
use serde::Deserialize;
use serde_json::{Value, json};

use super::authorizer::CaseAuthorizer;
use super::cel_value::{canonical, normalize};
use super::fixture::json_value;
use super::{CaseOutcome, release_of};

#[derive(Deserialize)]
struct CelCase {
    expression: String,
    #[serde(default)]
    env: CelEnvironment,
    #[serde(default)]
    variables: Vec<CelVariable>,
    #[serde(default)]
    bindings: Value,
    expect: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CelEnvironment {
    has_params: bool,
    has_authorizer: bool,
    has_patch_types: bool,
}

#[derive(Deserialize)]
struct CelVariable {
    name: String,
    expression: String,
}

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    let Ok(CelCase {
        expression,
        env,
        variables,
        bindings,
        expect,
    }) = serde_json::from_value(case.clone())
    else {
        return CaseOutcome::failed(case, "the case is not of the form of this suite");
    };
    let actual = answer(release_of(case), &expression, &env, &variables, &bindings);
    compare(&expect, actual)
}

fn answer(
    release: &'static Release,
    expression: &str,
    env: &CelEnvironment,
    variables: &[CelVariable],
    bindings: &Value,
) -> Value {
    let declarations = Declarations {
        params: env.has_params,
        authorizer: env.has_authorizer,
        patch_types: env.has_patch_types,
        variables: true,
    };
    let named = variables
        .iter()
        .map(|variable| (variable.name.as_str(), variable.expression.as_str()));
    let cache = Cache::new().of_release(release);
    let trial = match Trial::compile_in(&cache, expression, named, declarations) {
        Ok(trial) => trial,
        Err(error) => {
            let text = error.to_string();
            let text = text.strip_prefix("compilation failed: ").unwrap_or(&text);
            return json!({"compileError": text});
        }
    };
    evaluate(&trial, release, expression, env, bindings)
}

fn evaluate(
    trial: &Trial,
    release: &'static Release,
    expression: &str,
    env: &CelEnvironment,
    bindings: &Value,
) -> Value {
    let of_type = trial.result_type().declared_name();
    let request = request(bindings);
    let request_json = bindings.get("request");
    let kind: GroupVersionKind = read(request_json, "kind");
    let resource: GroupVersionResource = read(request_json, "resource");
    let params = if env.has_params {
        json_value(&bindings["params"])
    } else {
        json::Value::Null
    };
    let namespace = json_value(&bindings["namespaceObject"]);
    let authorizer: CaseAuthorizer = read(Some(bindings), "authorizer");
    let cluster = Objects::new();
    let context = EvalContext::new(&cluster, Arc::new(authorizer)).of_release(release);
    let matched = MatchedResource {
        resource: &resource,
        kind: &kind,
    };
    let result = trial.evaluate(&request, matched, &params, &namespace, context, |result| {
        let prefix = format!("expression '{expression}' resulted in error: ");
        match &result.answer {
            Ok(value) => json!({"value": canonical(value), "type": of_type, "cost": result.cost}),
            Err(text) => json!({"error": text.strip_prefix(&prefix).unwrap_or(text), "type": of_type}),
        }
    });
    result.unwrap_or_else(|unfinished| json!({"unfinished": unfinished.to_string()}))
}

fn request(bindings: &Value) -> AdmissionRequest<'static> {
    let request = bindings.get("request");
    let user = match request.and_then(|request| request.get("userInfo")) {
        Some(user) => serde_json::from_value(user.clone()).unwrap_or_default(),
        None => authorizer_user(bindings),
    };
    let original = |field: &str, converted: &str| {
        if has(request, field) {
            field.to_owned()
        } else {
            converted.to_owned()
        }
    };
    AdmissionRequest {
        kind: read(request, &original("requestKind", "kind")),
        resource: read(request, &original("requestResource", "resource")),
        sub_resource: read(request, "subResource"),
        name: read(request, "name"),
        namespace: read(request, "namespace"),
        operation: if has(request, "operation") {
            read(request, "operation")
        } else {
            Operation::None
        },
        dry_run: Some(read(request, "dryRun")),
        options: request
            .map(|request| json_value(&request["options"]))
            .unwrap_or_default(),
        user_info: user,
        object: json_value(&bindings["object"]),
        old_object: json_value(&bindings["oldObject"]),
        ..AdmissionRequest::default()
    }
}

/// The user of the case's authorizer, for a request without one.
fn authorizer_user(bindings: &Value) -> UserInfo {
    let user = bindings.pointer("/authorizer/user").cloned().unwrap_or_default();
    let username = user.get("name").and_then(Value::as_str).unwrap_or_default();
    UserInfo {
        username: username.to_owned(),
        ..serde_json::from_value(user.clone()).unwrap_or_default()
    }
}

fn has(object: Option<&Value>, field: &str) -> bool {
    object.is_some_and(|object| object.get(field).is_some())
}

/// A field, or the default where it is absent.
fn read<T: Default + for<'de> Deserialize<'de>>(object: Option<&Value>, field: &str) -> T {
    let field = object.and_then(|object| object.get(field));
    field
        .and_then(|value| serde_json::from_value(value.clone()).ok())
        .unwrap_or_default()
}

pub(super) fn compare(expect: &Value, mut actual: Value) -> CaseOutcome {
    let mut expect = expect.clone();
    normalize(&mut expect);
    normalize(&mut actual);
    let same = |field: &str| expect.get(field) == actual.get(field);
    let kind = ["value", "error", "compileError"]
        .into_iter()
        .find(|kind| expect.get(kind).is_some());
    let text = |of: &Value| {
        let text = of.get("error").or_else(|| of.get("compileError"));
        text.and_then(Value::as_str).map(str::to_owned)
    };
    let decision = match kind {
        Some("value") => same("value") && same("type"),
        Some("error") => actual.get("error").is_some() && same("type"),
        Some(kind) => actual.get(kind).is_some(),
        None => false,
    };
    let cost = |of: &Value| of.get("cost").and_then(Value::as_u64);
    let (texts, costs) = ((text(&expect), text(&actual)), (cost(&expect), cost(&actual)));
    CaseOutcome::new(decision, &expect, actual)
        .compare_texts(texts.0.as_deref(), texts.1.as_deref())
        .cost(costs.0, costs.1)
}
