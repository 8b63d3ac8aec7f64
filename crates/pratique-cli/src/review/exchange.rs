//! Exchanges with webhooks, recorded for `review --webhooks`.

use pratique::observer::ChainObserver;
use pratique::webhook::{Called, Rejection, WebhookObserver};
use pratique_json::{Value, base64};
use serde::Serialize;

use super::decisions::Decisions;

/// An exchange with a webhook: request and response.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange {
    webhook: String,
    configuration: String,
    code: u16,
    rejected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    failed_open: bool,
    seconds: f64,
    pub(super) review: String,
    pub(super) answer: String,
}

impl Exchange {
    fn of(called: &Called<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Exchange {
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

    /// The decoded patch of the response; `None` if there is none, or it is invalid.
    pub(super) fn patch(&self) -> Option<String> {
        let answer = pratique_json::parse(self.answer.as_bytes()).ok()?;
        let patch = answer.at(&["response", "patch"]).and_then(Value::as_str)?;
        String::from_utf8(base64::decode(patch).ok()?).ok()
    }

    /// A summary on one line.
    pub(super) fn summary(&self) -> String {
        let came = match (&self.failure, self.rejected) {
            (Some(failure), _) if self.failed_open => format!("ignored: {failure}"),
            (Some(failure), _) => format!("failed: {failure}"),
            (None, true) => format!("denied ({})", self.code),
            (None, false) => "allowed".to_owned(),
        };
        format!("webhook {} of {}: {came}", self.webhook, self.configuration)
    }
}

/// Records the exchanges of a request, and the decisions of its policies.
#[derive(Default)]
pub(super) struct Exchanges(pub(super) Vec<Exchange>, pub(super) Decisions);

impl ChainObserver for Exchanges {
    fn policies(&mut self) -> Option<&mut dyn pratique::policy::PolicyObserver> {
        Some(&mut self.1)
    }

    fn webhooks(&mut self) -> Option<&mut dyn WebhookObserver> {
        Some(self)
    }
}

impl WebhookObserver for Exchanges {
    fn called(&mut self, called: &Called<'_>) {
        self.0.push(Exchange::of(called));
    }
}
