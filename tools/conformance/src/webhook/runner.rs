//! Runs webhook cases: a runtime, and listeners that follow the scripts of a case.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique::Objects;
use pratique_harness::{ToolError, with};
use pratique_json as json;
use pratique_manifest::load_kube_config;
use pratique_match::Equivalents;
use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Status, warnings};
use pratique_webhook::{
    Attributes, Caller, HttpCaller, MutatingWebhooks, Reinvocation, Service, Services, ValidatingWebhooks,
    WebhookContext, mutate, validate,
};
use pratique_webhook_backend::{Backend, Listener, Script};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::super::authorizer::CaseAuthorizer;
use super::super::fixture::{CaseDirectory, json_value};
use super::super::release_of;
use super::configured_webhooks::ConfiguredWebhooks;

/// Listeners that serve one case after the other.
pub(super) struct WebhookRunner {
    runtime: Runtime,
    backend: Backend,
}

/// Resolves every service to the backend, except for `missing`.
struct BackendServices(String);

impl Services for BackendServices {
    fn address(&self, service: &Service) -> Result<Option<String>, String> {
        match service.name.as_str() {
            "missing" => Err("service \"missing\" not found".into()),
            _ => Ok(Some(self.0.clone())),
        }
    }
}

/// The outcome of both phases.
#[derive(Default)]
struct ChainResult {
    status: Option<Box<Status>>,
    object: Option<json::Value<'static>>,
    warnings: Vec<String>,
    annotations: BTreeMap<String, String>,
}

impl WebhookRunner {
    pub(super) fn start() -> Result<Self, ToolError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let backend = runtime.block_on(Backend::start());
        Ok(WebhookRunner {
            runtime,
            backend: backend.map_err(|error| error.to_string())?,
        })
    }

    /// Replaces the placeholders of a text by the addresses and certificates of the listeners.
    pub(super) fn fill(&self, text: &str) -> String {
        self.backend.fill(text)
    }

    /// The outcome of a case, in the form of its expectation.
    pub(super) fn run(&self, case: &Value, configured: &ConfiguredWebhooks) -> Result<Value, ToolError> {
        let scripts = case["backends"].as_object().into_iter().flatten();
        let scripts = scripts.map(|(path, script)| {
            let script = Script::from_json(&script.to_string());
            script.map(|script| (path.clone(), script))
        });
        let scripts: Vec<_> = scripts
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        self.backend
            .begin(scripts, case["recordHeaders"] == Value::Bool(true));
        let text = case["request"].to_string();
        let request: AdmissionRequest<'_> =
            serde_json::from_str(&text).map_err(|error| format!("request: {error}"))?;
        let caller = self.caller(case)?;
        self.runtime.block_on(async {
            let result = self.evaluate(case, &request, configured, &caller).await;
            let calls = self.backend.end().await;
            Ok(self.expectation(&result?, calls))
        })
    }

    /// The client, with the credentials of the case's kubeconfig.
    fn caller(&self, case: &Value) -> Result<HttpCaller, ToolError> {
        let Some(text) = case["kubeConfig"].as_str() else {
            return Ok(HttpCaller::default());
        };
        let directory = CaseDirectory::new(&json!({"kubeconfig": self.fill(text)}));
        let directory = directory.map_err(|error| error.to_string())?;
        let config = load_kube_config(
            &format!("{}/kubeconfig", directory.display_path()),
            release_of(case),
        );
        let config = config.map_err(|error| error.to_string())?;
        let credentials = Arc::new(config.unwrap_or_default());
        Ok(HttpCaller::builder().credentials(credentials).build())
    }

    async fn evaluate(
        &self,
        case: &Value,
        request: &AdmissionRequest<'_>,
        configured: &ConfiguredWebhooks,
        caller: &dyn Caller,
    ) -> Result<ChainResult, ToolError> {
        let (equivalents, cluster) = (equivalents(case, request), cluster(case));
        let authorizer: CaseAuthorizer =
            serde_json::from_value(case["authorizer"].clone()).unwrap_or_default();
        let services = BackendServices(self.backend.address(Listener::Backend).to_string());
        let mut context =
            WebhookContext::new(&equivalents, &cluster, Arc::new(authorizer)).with_services(&services);
        let gates = FeatureGates::new(release_of(case));
        context = context
            .of_release(gates.release())
            .excluding_virtual(gates.excludes_virtual_resources());
        if case["typed"] != Value::Bool(true) {
            context = context.without_types();
        }
        if let Some(gate) = case.pointer("/featureGates/ExcludeAdmissionWebhookVirtualResources") {
            context = context.excluding_virtual(gate == true);
        }
        if let Some(time) = case["requestTimeoutMs"].as_u64() {
            context = context.with_deadline(Instant::now() + Duration::from_millis(time));
        }
        let [first, second] = &configured.mutating;
        let audits_requests = !matches!(case["auditLevel"].as_str(), Some("None" | "Metadata"));
        let mut result = ChainResult::default();
        self.backend.set_phase("mutating");
        result
            .mutate(&[first, second], request, &context, caller, audits_requests)
            .await?;
        self.backend.set_phase("validating");
        let [first, second] = &configured.validating;
        result
            .validate(&[first, second], request, &context, caller)
            .await?;
        if case["auditLevel"] == "None" {
            result.annotations.clear();
        }
        Ok(result)
    }

    fn expectation(&self, result: &ChainResult, calls: Vec<pratique_webhook_backend::Call>) -> Value {
        let mut calls: Vec<Value> = calls
            .into_iter()
            .map(|call| serde_json::to_value(call).unwrap_or_default())
            .collect();
        // Validating calls are a set.
        let phase = |call: &Value| call["phase"] == "validating";
        let key = |call: &Value| {
            let review = call["review"].to_string();
            phase(call).then(|| (call["path"].as_str().unwrap_or_default().to_owned(), review))
        };
        calls.sort_by_key(key);
        let warnings = warnings::passed_on(result.warnings.iter().map(String::as_str));
        let expectation = json!({
            "allowed": result.status.is_none(),
            "calls": calls,
            "warnings": warnings,
            "warningHeaders": warnings.iter().map(|text| warnings::header(text)).collect::<Vec<_>>(),
            "auditAnnotations": result.annotations,
        });
        let status = result.status.as_ref().map(serde_json::to_value);
        let object = result.object.as_ref().filter(|_| status.is_none());
        let object = object.map(serde_json::to_value);
        let parts = [("status", status), ("object", object)].into_iter();
        let parts = parts.filter_map(|(name, part)| Some((name, part?.ok()?)));
        self.mask_addresses(with(expectation, parts))
    }

    fn mask_addresses(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.backend.mask(&text)),
            Value::Array(elements) => elements
                .into_iter()
                .map(|element| self.mask_addresses(element))
                .collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, value)| (key, self.mask_addresses(value)))
                .collect(),
            other => other,
        }
    }
}

