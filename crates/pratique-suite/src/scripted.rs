//! Webhooks whose answers a suite says.
#![cfg_attr(
    not(feature = "webhooks"),
    allow(dead_code, reason = "without webhooks, what they answer is read and not used")
)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pratique_json::Value;
use pratique_manifest::Location;
use pratique_types::Operation;

use crate::select::Selector;

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
pub(crate) struct ScriptedCaller(pub(crate) Mutex<Vec<Script>>);

impl ScriptedCaller {
    /// Answers by these from now on; the first that fits counts.
    pub(crate) fn follow(&self, scripts: Vec<Script>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = scripts;
    }
}
