//! Answers the calls of webhooks by the scripts of a suite.

use std::sync::PoisonError;

use pratique::webhook::{self, Call, CallError, CallErrorKind, Caller};
use pratique_gotext::strconv::quote;
use pratique_json::{Value, base64};
use pratique_merge::json_patch::diff;
use pratique_types::{AdmissionResponse, AdmissionReview, Status};

use crate::scripted_webhooks::{CallOutcome, ScriptedCaller, WebhookResponse, WebhookScript};
use crate::substitute::merge;
use pratique_json::text_at;

impl ScriptedCaller {
    fn answer(&self, call: &Call) -> Result<Vec<u8>, CallError> {
        let unknown = || CallError {
            message: format!(
                "the suite does not say what webhook {} answers",
                quote(&call.webhook)
            ),
            kind: CallErrorKind::Unknown,
        };
        let scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let review = pratique_json::parse(&call.body).map_err(|_| unknown())?;
        let mut scripts = scripts.iter();
        let script = scripts.find(|script| script.fits(&call.webhook, &review));
        match &script.ok_or_else(unknown)?.answer {
            CallOutcome::Response(response) => {
                serde_json::to_vec(&response.review(&review)).map_err(|_| unknown())
            }
            CallOutcome::Error(why) => Err(failed(call, why, CallErrorKind::Transport)),
            CallOutcome::Timeout => Err(failed(call, "context deadline exceeded", CallErrorKind::Timeout)),
        }
    }
}

impl Caller for ScriptedCaller {
    fn call<'a>(&'a self, call: Call) -> webhook::Answer<'a> {
        let answer = self.answer(&call).map(Into::into);
        Box::pin(std::future::ready(answer))
    }
}

/// The error of a call that was sent and not answered, as Go's HTTP client words it.
fn failed(call: &Call, why: &str, kind: CallErrorKind) -> CallError {
    let query = call
        .timeout
        .map(|timeout| format!("?timeout={}s", timeout.as_secs()));
    let url = format!("{}{}", call.endpoint.url, query.unwrap_or_default());
    CallError {
        message: format!("failed to call webhook: Post {}: {why}", quote(&url)),
        kind,
    }
}

impl WebhookScript {
    fn fits(&self, webhook: &str, review: &Value<'_>) -> bool {
        let operation = text_at(review, &["request", "operation"]);
        let namespace = text_at(review, &["request", "namespace"]);
        let object = object_of(review);
        self.name == webhook
            && (self.operations.is_empty() || self.operations.iter().any(|known| known.as_str() == operation))
            && (self.objects.is_empty() || self.objects.iter().any(|known| known.fits(object, namespace)))
    }
}

/// The object of a review; for a deletion, the one that is deleted.
fn object_of<'v>(review: &'v Value<'v>) -> &'v Value<'v> {
    let object = |name| review.at(&["request", name]).filter(|object| !object.is_null());
    object("object")
        .or_else(|| object("oldObject"))
        .unwrap_or(&Value::Null)
}

impl WebhookResponse {
    /// The answer to a review.
    fn review(&self, review: &Value<'_>) -> AdmissionReview<'static> {
        let has_status = self.code.is_some() || self.reason.is_some() || self.message.is_some();
        let status = has_status.then(|| Status {
            code: self.code.unwrap_or_default(),
            reason: self.reason.clone().unwrap_or_default(),
            message: self.message.clone().unwrap_or_default(),
            ..Status::default()
        });
        let patch = self.patch_of(review);
        let response = AdmissionResponse {
            uid: text_at(review, &["request", "uid"]).to_owned(),
            allowed: self.allowed,
            result: status,
            patch_type: patch.as_ref().map(|_| "JSONPatch".to_owned()),
            patch: patch.map(|patch| base64::encode(patch.to_string().as_bytes())),
            audit_annotations: self.audit_annotations.clone(),
            warnings: self.warnings.clone(),
        };
        AdmissionReview {
            api_version: text_at(review, &["apiVersion"]).to_owned(),
            ..AdmissionReview::answer(response)
        }
    }

    /// The patch that is sent; none where nothing is to be changed.
    fn patch_of(&self, review: &Value<'_>) -> Option<Value<'static>> {
        let Some(changes) = &self.merge else {
            return self.patch.clone();
        };
        let old_object = object_of(review).clone().into_owned();
        let mut after = old_object.clone();
        merge(&mut after, changes.clone());
        let operations = diff(&old_object, &after).into_iter();
        let operations: Vec<_> = operations
            .map(|operation| Value::from(operation).into_owned())
            .collect();
        (!operations.is_empty()).then_some(Value::Array(operations))
    }
}
