//! Random objects and random patches of webhooks: the resulting object here and in the API server's plugin.
//!
//! A `case` is a request with the `answers` of webhooks (and their `patches`) and one of the `configurations`; `ours` and the
//! API server's own plugin give its outcomes, and differences are shrunk through `smaller` cases.

mod answers;
mod case;
mod configurations;
mod known_differences;
mod ours;
mod patches;
mod smaller;

use pratique_harness::{RandomDice, ToolError};
use serde_json::{Value, json};

use self::case::WebhookCase;
use self::configurations::{configurations, namespaces};
use self::ours::CompiledWebhooks;
use super::RunSpan;
use super::area::{ComparedArea, RunReport};
use super::policy::kinds::definitions;
use super::reference::ReferenceProgram;
use super::release::ComparedRelease;
use super::shrink::CaseDifference;

/// The area.
pub(super) struct WebhookArea {
    ours: CompiledWebhooks,
    compared: ComparedRelease,
}

impl WebhookArea {
    pub(super) fn new(span: &RunSpan) -> Result<Self, ToolError> {
        let compared = span.release.find()?;
        Ok(WebhookArea {
            ours: CompiledWebhooks::new(compared.release)?,
            compared,
        })
    }
}

impl ComparedArea for WebhookArea {
    type Case = WebhookCase;

    const NAME: &'static str = "webhook";

    fn start(&self) -> Result<ReferenceProgram, ToolError> {
        let mut reference = ReferenceProgram::start(&self.compared, "policy", &["webhook".as_ref()])?;
        let objects = [namespaces(), definitions()].concat();
        reference.ask(&json!({"configurations": configurations(), "objects": objects}))?;
        Ok(reference)
    }

    fn random(&self, dice: &mut RandomDice) -> WebhookCase {
        WebhookCase::random(dice)
    }

    fn question(&self, case: &WebhookCase, times: usize) -> Value {
        case.question(times)
    }

    fn ours(&self, case: &WebhookCase) -> Result<Vec<Value>, ToolError> {
        Ok(vec![self.ours.outcome(case)])
    }

    fn with_question(&self, case: &WebhookCase, _: usize) -> WebhookCase {
        case.clone()
    }

    fn is_known(&self, case: &WebhookCase, ours: &Value, theirs: &Value) -> bool {
        known_differences::is_known(case, ours, theirs)
    }

    fn smaller(&self, case: &WebhookCase) -> Vec<WebhookCase> {
        smaller::smaller(case)
    }

    fn counts(&self, _: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        vec![
            ("changed", theirs.get("object").is_some()),
            ("denied", theirs["allowed"] == false),
        ]
    }

    fn describe(&self, difference: &CaseDifference<WebhookCase>) -> String {
        let CaseDifference {
            case,
            kind,
            ours,
            theirs,
        } = difference;
        let (patches, case) = (case.patches(), case.conformance(theirs));
        format!(
            "{kind}:\n  ours:      {ours}\n  reference: {theirs}\n  patches: {patches:?}\n  case: {case}\n"
        )
    }

    fn summary(&self, report: &RunReport) -> String {
        format!(
            "{} cases: {} changed, {} denied; {} differ on purpose\n{} differences",
            report.questions,
            report.count("changed"),
            report.count("denied"),
            report.known,
            report.differences()
        )
    }
}

#[cfg(test)]
mod tests;
