//! Webhooks whose answers a suite says.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pratique::webhook::{self, Call, CallError, CallErrorKind, Caller};
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, base64};
use pratique_manifest::Location;
use pratique_merge::json_patch::diff;
use pratique_types::Operation;

use crate::select::Selector;
use crate::substitute::merge;

/// What a webhook answers.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The name of the webhook.
    pub(crate) name: String,
    /// Where the suite names it.
    pub(crate) location: Location,
    /// The objects for which it answers so; all if there are none.
    pub(crate) objects: Vec<Selector>,
    /// The operations for which it answers so; all if there are none.
    pub(crate) operations: Vec<Operation>,
    pub(crate) answer: Answer,
}

/// What comes of a call.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Response(Box<Response>),
    /// The call fails, with a reason.
    Error(String),
    /// There is no answer in time.
    Timeout,
}

/// A response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    pub(crate) allowed: bool,
    pub(crate) code: Option<i32>,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
    /// A JSON Patch.
    pub(crate) patch: Option<Value<'static>>,
    /// A JSON merge patch, which is sent as what it changes.
    pub(crate) merge: Option<Value<'static>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) audit_annotations: BTreeMap<String, String>,
}

/// Answers for webhooks by scripts. What no script says is not known.
#[derive(Debug, Default)]
pub(crate) struct ScriptedCaller(Mutex<Vec<Script>>);

impl ScriptedCaller {
    /// Answers by these from now on; the first that fits counts.
    pub(crate) fn follow(&self, scripts: Vec<Script>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = scripts;
    }

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
            Answer::Response(response) => Ok(response.review(&review).to_string().into_bytes()),
            Answer::Error(why) => Err(failed(call, why, CallErrorKind::Transport)),
            Answer::Timeout => Err(failed(call, "context deadline exceeded", CallErrorKind::Timeout)),
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

impl Script {
    fn fits(&self, webhook: &str, review: &Value<'_>) -> bool {
        let text = |path: &[&str]| review.at(path).and_then(Value::as_str).unwrap_or_default();
        let operation = text(&["request", "operation"]);
        let namespace = text(&["request", "namespace"]);
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

impl Response {
    /// The answer to a review.
    fn review(&self, asked: &Value<'_>) -> Value<'static> {
        let copy = |path: &[&str]| asked.at(path).cloned().map(Value::into_owned).unwrap_or_default();
        let mut response = Object::new();
        response.insert("uid", copy(&["request", "uid"]));
        response.insert("allowed", self.allowed);
        if let Some(status) = self.status() {
            response.insert("status", status);
        }
        if let Some(patch) = self.patch_of(asked) {
            response.insert("patch", base64::encode(patch.to_string().as_bytes()));
            response.insert("patchType", "JSONPatch");
        }
        if !self.warnings.is_empty() {
            let warnings = self.warnings.iter().map(|text| Value::from(text.clone()));
            response.insert("warnings", Value::Array(warnings.collect()));
        }
        if !self.audit_annotations.is_empty() {
            let mut annotations = Object::new();
            for (key, value) in &self.audit_annotations {
                annotations.insert(key.clone(), value.clone());
            }
            response.insert("auditAnnotations", annotations);
        }
        let mut review = Object::new();
        review.insert("apiVersion", copy(&["apiVersion"]));
        review.insert("kind", "AdmissionReview");
        review.insert("response", response);
        Value::Object(review)
    }

    fn status(&self) -> Option<Object<'static>> {
        let mut status = Object::new();
        if let Some(code) = self.code {
            status.insert("code", Value::Int(code.into()));
        }
        if let Some(reason) = &self.reason {
            status.insert("reason", reason.clone());
        }
        if let Some(message) = &self.message {
            status.insert("message", message.clone());
        }
        (!status.is_empty()).then_some(status)
    }

    /// The patch that is sent; none where nothing is to be changed.
    fn patch_of(&self, asked: &Value<'_>) -> Option<Value<'static>> {
        let Some(changes) = &self.merge else {
            return self.patch.clone();
        };
        let before = object_of(asked).clone().into_owned();
        let mut after = before.clone();
        merge(&mut after, changes.clone());
        let operations = diff(&before, &after).into_iter();
        let operations: Vec<_> = operations
            .map(|operation| Value::from(operation).into_owned())
            .collect();
        (!operations.is_empty()).then_some(Value::Array(operations))
    }
}
