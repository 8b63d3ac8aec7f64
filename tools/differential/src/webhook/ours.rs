//! Our side: the webhooks of a case, called without sockets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use pratique::Objects;
use pratique_expression::Cache;
use pratique_harness::{ToolError, with};
use pratique_policy::Cluster;
use pratique_schema::Release;
use pratique_types::AdmissionRequest;
use pratique_webhook::{
    Answer, Attributes, Call, CallError, CallErrorKind, Caller, MutatingWebhooks, Origin, Reinvocation,
    WebhookContext, mutate,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::case::WebhookCase;
use super::configurations::{configurations, namespaces, set_clients};
use crate::policy::kinds::definitions;
use pratique_conformance::authorizer::CaseAuthorizer;
use pratique_conformance::fixture::json_value;

/// The webhooks of all configurations.
pub(super) struct CompiledWebhooks {
    runtime: Runtime,
    cluster: Objects,
    release: &'static Release,
    webhooks: Vec<MutatingWebhooks>,
}

/// Answers calls with the webhook answers of a case.
struct ScriptedCaller<'c> {
    case: &'c WebhookCase,
    uids: Mutex<Vec<String>>,
}

impl Caller for ScriptedCaller<'_> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let uid = review
            .pointer("/request/uid")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let path = call.endpoint.url.strip_prefix(HOST).unwrap_or_default();
        let body = self
            .case
            .answers
            .get(path)
            .map(|answer| answer.body().replace("$UID", uid));
        let mut uids = self.uids.lock().unwrap_or_else(PoisonError::into_inner);
        uids.push(uid.to_owned());
        Box::pin(async move {
            match body.unwrap_or_default() {
                body if body.is_empty() => Err(CallError {
                    message: EMPTY.to_owned(),
                    kind: CallErrorKind::Transport,
                }),
                body => Ok(body.into()),
            }
        })
    }
}

/// The error for an answer without a body.
const EMPTY: &str =
    "failed to call webhook: 0-length response with status code: 200 and content type: application/json";
/// The host of the webhooks, which is never contacted.
const HOST: &str = "https://webhooks.example";

impl CompiledWebhooks {
    /// Compiles the webhooks.
    pub(super) fn new(release: &'static Release) -> Result<Self, ToolError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let mut cluster = Objects::of_release(release);
        for object in namespaces().iter().chain(&definitions()) {
            // An object without a name is ignored.
            let _ = cluster.insert(json_value(object));
        }
        let webhooks = configurations().iter().map(|configuration| {
            let mut configuration = configuration.clone();
            set_clients(&mut configuration, |path| json!({"url": format!("{HOST}{path}")}));
            let read: MutatingWebhookConfiguration =
                serde_json::from_value(configuration).map_err(|error| error.to_string())?;
            Ok(MutatingWebhooks::compile(
                [&read],
                Origin::Api,
                &Cache::new().of_release(release),
            ))
        });
        Ok(CompiledWebhooks {
            runtime: runtime.map_err(|error| error.to_string())?,
            cluster,
            release,
            webhooks: webhooks.collect::<Result<_, ToolError>>()?,
        })
    }

    /// The outcome of a case.
    pub(super) fn outcome(&self, case: &WebhookCase) -> Value {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.admit(case)));
        match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => json!({"error": error.to_string()}),
            Err(_) => json!({"crash": true}),
        }
    }

    fn admit(&self, case: &WebhookCase) -> Result<Value, ToolError> {
        let text = case.request.to_string();
        let request: AdmissionRequest<'_> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let webhooks = self
            .webhooks
            .get(case.configuration)
            .ok_or("no such configuration")?;
        let caller = ScriptedCaller {
            case,
            uids: Mutex::default(),
        };
        let authorizer = Arc::new(CaseAuthorizer::default());
        let context = WebhookContext::new(self.cluster.equivalents(), &self.cluster, authorizer)
            .of_release(self.release);
        let (mut reinvocation, mut current) = (Reinvocation::default(), None);
        let (mut warnings, mut annotations) = (Vec::new(), serde_json::Map::new());
        let status = loop {
            let attributes = Attributes::written(&request, current.as_ref().unwrap_or(&request.object));
            let mutated = self.runtime.block_on(async {
                mutate(
                    &[webhooks],
                    attributes,
                    &context,
                    &mut reinvocation,
                    &caller,
                    &mut (),
                )
                .await
            });
            let mutated = mutated.map_err(|error| error.to_string())?;
            current = mutated.object.or(current);
            warnings.extend(mutated.warnings);
            for (key, value) in mutated
                .audit_annotations
                .into_iter()
                .chain(mutated.patch_annotations)
            {
                annotations.entry(key).or_insert_with(|| json!(value));
            }
            if mutated.status.is_some() || !reinvocation.is_due() {
                break mutated.status;
            }
            reinvocation.begin_second();
        };
        let outcome = json!({
            "allowed": status.is_none(), "warnings": warnings, "auditAnnotations": annotations,
        });
        // An object with the same text did not change.
        let written = |object: &pratique_json::Value<'_>| object.rewritten("").to_string();
        let changed =
            current.filter(|object| status.is_none() && written(object) != written(&request.object));
        let changed = changed.and_then(|object| serde_json::to_value(&object).ok());
        let status = status.map(|status| {
            let mut status = serde_json::to_value(status).unwrap_or_default();
            if let Some(members) = status.as_object_mut() {
                members.retain(|name, _| !matches!(name.as_str(), "status" | "metadata"));
            }
            ("status", status)
        });
        let outcome = with(
            outcome,
            status.into_iter().chain(changed.map(|object| ("object", object))),
        );
        let uids = caller.uids.into_inner().unwrap_or_else(PoisonError::into_inner);
        let masked = uids.iter().fold(outcome.to_string(), |text, uid| {
            text.replace(uid.as_str(), "$UID")
        });
        serde_json::from_str(&masked).map_err(|error| ToolError::from(error.to_string()))
    }
}
