//! Audit annotations as lines of text.

use serde::Deserialize;

use crate::output::counted_nouns::counted;

/// The annotation with the failures that bindings record.
// Upstream: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go, publishValidationFailureAnnotations
const FAILURES: &str = "validation.policy.admission.k8s.io/validation_failure";

/// A failure in the annotation, which is JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedFailure {
    message: String,
    policy: String,
    binding: String,
}

impl RecordedFailure {
    /// Whether a text has it, as a warning or as a denial.
    fn is_in(&self, text: &str) -> bool {
        let RecordedFailure {
            message,
            policy,
            binding,
        } = self;
        let first_line = message.lines().next().unwrap_or_default();
        let forms = [
            format!("'{policy}' with binding '{binding}': {first_line}"),
            format!("'{policy}' with binding '{binding}' denied request: {first_line}"),
            format!("by {policy} with binding {binding}: {first_line}"),
        ];
        let is_end = |line: &str| forms.iter().any(|form| line.ends_with(form));
        text.lines().any(is_end)
    }
}

/// The lines of an annotation. Failures that the text above has, as warnings or denials, are counted.
pub(crate) fn describe_annotation(key: &str, value: &str, text_above: &str) -> Vec<String> {
    let failures = (key == FAILURES).then(|| serde_json::from_str::<Vec<RecordedFailure>>(value).ok());
    let Some(failures) = failures.flatten() else {
        return vec![format!("{key}: {value}")];
    };
    let (told, own): (Vec<RecordedFailure>, Vec<RecordedFailure>) = failures
        .into_iter()
        .partition(|failure| failure.is_in(text_above));
    let lines = own.iter().map(|failure| {
        let RecordedFailure {
            message,
            policy,
            binding,
            ..
        } = failure;
        format!("ValidatingAdmissionPolicy '{policy}' with binding '{binding}': {message}")
    });
    let mut lines: Vec<String> = lines.collect();
    if !told.is_empty() {
        let failures = counted(told.len(), "failure, which is", "failures, which are");
        lines.push(format!("{failures} told above"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_once() {
        let failure = |binding: &str, message: &str| {
            format!(
                "{{\"message\":\"{message}\",\"policy\":\"p\",\"binding\":\"{binding}\",\"expressionIndex\":0,\"validationActions\":[\"Deny\",\"Audit\"]}}"
            )
        };
        let (first, second) = (failure("b", "m"), failure("c", "n\\nof two lines"));
        let own_line = "ValidatingAdmissionPolicy 'p' with binding 'b': m";
        let told = "2 failures, which are told above";
        let list = format!("[{first},{second}]");
        let of_second = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'c': n";
        for (above, expected) in [
            // A denial that a baseline knows is not shown.
            (
                "denied, accepted",
                vec![
                    own_line,
                    "ValidatingAdmissionPolicy 'p' with binding 'c': n\nof two lines",
                ],
            ),
            (of_second, vec![own_line, "1 failure, which is told above"]),
            (
                &format!("p with binding b: m\n{of_second}"),
                vec![own_line, "1 failure, which is told above"],
            ),
            (&format!("by p with binding b: m\n{of_second}"), vec![told]),
            (
                &format!("'p' with binding 'b' denied request: m\n{of_second}"),
                vec![told],
            ),
        ] {
            assert_eq!(describe_annotation(FAILURES, &list, above), expected, "{above}");
        }
        assert_eq!(describe_annotation(FAILURES, "x", ""), [format!("{FAILURES}: x")]);
        assert_eq!(describe_annotation("a/b", "[]", ""), ["a/b: []"]);
    }
}
