//! Formats results, as text and JSON.

use pratique::Outcome;
use pratique_explain::Explanation;
use pratique_json::Value;
use pratique_policy::{MutationStep, StepResult};
use pratique_report::{Action, Decision};
use pratique_types::{AdmissionReview, Status};
use serde::Serialize;

use crate::evaluation::audit_lines::describe_annotation;
use crate::evaluation::chain::{self, JsonStep, StepSelection};
use crate::evaluation::defaults;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::missing_input::{JsonUndecided, UndecidedReason, help};
use crate::evaluation::placed_cause;
use crate::evaluation::placed_drop;
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::request_subject::RequestSubject;
use crate::evaluation::result::{MadePod, ReviewResult};
use crate::explanation;
use crate::input::fields::PieceFields;
use crate::output::counted_nouns::{count_alike, counted};
use crate::output::problems;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};
use pratique_review::{PolicyDecision, WebhookExchange};

/// What is shown of a result besides what everybody is shown.
#[derive(Clone, Copy)]
pub(crate) struct ShownDetail<'a, 'p> {
    /// Whether all steps of the chain are shown, also those that do nothing, and what the server itself sets.
    // Another output of the same run may record what is set: it is not shown for that.
    pub(crate) all_steps: bool,
    /// Whether each failed validation is shown, and not only the one that the server tells.
    pub(crate) all_findings: bool,
    /// The fields of the text that the object was read of.
    pub(crate) fields: Option<&'a PieceFields<'p>>,
}

/// A result as text, in parts, as what is the same for many objects is not told of each.
pub(crate) struct HumanReview {
    head: PrintableText,
    /// What is missing for a decision.
    undecided: Vec<(UndecidedReason, PrintableText)>,
    rest: PrintableText,
    pub(crate) weight: AnswerWeight,
}

/// Whether an answer has something to say that is of its object only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerWeight {
    /// It has.
    Own,
    /// The object is allowed as it is, and nothing else is to be said.
    Allowed,
    /// The object is undecided for its reasons, and nothing else is to be said.
    Undecided,
}

impl HumanReview {
    /// All of it, as text.
    pub(crate) fn whole(&self) -> PrintableText {
        self.without(|_| false)
    }

    /// The text without the reasons that were told.
    pub(crate) fn without(&self, is_told: impl Fn(&UndecidedReason) -> bool) -> PrintableText {
        let mut out = self.head.clone();
        let untold = self.undecided.iter().filter(|(reason, _)| !is_told(reason));
        untold.for_each(|(_, text)| out.push(text));
        out.push(&self.rest);
        out
    }

    /// Why it is undecided.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &UndecidedReason> {
        self.undecided.iter().map(|(reason, _)| reason)
    }

    /// How many bytes it has, about.
    pub(crate) fn len(&self) -> usize {
        let undecided = self.undecided.iter().map(|(_, text)| text.as_str().len());
        self.head.as_str().len() + undecided.sum::<usize>() + self.rest.as_str().len()
    }
}

