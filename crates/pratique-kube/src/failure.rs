//! Messages for failed requests to an API server.

use std::fmt::Write;

use kube::Error;

/// The API server's message, or the chain of errors that kept it from answering.
pub(super) fn error_text(error: &Error) -> String {
    if let Error::Api(status) = error {
        return match status.message.as_str() {
            "" => format!("the server answered {} {}", status.code, status.reason),
            message => message.to_owned(),
        };
    }
    chain(error)
}

/// The same for an error of any type.
pub(super) fn cause_text(error: &(dyn std::error::Error + 'static)) -> String {
    error
        .downcast_ref::<Error>()
        .map_or_else(|| chain(error), error_text)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            // Writing to a String cannot fail.
            let _ = write!(text, ": {message}");
        }
        cause = error.source();
    }
    text
}

/// Whether the API server does not know the resource or the object.
pub(super) fn is_not_found(error: &Error) -> bool {
    matches!(error, Error::Api(status) if status.code == 404)
}

/// Whether the same request may succeed a little later.
pub(super) fn is_passing(error: &Error) -> bool {
    match error {
        Error::Api(status) => matches!(status.code, 429 | 500 | 503 | 504),
        Error::Service(_) | Error::HyperError(_) => true,
        _ => false,
    }
}
