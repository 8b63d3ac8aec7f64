//! Scripted answers of webhooks.
#![cfg_attr(
    not(feature = "webhooks"),
    allow(dead_code, reason = "without webhooks, what they answer is read and not used")
)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pratique_json::Value;
use pratique_manifest::Location;
use pratique_types::Operation;

use crate::select::ObjectSelector;

/// A scripted answer of a webhook.
#[derive(Clone, Debug)]
pub(crate) struct WebhookScript {
    /// The name of the webhook.
    pub(crate) name: String,
    /// Where the suite names it.
    pub(crate) location: Location,
    /// The objects for which it answers so; all if there are none.
    pub(crate) objects: Vec<ObjectSelector>,
    /// The operations for which it answers so; all if there are none.
    pub(crate) operations: Vec<Operation>,
    pub(crate) answer: CallOutcome,
}

/// The outcome of a call.
#[derive(Clone, Debug)]
pub(crate) enum CallOutcome {
    Response(Box<WebhookResponse>),
    /// The call fails, with a reason.
    Error(String),
    /// There is no answer in time.
    Timeout,
}

/// A response.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookResponse {
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

/// Answers the calls of webhooks by scripts. A call that no script answers is unknown.
#[derive(Debug, Default)]
pub(crate) struct ScriptedCaller(pub(crate) Mutex<Vec<WebhookScript>>);

impl ScriptedCaller {
    /// Sets the scripts; the first that fits a call answers it.
    pub(crate) fn set_scripts(&self, scripts: Vec<WebhookScript>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = scripts;
    }
}
