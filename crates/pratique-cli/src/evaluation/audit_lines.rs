//! Audit annotations as lines of text.

use serde::Deserialize;

use crate::output::counted::counted;

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
    validation_actions: Vec<String>,
}

/// The lines of an annotation. Failures that are warnings or denials as well were told, and are counted.
pub(crate) fn describe_annotation(key: &str, value: &str) -> Vec<String> {
    let failures = (key == FAILURES).then(|| serde_json::from_str::<Vec<RecordedFailure>>(value).ok());
    let Some(failures) = failures.flatten() else {
        return vec![format!("{key}: {value}")];
    };
    let (own, told): (Vec<RecordedFailure>, Vec<RecordedFailure>) = failures
        .into_iter()
        .partition(|failure| failure.validation_actions.iter().all(|action| action == "Audit"));
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
        let failure = |actions: &str| {
            format!(
                "{{\"message\":\"m\",\"policy\":\"p\",\"binding\":\"b\",\"expressionIndex\":0,\"validationActions\":[{actions}]}}"
            )
        };
        let (own, warned) = (failure("\"Audit\""), failure("\"Warn\",\"Audit\""));
        let own_line = "ValidatingAdmissionPolicy 'p' with binding 'b': m";
        for (value, expected) in [
            (format!("[{own}]"), vec![own_line]),
            (format!("[{warned}]"), vec!["1 failure, which is told above"]),
            (
                format!("[{warned},{own},{warned}]"),
                vec![own_line, "2 failures, which are told above"],
            ),
        ] {
            assert_eq!(describe_annotation(FAILURES, &value), expected);
        }
        assert_eq!(describe_annotation(FAILURES, "x"), [format!("{FAILURES}: x")]);
        assert_eq!(describe_annotation("a/b", "[]"), ["a/b: []"]);
    }
}