/// Formats a result as text.
pub(crate) fn one(
    (result, record): (&ReviewResult<'_>, &DecisionRecord),
    detail: ShownDetail<'_, '_>,
    style: StreamStyle,
) -> HumanReview {
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
    let is_invalid = !record.invalid.is_empty();
    let decision = match status {
        None if !undecided.is_empty() => style.paint(TextTone::Warning, "undecided"),
        None => style.paint(TextTone::Good, "allowed"),
        Some(status) => {
            // Webhooks may give no reason.
            let why = format!("{} {}", status.code, status.reason);
            let by = match result.refused_by() {
                Some(by) => format!(" by {by}"),
                None if result.is_refused && !is_invalid => " by the server itself".to_owned(),
                None => String::new(),
            };
            let denied = text!("denied{} ({})", by, why.trim_end());
            if record.decision == Decision::Accepted {
                style.paint(TextTone::Warning, text!("{}, accepted", denied))
            } else {
                style.paint(TextTone::Bad, denied)
            }
        }
    };
    let is_known = record.decision == Decision::Accepted && record.is_known() && !detail.all_findings;
    let changed = if is_changed(result) { ", changed" } else { "" };
    let place = style.paint(TextTone::Place, result.input.place());
    let subject = subject(result.input);
    let mut head = text!("{}: {}: {}{}\n", place, subject, decision, changed);
    if let (Some(Status { message, .. }), false) = (status.as_deref(), is_known) {
        head.push(&line(PrintableText::new(), message));
        if let Some(location) = record.warning_places.get(message) {
            head.push(&line(
                style.paint(TextTone::Faint, "  = source: "),
                &problems::place(location),
            ));
        }
    }
    head.push(&accepted(record, is_known, style));
    head.push(&placed_cause::human(&record.invalid, detail.fields, style));
    if let Some(help) = result.help() {
        head.push(&line(style.paint(TextTone::Faint, "  = help: "), help));
    }
    head.push(&more_denials(record, detail.all_findings, style));
    for pod in &result.pods {
        let tone = if pod.is_allowed() {
            TextTone::Faint
        } else {
            TextTone::Bad
        };
        let label = style.paint(tone, text!("its Pod {}: ", pod.name));
        head.push(&line(label, pod.decision.as_str()));
    }
    let undecided = undecided.iter().map(|cause| {
        let mut text = line(PrintableText::new(), &cause.to_string());
        text.push(&line(
            style.paint(TextTone::Faint, "  = help: "),
            &help(&cause.missing),
        ));
        (JsonUndecided::from(cause).reason(), text)
    });
    let mut rest = PrintableText::new();
    for warning in warnings {
        let place = record.warning_places.get(warning).map(problems::place);
        let told = place.map_or_else(|| warning.clone(), |place| format!("{place}: {warning}"));
        rest.push(&line(style.paint(TextTone::Warning, "warning: "), &told));
    }
    rest.push(&placed_drop::human(&record.dropped, detail.fields, style));
    // Mutations and calls that failed are among the steps below.
    let is_ignored = |decision: &&PolicyDecision| decision.action == Action::Ignore && !decision.is_step;
    for decision in record.policies.iter().filter(is_ignored) {
        let told = match decision.names_and_message() {
            (policy, "", message) => format!("{policy}: {message}"),
            (policy, binding, message) => format!("{policy} with binding {binding}: {message}"),
        };
        rest.push(&line(style.paint(TextTone::Warning, "ignored: "), &told));
    }
    if !audit_annotations.is_empty() {
        let text_above = format!("{}{}", head.as_str(), rest.as_str());
        for (key, value) in audit_annotations {
            for told in describe_annotation(key, value, &text_above) {
                rest.push(&line(style.paint(TextTone::Faint, "audit: "), &told));
            }
        }
    }
    // The steps of the chain say what changed.
    let is_step =
        |step: &&MutationStep| result.steps.is_some() && !matches!(step.result, StepResult::Failed(_));
    for step in mutations.iter().filter(|step| !is_step(step)) {
        rest.push(&line(PrintableText::new(), &mutation(step)));
    }
    if detail.all_steps {
        for step in defaults::lines(&result.defaults) {
            rest.push(&line(PrintableText::new(), &step));
        }
    }
    if let Some(steps) = &result.steps {
        let selection = match status {
            _ if detail.all_steps => StepSelection::All,
            Some(_) => StepSelection::Acting,
            None => StepSelection::Changes,
        };
        rest.push(&chain::human(steps, selection, style));
    }
    for exchange in &result.webhooks {
        rest.push(&one_exchange(exchange, style));
    }
    match object {
        Some(object) if status.is_some() => rest.push(&PrintableText::yaml(object, 4)),
        // The steps of the chain name the fields.
        Some(object) if result.steps.is_none() => {
            let changed = chain::paths(&result.input.request.object, object);
            rest.push(&line(style.paint(TextTone::Good, "changed: "), &changed));
        }
        _ => {}
    }
    if let Some(explanation) = &result.explanation {
        rest.push(&explanation::whole(explanation, style));
    }
    HumanReview {
        head,
        undecided: undecided.collect(),
        rest,
        weight: weight(result, record, detail),
    }
}

/// A line of an answer.
fn line(label: PrintableText, text: &str) -> PrintableText {
    let indent = "    ";
    text!("  {}{}\n", label, IndentedLines { text, indent })
}

/// Whether anything but the server itself changed the object.
fn is_changed(result: &ReviewResult<'_>) -> bool {
    match &result.steps {
        Some(steps) if result.outcome.allowed() || !result.outcome.undecided.is_empty() => {
            steps.iter().any(chain::is_change)
        }
        _ => result.outcome.object.is_some(),
    }
}

/// What is accepted, and why. Of what a baseline knows, that it does is enough.
fn accepted(record: &DecisionRecord, is_known: bool, style: StreamStyle) -> PrintableText {
    let mut out = PrintableText::new();
    let label = || style.paint(TextTone::Faint, "accepted: ");
    if is_known {
        return line(label(), "known to the baseline");
    }
    // An exception may accept several findings of an object.
    let reasons = record.accepted.iter().map(|finding| {
        let policy = match finding.policy.as_str() {
            "" => "the server",
            policy => policy,
        };
        format!("{policy}: {}", finding.why())
    });
    for (reason, count) in count_alike(reasons) {
        let times = match count {
            1 => String::new(),
            count => format!(" ({})", counted(count, "finding", "findings")),
        };
        out.push(&line(label(), &format!("{reason}{times}")));
    }
    out
}

/// The denials besides the one that the server tells, which is the first.
fn more_denials(record: &DecisionRecord, all: bool, style: StreamStyle) -> PrintableText {
    let is_denial = |decision: &&PolicyDecision| decision.action == Action::Deny;
    // The first may be one that is accepted.
    let is_told = record.message.as_deref().is_some_and(|message| {
        let mut denials = record.policies.iter().filter(is_denial);
        denials
            .next()
            .is_some_and(|first| message.ends_with(&first.message))
    });
    let more = record
        .policies
        .iter()
        .filter(is_denial)
        .skip(usize::from(is_told));
    let label = || style.paint(TextTone::Faint, "also ");
    // What a server tells of is accepted: what is not is told in any case.
    if all || !is_told {
        let mut out = PrintableText::new();
        for PolicyDecision {
            policy,
            binding,
            message,
            ..
        } in more
        {
            out.push(&line(
                label(),
                &format!("by {policy} with binding {binding}: {message}"),
            ));
        }
        return out;
    }
    match more.count() {
        0 => PrintableText::new(),
        count => line(
            PrintableText::new(),
            &format!("and {count} more: --all shows them"),
        ),
    }
}

fn weight(result: &ReviewResult<'_>, record: &DecisionRecord, detail: ShownDetail<'_, '_>) -> AnswerWeight {
    let outcome = &result.outcome;
    // PodSecurity says of each Pod and workload by which level it was evaluated.
    let is_usual = |key: &String| key == "pod-security.kubernetes.io/enforce-policy";
    let says_something = outcome.status.is_some()
        || is_changed(result)
        || !record.policies.is_empty()
        || !outcome.warnings.is_empty()
        || !record.dropped.is_empty()
        || !outcome.audit_annotations.keys().all(is_usual)
        || !outcome.mutations.is_empty()
        || (detail.all_steps && !result.defaults.is_empty())
        || !result.webhooks.is_empty()
        || result.explanation.is_some()
        || result.pods.iter().any(|pod| pod.decision.denies());
    if says_something {
        AnswerWeight::Own
    } else if !outcome.undecided.is_empty() {
        AnswerWeight::Undecided
    } else if result.pods.iter().all(MadePod::is_allowed) {
        AnswerWeight::Allowed
    } else {
        AnswerWeight::Own
    }
}

/// An exchange with a webhook: request and response.
fn one_exchange(exchange: &WebhookExchange, style: StreamStyle) -> PrintableText {
    fn lines(text: &str) -> IndentedLines<'_> {
        let indent = "      ";
        IndentedLines { text, indent }
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
            let body = style.paint(TextTone::Faint, text!("{}", lines(body)));
            out.push(&text!("    {} {}\n", label, body));
        }
    }
    out
}

