//! The statuses of requests that webhooks, or the way to them, refuse.

use pratique_cel::OutOfMemory;
use pratique_gotext::strconv::quote;
use pratique_match::MatchError;
use pratique_types::{GroupVersionResource, Reason, Status, StatusCause, StatusDetails};

/// An error of the server itself.
pub(crate) fn internal(error: &str) -> Status {
    let mut status = Status::failure(Reason::InternalError, format!("Internal error occurred: {error}"));
    status.details = Some(StatusDetails {
        causes: vec![StatusCause {
            message: error.to_owned(),
            ..StatusCause::default()
        }],
        ..StatusDetails::default()
    });
    status
}

/// An error of which nothing is known but its text.
pub(crate) fn unknown(error: String) -> Status {
    Status {
        reason: String::new(),
        ..Status::failure(Reason::InternalError, error)
    }
}

/// The request's own deadline has passed.
pub(crate) fn timeout() -> Status {
    let mut status = Status::failure(
        Reason::Timeout,
        "Timeout: request did not complete within requested timeout",
    );
    status.details = Some(StatusDetails::default());
    status
}

/// There is no memory to call a webhook, or for what it answers.
pub(crate) fn out_of_memory(webhook: &str, error: OutOfMemory) -> Status {
    let reason = match error {
        OutOfMemory::Limit => Reason::RequestEntityTooLarge,
        OutOfMemory::Budget => Reason::TooManyRequests,
    };
    Status::failure(reason, format!("calling webhook {}: {error}", quote(webhook)))
}

/// A webhook that may have side effects, in a dry run.
pub(crate) fn no_dry_run(webhook: &str) -> Status {
    Status::failure(
        Reason::BadRequest,
        format!("admission webhook {} does not support dry run", quote(webhook)),
    )
}

/// `pods "p" is forbidden: …`
pub(crate) fn forbidden(resource: &GroupVersionResource, name: &str, error: &str) -> Status {
    let resource = resource.group_resource();
    let message = match (resource.resource.as_str(), name) {
        ("", _) => format!("forbidden: {error}"),
        (_, "") => format!("{resource} is forbidden: {error}"),
        _ => format!("{resource} {} is forbidden: {error}", quote(name)),
    };
    let mut status = Status::failure(Reason::Forbidden, message);
    status.details = Some(StatusDetails {
        name: name.to_owned(),
        group: resource.group,
        kind: resource.resource,
        ..StatusDetails::default()
    });
    status
}

/// It cannot be told whether a webhook is to be called.
pub(crate) fn unmatchable(error: &MatchError) -> Status {
    match error {
        MatchError::NamespaceNotFound(name) => {
            let mut status = Status::failure(Reason::NotFound, error.to_string());
            status.details = Some(StatusDetails {
                name: name.clone(),
                kind: "namespaces".to_owned(),
                ..StatusDetails::default()
            });
            status
        }
        MatchError::InvalidSelector(selector) => internal(&selector.to_string()),
        MatchError::NoMetadata => internal("object does not implement the Object interfaces"),
        MatchError::UnknownKind(_)
        | MatchError::NoConstraints
        | MatchError::NoSelector(_)
        | MatchError::UnknownLabels { .. } => internal(&error.to_string()),
    }
}

/// A webhook said no, perhaps with a status.
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
