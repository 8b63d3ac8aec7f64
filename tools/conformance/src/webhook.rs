//! The suite `webhook`: webhook configurations and a request, sent to scripted webhooks on real sockets.

mod compare;
mod configured_webhooks;
mod runner;

use std::sync::{Mutex, OnceLock, PoisonError};

use pratique_harness::ToolError;
use serde_json::Value;

use super::CaseOutcome;
use configured_webhooks::ConfiguredWebhooks;
use runner::WebhookRunner;

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    // The listeners serve one case at a time.
    static RUNNER: OnceLock<Result<Mutex<WebhookRunner>, ToolError>> = OnceLock::new();
    let runner = RUNNER.get_or_init(|| WebhookRunner::start().map(Mutex::new));
    let ran = runner
        .as_ref()
        .map_err(|error| error.to_string().into())
        .and_then(|runner| {
            let runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
            let configured = ConfiguredWebhooks::new(&runner, case)?;
            runner.run(case, &configured)
        });
    let expect = case.get("expect").cloned().unwrap_or_default();
    match ran {
        Ok(actual) => compare::compare(&expect, actual),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}