/// Describes the result of a mutation.
fn mutation(step: &MutationStep) -> String {
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
    let subject = RequestSubject {
        operation: request.operation,
        resource: &request.resource.group_resource().to_string(),
        subresource: &request.sub_resource,
        namespace: &request.namespace,
        name: input.name(),
        parent: input.parent.as_ref(),
    };
    subject.to_string()
}

/// An AdmissionReview with response, and additional results.
#[derive(Serialize)]
pub(crate) struct JsonReview {
    #[serde(flatten)]
    review: AdmissionReview<'static>,
    /// Where the object is, and what policies decided.
    result: DecisionRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<JsonUndecided>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value<'static>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    defaults: Vec<pratique::api_objects::Defaults>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<WebhookExchange>,
    /// What each step of the chain did.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<JsonStep>>,
}

impl JsonReview {
    /// A result; `explains` is whether what the server itself sets is among it.
    pub(crate) fn new(result: ReviewResult<'_>, record: DecisionRecord, explains: bool) -> Self {
        let ReviewResult {
            input,
            review,
            pods: _,
            placed: _,
            drops: _,
            warning_places: _,
        } = result;
        let object = review.outcome.object.clone();
        let defaults = review.defaults.into_iter().filter(|_| explains);
        let mut record = record;
        // They are members next to the response.
        let undecided = std::mem::take(&mut record.undecided);
        JsonReview {
            result: record,
            undecided,
            review: AdmissionReview::answer(review.outcome.into_response(&input.request)),
            object,
            explanation: review.explanation,
            defaults: defaults.collect(),
            webhooks: review.webhooks,
            steps: review.steps.as_deref().map(chain::json),
        }
    }
}
