//! Why an API server did not do what it was asked for, in words.

use std::fmt::Write;

use kube::Error;

/// What an API server says, or the whole chain of what went wrong on the way to it.
pub(super) fn text(error: &Error) -> String {
    if let Error::Api(status) = error {
        return match status.message.as_str() {
            "" => format!("the server answered {} {}", status.code, status.reason),
            message => message.to_owned(),
        };
    }
    chain(error)
}

/// The same of an error that may be of another kind.
pub(super) fn of(error: &(dyn std::error::Error + 'static)) -> String {
    error.downcast_ref::<Error>().map_or_else(|| chain(error), text)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            // Text takes everything.
            let _ = write!(text, ": {words}");
        }
        cause = error.source();
    }
    text
}

/// Whether the API server does not know the resource or the object.
pub(super) fn is_not_found(error: &Error) -> bool {
    matches!(error, Error::Api(status) if status.code == 404)
}

/// Whether the same question may have an answer a little later.
pub(super) fn is_passing(error: &Error) -> bool {
    match error {
        Error::Api(status) => matches!(status.code, 429 | 500 | 503 | 504),
        Error::Service(_) | Error::HyperError(_) => true,
        _ => false,
    }
}
