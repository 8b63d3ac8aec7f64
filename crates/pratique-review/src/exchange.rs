//! Exchanges with webhooks, as they were made.

use pratique::webhook::{EndedCall, Rejection};
use pratique_json::{Value, base64};
use serde::Serialize;

use crate::decisions::{PolicyDecision, ignored_failure};

/// An exchange with a webhook: request and response.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookExchange {
    webhook: String,
    configuration: String,
    code: u16,
    rejected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    failed_open: bool,
    seconds: f64,
    /// The AdmissionReview that was sent.
    pub review: String,
    /// The body of the response.
    pub answer: String,
}

impl From<&EndedCall<'_>> for WebhookExchange {
    fn from(called: &EndedCall<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        WebhookExchange {
            webhook: called.webhook.to_owned(),
            configuration: called.configuration.to_owned(),
            code: called.code,
            rejected: matches!(called.rejection, Some(Rejection::Denied)),
            failure: called.failure.map(str::to_owned),
            failed_open: called.failed_open,
            seconds: called.duration.as_secs_f64(),
            review: text(&called.review),
            answer: text(&called.answer),
        }
    }
}

impl WebhookExchange {
    /// The decoded patch of the response; `None` if there is none, or it is invalid.
    pub fn patch(&self) -> Option<String> {
        let answer = pratique_json::parse(self.answer.as_bytes()).ok()?;
        let patch = answer.at(&["response", "patch"]).and_then(Value::as_str)?;
        String::from_utf8(base64::decode(patch).ok()?).ok()
    }

    /// The decision of a webhook that could not be called, where its failure policy ignores that.
    pub(crate) fn ignored_failure(&self) -> Option<PolicyDecision> {
        let failure = self.failure.as_ref().filter(|_| self.failed_open)?;
        let names = (self.webhook.clone(), self.configuration.clone());
        Some(PolicyDecision {
            is_step: true,
            ..ignored_failure(names, "it", failure)
        })
    }

    /// A summary on one line.
    pub fn summary(&self) -> String {
        let answer = match (&self.failure, self.rejected) {
            (Some(failure), _) if self.failed_open => format!("ignored: {failure}"),
            (Some(failure), _) => format!("failed: {failure}"),
            (None, true) => format!("denied ({})", self.code),
            (None, false) => "allowed".to_owned(),
        };
        format!("webhook {} of {}: {answer}", self.webhook, self.configuration)
    }
}
