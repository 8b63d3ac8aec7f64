//! Statuses of requests that are refused by webhooks, or because of them.

use pratique_cel::OutOfMemory;
use pratique_core::status::{namespace_not_found, out_of_memory_reason};
use pratique_gotext::strconv::quote;
use pratique_match::MatchError;
use pratique_types::status::{bad_request, internal_error};
pub(crate) use pratique_types::status::{forbidden, timeout};
use pratique_types::{Reason, Status};

/// An error that has a message only.
pub(crate) fn unknown(error: &str) -> Status {
    Status {
        reason: String::new(),
        ..Status::failure(Reason::InternalError, error.to_owned())
    }
}

/// There is no memory to call a webhook, or for its answer.
pub(crate) fn out_of_memory(webhook: &str, error: OutOfMemory) -> Status {
    let reason = out_of_memory_reason(error);
    Status::failure(reason, format!("calling webhook {}: {error}", quote(webhook)))
}

/// A webhook that may have side effects, in a dry run.
pub(crate) fn no_dry_run(webhook: &str) -> Status {
    bad_request(format!(
        "admission webhook {} does not support dry run",
        quote(webhook)
    ))
}

/// The status of a request for which the match of a webhook fails.
pub(crate) fn unmatchable(error: &MatchError) -> Status {
    match error {
        MatchError::NamespaceNotFound(name) => {
            let message = error.to_string();
            Status {
                message,
                ..namespace_not_found(name)
            }
        }
        MatchError::InvalidSelector(selector) => internal_error(&selector.to_string()),
        MatchError::NoMetadata => internal_error("object does not implement the Object interfaces"),
        MatchError::UnknownKind(_)
        | MatchError::NoConstraints
        | MatchError::NoSelector(_)
        | MatchError::UnknownLabels { .. }
        | MatchError::UnknownOldObject(_)
        | MatchError::UnknownResource(_) => internal_error(&error.to_string()),
    }
}

/// A webhook denied the request, perhaps with a status.
// Upstream: pkg/admission/plugin/webhook/errors/statuserror.go, ToStatusErr
pub(crate) fn denied(webhook: &str, result: Option<Status>) -> Status {
    let mut status = result.unwrap_or_default();
    status.code = status.code.max(400);
    if matches!(status.status.as_str(), "" | "Success") {
        status.status = "Failure".to_owned();
    }
    let denied = format!("admission webhook {} denied the request", quote(webhook));
    status.message = match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: Option<Status>, message: &str, code: i32) {
        let status = denied("h.example.com", result);
        assert_eq!(
            status.message,
            format!("admission webhook \"h.example.com\" denied the request{message}")
        );
        assert_eq!((status.code, status.status.as_str()), (code, "Failure"));
    }

    #[test]
    fn denials_explain_themselves() {
        let status = |message: &str, reason: &str, code| Status {
            message: message.to_owned(),
            reason: reason.to_owned(),
            code,
            status: "Success".to_owned(),
            ..Status::default()
        };
        check(None, " without explanation", 400);
        check(Some(status("", "", 200)), " without explanation", 400);
        check(Some(status("no", "Forbidden", 403)), ": no", 403);
        check(Some(status("", "Forbidden", 1000)), ": Forbidden", 1000);
    }
}
