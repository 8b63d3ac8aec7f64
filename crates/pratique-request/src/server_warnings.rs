//! The warnings that a server gives besides those of policies.

/// The warnings of an outcome that no decision of a policy gives: those of fields, of deprecated kinds, of plugins and of
/// webhooks. `decided` are the names of policy and binding, and the message, of each decision of which the user is warned.
pub fn server_warnings<'w, 'd>(
    warnings: &'w [String],
    decided: impl IntoIterator<Item = (&'d str, &'d str, &'d str)>,
) -> Vec<&'w str> {
    let mut left: Vec<&str> = warnings.iter().map(String::as_str).collect();
    for (policy, binding, message) in decided {
        // Upstream: pkg/admission/plugin/policy/validating/dispatcher.go, dispatchInvocations
        let text = format!(
            "Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{binding}': {message}"
        );
        // Those of policies come after the others, in any number: each decision stands for one.
        if let Some(index) = left.iter().rposition(|warning| *warning == text) {
            left.remove(index);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_policies_are_told_apart() {
        let of_policy = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no";
        let warnings = [r#"unknown field "spec.a""#, of_policy, of_policy, "by a webhook"].map(str::to_owned);
        let decided = [("p", "b", "no"), ("p", "other", "no")];
        assert_eq!(
            server_warnings(&warnings, decided),
            [r#"unknown field "spec.a""#, of_policy, "by a webhook"]
        );
        assert!(server_warnings(&warnings[1..3], [("p", "b", "no"), ("p", "b", "no")]).is_empty());
    }
}
