//! Formats results, as text and JSON.

use pratique::Outcome;
use pratique_explain::Explanation;
use pratique_json::Value;
use pratique_policy::{Step, StepResult};
use pratique_types::{AdmissionReview, Status};
use serde::Serialize;

use crate::evaluation::chain::{self, JsonStep};
use crate::evaluation::defaults::{self, JsonDefaults};
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::missing_input::{JsonUndecided, help};
use crate::evaluation::placed_cause::{self, PlacedCause};
use crate::evaluation::record::Record;
use crate::evaluation::result::ReviewResult;
use crate::explanation;
use crate::input::fields::PieceFields;
use crate::output::text::{Lines, Text, text};
use crate::style::{Style, Tone};
use pratique_review::WebhookExchange;

/// Formats a result as text.
///
/// Of the chain, all steps are shown if `all_steps` is set, and otherwise those that do something. `fields` are those of the text
/// that the object was read of.
pub(crate) fn one(
    (result, invalid): (&ReviewResult<'_>, &[PlacedCause]),
    (all_steps, fields): (bool, Option<&PieceFields<'_>>),
    style: Style,
) -> Text {
    let Outcome {
        status,
        undecided,
        cause: _,
        object,
        mutations,
        warnings,
        audit_annotations,
        ..
    } = &result.outcome;
    let is_invalid = !invalid.is_empty();
    let decision = match status {
        None if !undecided.is_empty() => style.paint(Tone::Warning, "undecided"),
        None => style.paint(Tone::Good, "allowed"),
        Some(status) => {
            // Webhooks may give no reason.
            let why = format!("{} {}", status.code, status.reason);
            let by = match result.refused_by() {
                Some(by) => format!(" by {by}"),
                None if result.is_refused && !is_invalid => " by the server itself".to_owned(),
                None => String::new(),
            };
            style.paint(Tone::Bad, text!("denied{} ({})", by, why.trim_end()))
        }
    };
    let changed = if object.is_some() { ", changed" } else { "" };
    let place = style.paint(Tone::Place, result.input.place());
    let subject = subject(result.input);
    let mut out = text!("{}: {}: {}{}\n", place, subject, decision, changed);
    let mut line = |label: Text, text: &str| {
        let indent = "    ";
        out.push(&text!("  {}{}\n", label, Lines { text, indent }));
    };
    if let Some(Status { message, .. }) = status.as_deref() {
        line(Text::new(), message);
    }
    out.push(&placed_cause::human(invalid, fields, style));
    let mut line = |label: Text, text: &str| {
        let indent = "    ";
        out.push(&text!("  {}{}\n", label, Lines { text, indent }));
    };
    if let Some(help) = result.input.help() {
        line(style.paint(Tone::Faint, "  = help: "), help);
    }
    for pod in &result.pods {
        let tone = if pod.is_allowed() { Tone::Faint } else { Tone::Bad };
        let label = style.paint(tone, text!("its Pod {}: ", pod.name));
        line(label, pod.decision.as_str());
    }
    for cause in undecided {
        line(Text::new(), &cause.to_string());
        line(style.paint(Tone::Faint, "  = help: "), help(&cause.missing));
    }
    for warning in warnings {
        line(style.paint(Tone::Warning, "warning: "), warning);
    }
    for (key, value) in audit_annotations {
        line(style.paint(Tone::Faint, "audit: "), &format!("{key}: {value}"));
    }
    for step in mutations {
        line(Text::new(), &mutation(step));
    }
    for step in defaults::lines(&result.defaults) {
        line(Text::new(), &step);
    }
    if let Some(steps) = &result.steps {
        out.push(&chain::human(steps, all_steps, style));
    }
    for exchange in &result.webhooks {
        out.push(&one_exchange(exchange, style));
    }
    if let Some(object) = object {
        out.push(&Text::yaml(object, 4));
    }
    if let Some(explanation) = &result.explanation {
        out.push(&explanation::whole(explanation, style));
    }
    out
}

/// An exchange with a webhook: request and response.
fn one_exchange(exchange: &WebhookExchange, style: Style) -> Text {
    fn lines(text: &str) -> Lines<'_> {
        let indent = "      ";
        Lines { text, indent }
    }
    let mut out = text!("  {}\n", lines(&exchange.summary()));
    let patch = exchange.patch().unwrap_or_default();
    let bodies = [
        (">", &exchange.review),
        ("<", &exchange.answer),
        ("patch:", &patch),
    ];
    for (label, body) in bodies {
        let body = body.trim_end();
        if !body.is_empty() {
            let body = style.paint(Tone::Faint, text!("{}", lines(body)));
            out.push(&text!("    {} {}\n", label, body));
        }
    }
    out
}

/// Describes the result of a mutation.
fn mutation(step: &Step) -> String {
    let (policy, index) = (&step.policy, step.mutation);
    let again = if step.reinvoked { " again" } else { "" };
    match &step.result {
        StepResult::Changed => format!("{policy} mutations[{index}]{again}: changed the object"),
        StepResult::Unchanged => format!("{policy} mutations[{index}]{again}: left the object unchanged"),
        StepResult::Failed(why) => format!("{policy} mutations[{index}]{again}: failed: {why}"),
    }
}

/// Describes the subject of a request: `CREATE pods/status shop/web`.
pub(crate) fn subject(input: &InputRequest<'_>) -> String {
    let request = &input.request;
    let resource = request.resource.group_resource();
    let part = if request.sub_resource.is_empty() { "" } else { "/" };
    let name = match input.name() {
        "" => "(no name)",
        name => name,
    };
    let namespaced = !request.namespace.is_empty() && resource.resource != "namespaces";
    let namespace = if namespaced {
        format!("{}/", request.namespace)
    } else {
        String::new()
    };
    let parent = input
        .parent
        .as_ref()
        .map(|parent| format!(" of {} {}", parent.kind, parent.name));
    format!(
        "{} {resource}{part}{} {namespace}{name}{}",
        request.operation,
        request.sub_resource,
        parent.unwrap_or_default()
    )
}

/// An AdmissionReview with response, and additional results.
#[derive(Serialize)]
pub(crate) struct JsonReview {
    #[serde(flatten)]
    review: AdmissionReview<'static>,
    /// Where the object is, and what policies decided.
    result: Record,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<JsonUndecided>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value<'static>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    defaults: Vec<JsonDefaults>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<WebhookExchange>,
    /// What each step of the chain did.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<JsonStep>>,
}

impl From<(ReviewResult<'_>, Record)> for JsonReview {
    fn from((result, record): (ReviewResult<'_>, Record)) -> Self {
        let ReviewResult {
            input,
            review,
            pods: _,
            placed: _,
        } = result;
        let object = review.outcome.object.clone();
        let mut record = record;
        // They are members next to the response.
        let undecided = std::mem::take(&mut record.undecided);
        JsonReview {
            result: record,
            undecided,
            review: AdmissionReview::answer(review.outcome.into_response(&input.request)),
            object,
            explanation: review.explanation,
            defaults: review.defaults.into_iter().map(JsonDefaults::from).collect(),
            webhooks: review.webhooks,
            steps: review.steps.as_deref().map(chain::json),
        }
    }
}
