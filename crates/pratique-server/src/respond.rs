//! HTTP responses: JSON, text, and failures as an API server returns them.

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
pub(crate) struct StatusReason(pub(crate) &'static str);

/// A complete response.
pub(crate) type HttpResponse = Response<Bytes>;

/// A text response.
pub(crate) fn respond_text(
    status: StatusCode,
    content_type: &'static str,
    text: impl Into<Bytes>,
) -> HttpResponse {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A plain text response.
pub(crate) fn plain(status: StatusCode, line: &str) -> HttpResponse {
    respond_text(status, "text/plain; charset=utf-8", format!("{line}\n"))
}

/// A JSON response.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(bytes) => respond_text(status, "application/json", bytes),
        Err(error) => plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("cannot write the answer: {error}"),
        ),
    }
}

/// The response to a review; an error if it is longer than `limit` bytes.
pub(crate) fn review(review: &AdmissionReview<'_>, limit: usize) -> HttpResponse {
    let mut text = BoundedWriter {
        bytes: Vec::new(),
        limit,
    };
    match serde_json::to_writer(&mut text, review) {
        Ok(()) => respond_text(StatusCode::OK, "application/json", text.bytes),
        Err(_) => {
            let message = format!("the answer is larger than {limit} bytes");
            failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
        }
    }
}

/// A writer to memory with a limit.
struct BoundedWriter {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for BoundedWriter {
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

/// A failure as a `Status`.
pub(crate) fn failure(status: StatusCode, reason: &'static str, message: impl Into<String>) -> HttpResponse {
    #[derive(Serialize)]
    struct StatusAnswer {
        kind: &'static str,
        #[serde(rename = "apiVersion")]
        api_version: &'static str,
        metadata: EmptyBody,
        status: &'static str,
        message: String,
        reason: &'static str,
        code: u16,
    }
    #[derive(Serialize)]
    struct EmptyBody {}
    let body = StatusAnswer {
        kind: "Status",
        api_version: "v1",
        metadata: EmptyBody {},
        status: "Failure",
        message: message.into(),
        reason,
        code: status.as_u16(),
    };
    let mut answer = json(status, &body);
    answer.extensions_mut().insert(StatusReason(reason));
    answer
}

/// A temporary failure: API servers retry after a second.
pub(crate) fn later(status: StatusCode, reason: &'static str, message: impl Into<String>) -> HttpResponse {
    with(failure(status, reason, message), RETRY_AFTER, "1")
}

/// The response if there is no memory for a request, or there are too many requests.
pub(crate) fn too_many_requests() -> HttpResponse {
    let message = "too many requests, please try again later";
    later(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
}

/// Adds a header.
pub(crate) fn with(mut answer: HttpResponse, name: HeaderName, value: &'static str) -> HttpResponse {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}

/// The response to HEAD: without the body, but with its length. For HTTP/2, hyper would send the body.
pub(crate) fn without_body(mut answer: HttpResponse) -> HttpResponse {
    let length = answer.body().len();
    *answer.body_mut() = Bytes::new();
    answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    answer
}
