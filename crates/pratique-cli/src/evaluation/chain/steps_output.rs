//! Shows the steps of the chain, as text, as diffs, and as JSON.

use pratique::observer::{AdmissionPhase, PREPARATION};
use pratique_json::Value;
use pratique_merge::json_patch::diff;
use pratique_objects::changed_paths;
use serde::Serialize;

use crate::evaluation::diff::between;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};
use pratique_review::chain::{DEFAULTING, ReviewStep, StepEffect};
use pratique_review::without_defaults;

/// How many changed fields of a step are listed.
const MAX_PATHS: usize = 8;

/// Which steps are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepSelection {
    /// All of them.
    All,
    /// Those that do something.
    Acting,
    /// The changes by plugins, policies and webhooks. What a server sets in every object is not among them.
    Changes,
}

impl StepSelection {
    fn selects(self, step: &ReviewStep) -> bool {
        match self {
            StepSelection::All => true,
            StepSelection::Acting => step.did != StepEffect::Passed,
            StepSelection::Changes => is_change(step),
        }
    }
}

/// Whether a plugin, a policy or a webhook changed the object.
pub(crate) fn is_change(step: &ReviewStep) -> bool {
    let is_own = [DEFAULTING, PREPARATION].contains(&step.name.as_str());
    !is_own && matches!(step.did, StepEffect::Changed { .. })
}

/// The selected steps as text.
pub(crate) fn human(steps: &[ReviewStep], selection: StepSelection, style: StreamStyle) -> PrintableText {
    let mut out = PrintableText::new();
    for step in steps.iter().filter(|step| selection.selects(step)) {
        let (tone, what) = match &step.did {
            StepEffect::Passed => (TextTone::Faint, "passed".to_owned()),
            StepEffect::Changed {
                old_object,
                new_object,
            } => (
                TextTone::Good,
                format!("changed {}", paths(old_object, new_object)),
            ),
            StepEffect::Refused(why) => (TextTone::Bad, format!("refused: {why}")),
            StepEffect::Undecided(why) => (TextTone::Warning, format!("undecided: {why}")),
        };
        let lines = IndentedLines {
            text: &what,
            indent: "      ",
        };
        let label = style.paint(tone, text!("{}:", title(step)));
        out.push(&text!("  step {} {}\n", label, lines));
    }
    out
}

/// The admission plugin, and the policy or webhook: `MutatingAdmissionPolicy team again (validate)`.
fn title(step: &ReviewStep) -> String {
    let by = step.by.as_ref().map(|by| format!(" {by}")).unwrap_or_default();
    let again = if step.is_reinvoked { " again" } else { "" };
    let half = match (step.phase, &step.did) {
        (AdmissionPhase::Validating, StepEffect::Passed) => " (validate)",
        _ => "",
    };
    format!("{}{by}{again}{half}", step.name)
}

/// The fields that differ, the first of them.
pub(crate) fn paths(old_object: &Value<'_>, new_object: &Value<'_>) -> String {
    let paths = changed_paths(old_object, new_object);
    let more = paths.len().saturating_sub(MAX_PATHS);
    let mut listed = paths.into_iter().take(MAX_PATHS).collect::<Vec<_>>().join(", ");
    if more > 0 {
        listed.push_str(&format!(" and {more} more"));
    }
    listed
}

/// The changes of each step as a unified diff, of what the one before it showed.
pub(crate) fn diffs(steps: &[ReviewStep], place: &str, style: StreamStyle) -> PrintableText {
    let mut out = PrintableText::new();
    let mut shown_object: Option<Value<'static>> = None;
    for step in steps {
        let StepEffect::Changed {
            old_object,
            new_object,
        } = &step.did
        else {
            continue;
        };
        let previous_object = shown_object.as_ref().unwrap_or(old_object);
        let new_object = without_defaults(previous_object, new_object);
        if *previous_object != new_object {
            let title = format!("as {} leaves it", title(step));
            out.push(&between(place, &title, previous_object, &new_object, style));
        }
        shown_object = Some(new_object);
    }
    out
}

/// A step in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsonStep {
    /// The admission plugin; `defaulting` and `preparation` for what the server does besides.
    name: String,
    /// The policy or webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    phase: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reinvoked: bool,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// A JSON Patch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    patch: Vec<Value<'static>>,
}

/// The steps in JSON.
pub(crate) fn json(steps: &[ReviewStep]) -> Vec<JsonStep> {
    let step = |step: &ReviewStep| {
        let (result, message) = match &step.did {
            StepEffect::Passed => ("passed", None),
            StepEffect::Changed { .. } => ("changed", None),
            StepEffect::Refused(why) => ("refused", Some(why.clone())),
            StepEffect::Undecided(why) => ("undecided", Some(why.clone())),
        };
        let patch = match &step.did {
            StepEffect::Changed {
                old_object,
                new_object,
            } => {
                let operations = diff(old_object, new_object).into_iter().map(Value::from);
                operations.map(Value::into_owned).collect()
            }
            _ => Vec::new(),
        };
        JsonStep {
            name: step.name.clone(),
            by: step.by.clone(),
            phase: match step.phase {
                AdmissionPhase::Mutating => "mutating",
                AdmissionPhase::Validating => "validating",
            },
            reinvoked: step.is_reinvoked,
            result,
            message,
            patch,
        }
    };
    steps.iter().map(step).collect()
}
