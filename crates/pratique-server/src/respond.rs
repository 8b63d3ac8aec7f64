//! Answers over HTTP: JSON, text, and failures as an API server words them.

use std::io;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use pratique_types::AdmissionReview;
use serde::Serialize;

/// The reason of a `Status`, as an extension of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reason(pub(crate) &'static str);

/// An answer.
pub(crate) type Answer = Response<Bytes>;

/// Text of the given type.
pub(crate) fn text(status: StatusCode, content_type: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Plain text.
pub(crate) fn plain(status: StatusCode, words: &str) -> Answer {
    text(status, "text/plain; charset=utf-8", format!("{words}\n"))
}

/// JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => text(status, "application/json", bytes),
        Err(error) => plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("cannot write the answer: {error}"),
        ),
    }
}

/// The answer to a review, if it is not longer than this.
pub(crate) fn review(review: &AdmissionReview<'_>, limit: usize) -> Answer {
    let mut text = Bounded {
        bytes: Vec::new(),
        limit,
    };
    match serde_json::to_writer(&mut text, review) {
        Ok(()) => self::text(StatusCode::OK, "application/json", text.bytes),
        Err(_) => {
            let message = format!("the answer is larger than {limit} bytes");
            failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
        }
    }
}

/// A text that does not grow beyond a limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        match self.limit.checked_sub(self.bytes.len()) {
            Some(left) if left >= more.len() => self.bytes.write(more),
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failure, as a `Status`.
pub(crate) fn failure(status: StatusCode, reason: &'static str, message: impl Into<String>) -> Answer {
    #[derive(Serialize)]
    struct Whole {
        kind: &'static str,
        #[serde(rename = "apiVersion")]
        api_version: &'static str,
        metadata: Empty,
        status: &'static str,
        message: String,
        reason: &'static str,
        code: u16,
    }
    #[derive(Serialize)]
    struct Empty {}
    let whole = Whole {
        kind: "Status",
        api_version: "v1",
        metadata: Empty {},
        status: "Failure",
        message: message.into(),
        reason,
        code: status.as_u16(),
    };
    let mut answer = json(status, &whole);
    answer.extensions_mut().insert(Reason(reason));
    answer
}

/// A failure that is over soon: API servers try again after a second.
pub(crate) fn later(status: StatusCode, reason: &'static str, message: impl Into<String>) -> Answer {
    with(failure(status, reason, message), RETRY_AFTER, "1")
}

/// There is no memory for a request, or there are too many.
pub(crate) fn busy() -> Answer {
    let message = "too many requests, please try again later";
    later(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
}

/// With a header.
pub(crate) fn with(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}

/// What HEAD gets: the length that the body would have. HTTP/2 allows no body there, and sends what it is given.
pub(crate) fn without_body(mut answer: Answer) -> Answer {
    let length = answer.body().len();
    *answer.body_mut() = Bytes::new();
    answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    answer
}