impl ChainResult {
    /// Calls mutating webhooks, and calls them again where reinvocation is due.
    async fn mutate(
        &mut self,
        sets: &[&MutatingWebhooks],
        request: &AdmissionRequest<'_>,
        context: &WebhookContext<'_>,
        caller: &dyn Caller,
        audits_requests: bool,
    ) -> Result<(), ToolError> {
        let mut reinvocation = Reinvocation::default();
        loop {
            let previous_object = self.object.take();
            let attributes =
                Attributes::written(request, previous_object.as_ref().unwrap_or(&request.object));
            let mutated = mutate(sets, attributes, context, &mut reinvocation, caller, &mut ()).await;
            let mutated = mutated.map_err(|error| error.to_string())?;
            self.object = mutated.object.or(previous_object);
            self.warnings.extend(mutated.warnings);
            self.annotate(mutated.audit_annotations);
            if audits_requests {
                self.annotate(mutated.patch_annotations);
            }
            self.status = mutated.status;
            if self.status.is_some() || !reinvocation.is_due() {
                break;
            }
            reinvocation.begin_second();
        }
        let expectation = |object: &json::Value<'_>| serde_json::to_value(object).unwrap_or_default();
        self.object
            .take_if(|object| expectation(object) == expectation(&request.object));
        Ok(())
    }

    async fn validate(
        &mut self,
        sets: &[&ValidatingWebhooks],
        request: &AdmissionRequest<'_>,
        context: &WebhookContext<'_>,
        caller: &dyn Caller,
    ) -> Result<(), ToolError> {
        if self.status.is_some() {
            return Ok(());
        }
        let attributes = Attributes::written(request, self.object.as_ref().unwrap_or(&request.object));
        let validated = validate(sets, attributes, context, caller, &mut ()).await;
        let validated = validated.map_err(|error| error.to_string())?;
        self.warnings.extend(validated.warnings);
        self.annotate(validated.audit_annotations);
        self.status = validated.status;
        Ok(())
    }

    /// Adds annotations; the first value of a key is kept.
    fn annotate(&mut self, annotations: BTreeMap<String, String>) {
        for (key, value) in annotations {
            self.annotations.entry(key).or_insert(value);
        }
    }
}

fn equivalents(case: &Value, request: &AdmissionRequest<'_>) -> Equivalents {
    let mut equivalents = Equivalents::new();
    let Some(served) = case["served"].as_array() else {
        let AdmissionRequest {
            resource,
            sub_resource,
            kind,
            ..
        } = request;
        equivalents.register(resource.clone(), sub_resource, kind.clone());
        return equivalents;
    };
    for served in served {
        let text = |field: &str| served[field].as_str().unwrap_or_default();
        let resource = GroupVersionResource::new(text("group"), text("version"), text("resource"));
        let kind: GroupVersionKind = serde_json::from_value(served["kind"].clone()).unwrap_or_default();
        let storage = match text("storage") {
            "" => format!("{}/{}", text("group"), text("resource")),
            storage => storage.to_owned(),
        };
        equivalents.register_stored(resource, text("subresource"), kind, &storage);
    }
    equivalents
}

fn cluster(case: &Value) -> Objects {
    let mut cluster = Objects::new();
    for object in case["objects"].as_array().into_iter().flatten() {
        // An object without a name is ignored; no case relies on one.
        let _ = cluster.insert(json_value(object));
    }
    cluster
}
