//! Verdicts, for people and for programs.

use std::fmt::Write as _;

use pratique::{AdmissionDecision, Missing, Outcome, Undecided};
use pratique_explain::Explanation;
use pratique_json::Value;
use pratique_policy::{Step, StepResult};
use pratique_suite::yaml;
use pratique_types::{AdmissionReview, Status};
use serde::Serialize;

use super::Question;
use super::refused::Refused;
use super::webhooks::Exchange;
use crate::exit::Trouble;
use crate::explanation;
use crate::style::{Style, Tone};

/// A request and what came of it.
pub(super) struct Judged<'q> {
    pub(super) question: &'q Question,
    pub(super) outcome: Outcome,
    /// How it came about, if that was asked for.
    pub(super) explanation: Option<Explanation>,
    /// What went to webhooks and came back, if they were called.
    pub(super) webhooks: Vec<Exchange>,
}

/// Each verdict with what there is to say, and the count of each kind.
pub(super) fn human(judged: &[Judged<'_>], refused: &Refused, style: Style) -> String {
    let mut out: String = judged.iter().map(|judged| one(judged, style)).collect();
    let count = |decision| {
        let decided = judged
            .iter()
            .filter(|judged| judged.outcome.decision() == decision);
        decided.count()
    };
    let [allowed, denied, undecided] = [
        AdmissionDecision::Allowed,
        AdmissionDecision::Denied,
        AdmissionDecision::Undecided,
    ]
    .map(count);
    let _ = write!(out, "\n{allowed} allowed, {denied} denied");
    if undecided > 0 {
        let _ = write!(out, ", {undecided} undecided");
    }
    let _ = writeln!(out, "{}", refused.counted());
    out
}

fn one(judged: &Judged<'_>, style: Style) -> String {
    let Outcome {
        status,
        undecided,
        cause: _,
        object,
        mutations,
        warnings,
        audit_annotations,
        patch_annotations: _,
    } = &judged.outcome;
    let verdict = match status {
        None if !undecided.is_empty() => style.paint(Tone::Warning, "undecided"),
        None => style.paint(Tone::Good, "allowed"),
        Some(status) => {
            // Webhooks may give no reason.
            let why = format!("{} {}", status.code, status.reason);
            style.paint(Tone::Bad, &format!("denied ({})", why.trim_end()))
        }
    };
    let changed = if object.is_some() { ", changed" } else { "" };
    let place = style.paint(Tone::Place, &judged.question.place);
    let mut out = format!("{place}: {}: {verdict}{changed}\n", subject(judged.question));
    let mut line = |label: String, text: &str| out.push_str(&format!("  {label}{}\n", indented(text)));
    if let Some(Status { message, .. }) = status.as_deref() {
        line(String::new(), message);
    }
    for own in undecided {
        line(String::new(), &own.to_string());
        line(style.paint(Tone::Faint, "  = help: "), help(&own.missing));
    }
    for warning in warnings {
        line(style.paint(Tone::Warning, "warning: "), warning);
    }
    for (key, value) in audit_annotations {
        line(style.paint(Tone::Faint, "audit: "), &format!("{key}: {value}"));
    }
    for step in mutations {
        line(String::new(), &mutation(step));
    }
    for exchange in &judged.webhooks {
        line(String::new(), &exchange.told());
        for (sign, text) in [(">", &exchange.review), ("<", &exchange.answer)] {
            let text = text.trim_end();
            if !text.is_empty() {
                line(format!("  {sign} "), &style.paint(Tone::Faint, text));
            }
        }
        if let Some(patch) = exchange.patch() {
            line("  patch: ".to_owned(), &style.paint(Tone::Faint, &patch));
        }
    }
    if let Some(object) = object {
        out.push_str(&yaml::block(object, 4));
    }
    if let Some(explanation) = &judged.explanation {
        out.push_str(&explanation::whole(explanation, style));
    }
    out
}

/// How to give what is missing.
fn help(missing: &Missing) -> &'static str {
    match missing {
        Missing::Authorizer { .. } => "say with --authorizer FILE what users may do",
        Missing::Params { .. } => {
            "give those that the cluster has, and the definition of their kind, with --objects PATH"
        }
        _ => "give the namespace as the cluster has it with --objects PATH or --namespace-object FILE",
    }
}

/// What a mutation did.
fn mutation(step: &Step) -> String {
    let (policy, index) = (&step.policy, step.mutation);
    let again = if step.reinvoked { " again" } else { "" };
    match &step.result {
        StepResult::Changed => format!("{policy} mutations[{index}]{again}: changed the object"),
        StepResult::Unchanged => format!("{policy} mutations[{index}]{again}: left the object as it is"),
        StepResult::Failed(why) => format!("{policy} mutations[{index}]{again}: failed: {why}"),
    }
}

/// What is denied or undecided.
pub(super) fn denials(judged: &[Judged<'_>], style: Style) -> String {
    let denied = judged.iter().filter(|judged| !judged.outcome.allowed());
    denied.map(|judged| one(judged, style)).collect()
}

/// What a request is about: `CREATE pods/status shop/web`.
fn subject(question: &Question) -> String {
    let request = &question.request;
    let resource = request.resource.group_resource();
    let part = if request.sub_resource.is_empty() { "" } else { "/" };
    let object = if request.object.is_null() {
        &request.old_object
    } else {
        &request.object
    };
    let given = object.at(&["metadata", "generateName"]).and_then(Value::as_str);
    let name = match request.name.as_str() {
        "" => given.unwrap_or("(no name)"),
        name => name,
    };
    let namespaced = !request.namespace.is_empty() && resource.resource != "namespaces";
    let namespace = if namespaced {
        format!("{}/", request.namespace)
    } else {
        String::new()
    };
    format!(
        "{} {resource}{part}{} {namespace}{name}",
        request.operation, request.sub_resource
    )
}

/// A text of several lines, the further ones in line with the first.
fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n  ")
}

/// An AdmissionReview, and beside its response how that came about and what became of the object.
#[derive(Serialize)]
struct Answered {
    #[serde(flatten)]
    review: AdmissionReview<'static>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<Open>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value<'static>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<Exchange>,
}

/// What a policy or webhook depends on that was not given.
#[derive(Serialize)]
struct Open {
    plugin: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<String>,
    missing: &'static str,
    message: String,
    help: &'static str,
}

impl From<&Undecided> for Open {
    fn from(undecided: &Undecided) -> Self {
        Open {
            plugin: undecided.plugin,
            name: undecided.name.clone(),
            binding: undecided.binding.clone(),
            missing: undecided.missing.kind(),
            message: undecided.missing.to_string(),
            help: help(&undecided.missing),
        }
    }
}

/// An AdmissionReview on each line.
pub(super) fn json(judged: Vec<Judged<'_>>) -> Result<String, Trouble> {
    let mut out = String::new();
    for judged in judged {
        let object = judged.outcome.object.clone();
        let undecided = judged.outcome.undecided.iter().map(Open::from).collect();
        let answer = Answered {
            undecided,
            review: AdmissionReview::answer(judged.outcome.into_response(&judged.question.request)),
            object,
            explanation: judged.explanation,
            webhooks: judged.webhooks,
        };
        let text = serde_json::to_string(&answer).map_err(|error| Trouble::Write(error.into()))?;
        out.push_str(&text);
        out.push('\n');
    }
    Ok(out)
}
