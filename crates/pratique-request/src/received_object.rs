//! Objects as a server decodes them, and the warnings that it gives besides those of policies.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_typed::decode;
use pratique_types::{GroupVersionKind, Reason, Status};

/// Decodes an object as a server does before admission: gives the warnings about its fields.
///
/// # Errors
/// The server cannot decode it, and answers with the status.
pub fn decode_object(kind: &GroupVersionKind, object: &Value<'_>) -> Result<Vec<String>, Box<Status>> {
    decode_object_in(Release::latest(), kind, object)
}

/// As [`decode_object`], as a server of a release does.
///
/// # Errors
/// As [`decode_object`].
pub fn decode_object_in(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &Value<'_>,
) -> Result<Vec<String>, Box<Status>> {
    decode::received_in(release.schema(), kind, object)
        .map_err(|why| Box::new(Status::failure(Reason::BadRequest, why)))
}

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

    #[test]
    fn what_cannot_be_decoded_is_refused() {
        let kind = GroupVersionKind::new("", "v1", "ConfigMap");
        let object =
            pratique_json::parse(br#"{"apiVersion": "v1", "kind": "ConfigMap", "data": ""}"#).unwrap();
        let status = decode_object(&kind, &object).unwrap_err();
        assert_eq!((status.code, status.reason.as_str()), (400, "BadRequest"));
    }
}
